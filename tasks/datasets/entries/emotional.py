"""Datasets of the main ability Emotional: recognition, understanding, management."""

from schemas.dataset import DatasetSpec
from tasks.datasets.entries.moodbench_release import moodbench_file
from tasks.datasets.moodbench.emobench import adapt_emobench_emotion
from tasks.datasets.moodbench.goemotions import adapt_goemotions
from tasks.datasets.moodbench.moodbench_sets import FOUR_OPTION_COLUMNS, adapt_moodbench_four
from tasks.datasets.moodbench.sentiment import adapt_imdb, adapt_sst2

EMOTIONAL = (
    DatasetSpec(
        id="imdb",
        title="IMDb",
        files=(
            moodbench_file(
                "emo_ability/emo_recognition/imdb_parquet/plain_text/test-00000-of-00001.parquet",
                "81564da3428522b637247bf8da49259a53d8a1413cd24cc08a18b4e0a978b415",
            ),
        ),
        record_format="parquet",
        adapter=adapt_imdb,
        question_types=("single_choice",),
        languages=("en",),
        licence="not stated upstream",
        paper="Maas et al. 2011, Learning Word Vectors for Sentiment Analysis, ACL 2011",
        required=("text", "label"),
        evaluation_version="1.0",
        expected_rows=300,
        redistributable=False,
        differences=("HTML line breaks are shown as line breaks; the released code leaves the tags in the text.",),
    ),
    DatasetSpec(
        id="sst2",
        title="SST-2",
        files=(
            moodbench_file(
                "emo_ability/emo_recognition/sst2_parquet/data/validation-00000-of-00001.parquet",
                "9b38520f54bb7506da3246dbf954d766a5acd728e06bc5c999daf42a0e1e58ca",
            ),
        ),
        record_format="parquet",
        adapter=adapt_sst2,
        question_types=("single_choice",),
        languages=("en",),
        licence="not stated upstream",
        paper="Socher et al. 2013, Recursive Deep Models for Semantic Compositionality, EMNLP 2013; GLUE, arXiv:1804.07461",
        required=("sentence", "label"),
        evaluation_version="1.0",
        expected_rows=300,
        redistributable=False,
    ),
    DatasetSpec(
        id="goemotions",
        title="GoEmotions",
        files=(
            moodbench_file(
                "emo_ability/emo_recognition/0730go_emotions_tsvjson/test.tsv",
                "1bcbd1461ae1c6fc7c1ccc452bb82c0eda8ce3bbca439776d7fdaf84461a2b97",
            ),
        ),
        record_format="tsv",
        columns=("text", "labels", "comment_id"),
        adapter=adapt_goemotions,
        question_types=("multiple_answer",),
        languages=("en",),
        licence="Apache-2.0",
        paper="Demszky et al. 2020, arXiv:2005.00547",
        required=("text", "labels"),
        evaluation_version="1.0",
        expected_rows=301,
        redistributable=True,
        differences=(
            "The file has no header; the released code takes the first comment for one and loses it.",
            "All 28 labels can be answered; in the released code surprise and neutral never match (highest possible F1 67.9 %).",
        ),
    ),
    DatasetSpec(
        id="emobench1",
        title="EmoBench, emotion recognition",
        files=(
            moodbench_file(
                "emo_ability/emo_understanding/emobench_jsonl/EU.jsonl",
                "e8df5efbe6a346bc2cff3847ce90aab27a274863e87151a8c213954636fec8e4",
            ),
        ),
        record_format="jsonl",
        adapter=adapt_emobench_emotion,
        question_types=("single_choice",),
        languages=("en", "zh"),
        licence="MIT",
        paper="Sabour et al. 2024, arXiv:2402.12071",
        required=("language", "coarse_category", "scenario", "subject", "emotion_choices", "emotion_label"),
        evaluation_version="1.0",
        expected_rows=300,
        redistributable=True,
        differences=(
            "The released code asks Chinese items in English; we ask in the item's language.",
            "EmoBench counts an item as right if emotion and cause are; here, as in MoodBench, the emotion is scored alone.",
        ),
    ),
    DatasetSpec(
        id="moodbench3",
        title="MoodBench3, strategy selection",
        files=(
            moodbench_file(
                "emo_ability/PQEmotion/emotional_subtask/person_scenarios_ma.csv",
                "a7507052539b1b1e4569b06dcf175808d09064a01444908203d7bad91cbd5a9a",
            ),
            moodbench_file(
                "emo_ability/PQEmotion/emotional_subtask/social_scenarios_ma.csv",
                "b36c150b90914d58d46af496f9c443b322486330447b4c5051d8c5cd25495ca5",
            ),
        ),
        record_format="csv",
        columns=FOUR_OPTION_COLUMNS,
        adapter=adapt_moodbench_four,
        question_types=("single_choice",),
        languages=("zh",),
        licence="CC BY-NC-SA 4.0",
        paper="MoodBench 1.0: An Evaluation Benchmark for Emotional Companionship Dialogue Systems, section 4",
        required=FOUR_OPTION_COLUMNS,
        evaluation_version="1.0",
        expected_rows=302,
        redistributable=True,
        differences=(
            "The files have no header; the released code takes the first row of each for one and loses it (300 of 302 are left).",
            "Level high as in the paper; the released weights have it at medium.",
        ),
    ),
)
