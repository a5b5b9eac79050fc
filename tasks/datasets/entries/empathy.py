"""Datasets of emotion management and empathetic response."""

from schemas.dataset import DatasetSpec
from tasks.datasets.entries.moodbench_release import moodbench_file
from tasks.datasets.moodbench.emobench import adapt_emobench_application
from tasks.datasets.moodbench.moodbench_sets import REPLY_COLUMNS, adapt_moodbench_replies

EMPATHY: tuple[DatasetSpec, ...] = (
    DatasetSpec(
        id="emobench3",
        title="EmoBench, emotional application",
        files=(
            moodbench_file(
                "emo_ability/emo_understanding/emobench_jsonl/EA.jsonl",
                "335e87c5516b93120f55b397969547ea7328bd160989f8750a0d31140fecafb5",
            ),
        ),
        record_format="jsonl",
        adapter=adapt_emobench_application,
        question_types=("single_choice",),
        languages=("en", "zh"),
        licence="MIT",
        paper="Sabour et al. 2024, arXiv:2402.12071",
        required=("language", "category", "question type", "scenario", "subject", "choices", "label"),
        evaluation_version="1.0",
        expected_rows=300,
        redistributable=True,
        differences=(
            "Items about responses ask for a response; the released code asks all of them for an action.",
            "The released code asks Chinese items in English; we ask in the item's language.",
            "300 of the 400 items of EmoBench, as released with MoodBench.",
        ),
    ),
    DatasetSpec(
        id="moodbench4",
        title="MoodBench4, empathetic replies",
        files=(
            moodbench_file(
                "emo_ability/PQEmotion/emotional_subtask/Emotional_counseling_er.csv",
                "d7c9e14b2e37b1721b3f9863c99b9f6a72789ae2adbebe88a9aa6495ade8afb1",
            ),
            moodbench_file(
                "emo_ability/PQEmotion/emotional_subtask/Psychological_guidance_er.csv",
                "d52de473e8c38b7e1864331973acd67c646a0ad486f96d696dd6c9873e6befac",
            ),
        ),
        record_format="csv",
        columns=REPLY_COLUMNS,
        adapter=adapt_moodbench_replies,
        question_types=("single_choice",),
        languages=("zh",),
        licence="CC BY-NC-SA 4.0",
        paper="MoodBench 1.0: An Evaluation Benchmark for Emotional Companionship Dialogue Systems, section 4",
        required=REPLY_COLUMNS,
        evaluation_version="1.0",
        expected_rows=302,
        redistributable=True,
        differences=(
            "The files have no header; the released code takes the first row of each for one and loses it (300 of 302 are left).",
            "The released code runs these files twice under two names; they count once here, as in the paper.",
        ),
    ),
)
