"""Datasets of emotion recognition and understanding."""

from schemas.dataset import DatasetSpec
from tasks.datasets.entries.irony_and_metaphor import IRONY_AND_METAPHOR
from tasks.datasets.entries.moodbench_release import moodbench_file
from tasks.datasets.moodbench.cped import TWEET_COLUMNS, adapt_cped, adapt_edos, adapt_semeval2018_task1
from tasks.datasets.moodbench.emobench import adapt_emobench_cause
from tasks.datasets.moodbench.moodbench_sets import (
    FOUR_OPTION_COLUMNS,
    SIX_OPTION_COLUMNS,
    adapt_moodbench_causes,
    adapt_moodbench_six,
)
from tasks.datasets.moodbench.sentiment import adapt_dianping

MOODBENCH_PAPER = "MoodBench 1.0: An Evaluation Benchmark for Emotional Companionship Dialogue Systems, section 4"

FEELINGS: tuple[DatasetSpec, ...] = (
    DatasetSpec(
        id="dianping",
        title="Dianping",
        files=(
            moodbench_file(
                "emo_ability/emo_recognition/dianping_csv/dev.csv",
                "248d75c7632d195fa3e103cd757df17938c55666991601f22ffd2b75cff70872",
            ),
        ),
        record_format="csv",
        adapter=adapt_dianping,
        question_types=("single_choice",),
        languages=("zh",),
        licence="not stated",
        paper="none known: Dianping restaurant reviews, repackaged without a source",
        required=("sentence", "label"),
        evaluation_version="1.0",
        expected_rows=300,
        redistributable=False,
        differences=("Line breaks, written as backslash and n in the file, are shown as line breaks.",),
    ),
    DatasetSpec(
        id="moodbench1",
        title="MoodBench1, emotion recognition",
        files=(
            moodbench_file(
                "emo_ability/PQEmotion/emotional_subtask/Context_of_Emotion_re.csv",
                "d6aff7fd743fa05e43791a765f4279bb11e3635e9abe7ff89403ff584490fd05",
            ),
            moodbench_file(
                "emo_ability/PQEmotion/emotional_subtask/Dynamic_Changes_in_Emotion_re.csv",
                "c9601f00d265fea136c791558d6ba6b35f03d872d43d3b413fffb075ee551115",
            ),
            moodbench_file(
                "emo_ability/PQEmotion/emotional_subtask/Modes_of_Emotional_Expression_re.csv",
                "43edcf93466397fd7d7aa3d3fda99a0c27746513a3a65c39926d2b6bece8b511",
            ),
            moodbench_file(
                "emo_ability/PQEmotion/emotional_subtask/Sources_of_Emotion_re.csv",
                "f65f7382ca1890e2eb7f97e166aae77769f639bb89ad0f1f64c2e61cc061cba9",
            ),
        ),
        record_format="csv",
        columns=SIX_OPTION_COLUMNS,
        adapter=adapt_moodbench_six,
        question_types=("single_choice",),
        languages=("zh",),
        licence="CC BY-NC-SA 4.0",
        paper=MOODBENCH_PAPER,
        required=SIX_OPTION_COLUMNS,
        evaluation_version="1.0",
        expected_rows=304,
        redistributable=True,
        differences=(
            "The files have no header; the released code takes the first row of each for one and loses it (300 of 304 are left).",
            "Task as in the paper, coarse-grained recognition; the released weights have it at fine-grained recognition.",
        ),
    ),
    DatasetSpec(
        id="cped",
        title="CPED",
        files=(
            moodbench_file(
                "emo_ability/emo_recognition/CPED_txtcsv/test_split.csv",
                "b5159d8ed4d3d2aad1c7cf71b54cac28df8a291a4fc44289b2dd7f75cb6c7d67",
            ),
        ),
        record_format="csv",
        adapter=adapt_cped,
        question_types=("single_choice",),
        languages=("zh",),
        licence="Apache-2.0",
        paper="Chen et al. 2022, CPED: A Large-Scale Chinese Personalized and Emotional Dialogue Dataset, arXiv:2205.14727",
        required=("Speaker", "Gender", "Age", "Scene", "Emotion", "Utterance"),
        evaluation_version="1.0",
        expected_rows=300,
        redistributable=True,
        differences=(
            "All 13 labels can be answered; the released list of options lacks those of 127 rows (highest possible 57.7 %).",
            "Scene and speaker are shown: one text occurs three times with three labels, which they tell apart.",
            "The sample holds single lines; what was said before them is not in the file.",
            "The released weights count this score in three places; it counts once here, as in the paper.",
        ),
    ),
    DatasetSpec(
        id="edos",
        title="EDOS",
        files=(
            moodbench_file(
                "emo_ability/emo_recognition/EDOS_1M.csv",
                "5280b15386e25453a96b27b9270d8ad8308895e1ca6714dc593969a49ed89b4a",
            ),
        ),
        record_format="csv",
        adapter=adapt_edos,
        question_types=("single_choice",),
        languages=("en",),
        licence="CC BY 4.0",
        paper="Welivita et al. 2021, A Large-Scale Dataset for Empathetic Response Generation, EMNLP 2021",
        required=("text", "ed_emotion", "ed_emotion_index"),
        evaluation_version="1.0",
        expected_rows=300,
        redistributable=True,
        ambiguous=("2 items: rows 189 and 212 differ in capitals and punctuation only and have two labels.",),
        differences=(
            "All 41 classes can be answered; in the released code the last 15 never match (160 rows, highest possible 46.7 %).",
            "Labels come from a classifier: each is the largest of the 41 probabilities in its row.",
            "The sample holds single turns; the rest of the dialogue is not in the file.",
            "Level high as in the paper; the released weights have it at medium.",
        ),
    ),
    DatasetSpec(
        id="moodbench2",
        title="MoodBench2, causes of emotions",
        files=(
            moodbench_file(
                "emo_ability/PQEmotion/emotional_subtask/Context_of_Emotion_un.csv",
                "f138031292420bd7ae7dd79a9d480af53a937b7261c7cf8dbd8442a5baf1c758",
            ),
            moodbench_file(
                "emo_ability/PQEmotion/emotional_subtask/Dynamic_Changes_in_Emotion_un.csv",
                "355a3cdbd7d2924abad81c1cbaae5a1801130f80268cad7b6b422458fa081c6c",
            ),
            moodbench_file(
                "emo_ability/PQEmotion/emotional_subtask/Modes_of_Emotional_Expression_un.csv",
                "6ab31e27907eb6a9a89846a7f2e9d158c600cad93767597ad0eff4468b64294b",
            ),
            moodbench_file(
                "emo_ability/PQEmotion/emotional_subtask/Sources_of_Emotion_un.csv",
                "4b6690dbc9aa3d3d32f45d82ec135a210072ef541dbc20837e7a62d117a9afe3",
            ),
        ),
        record_format="csv",
        columns=FOUR_OPTION_COLUMNS,
        adapter=adapt_moodbench_causes,
        question_types=("single_choice",),
        languages=("zh",),
        licence="CC BY-NC-SA 4.0",
        paper=MOODBENCH_PAPER,
        required=FOUR_OPTION_COLUMNS,
        evaluation_version="1.0",
        expected_rows=304,
        redistributable=True,
        differences=(
            "The files have no header; the released code takes the first row of each for one and loses it (300 of 304 are left).",
            "Options are shown in an order drawn per item; as released, the right one is A in 214 of 304 rows (70.4 %).",
            "Level low as in the paper; the released weights have it at medium.",
            "38 situations also occur in MoodBench1; the question here names the emotion that is asked for there.",
        ),
    ),
    DatasetSpec(
        id="emobench2",
        title="EmoBench, causes of emotions",
        files=(
            moodbench_file(
                "emo_ability/emo_understanding/emobench_jsonl/EU.jsonl",
                "e8df5efbe6a346bc2cff3847ce90aab27a274863e87151a8c213954636fec8e4",
            ),
        ),
        record_format="jsonl",
        adapter=adapt_emobench_cause,
        question_types=("single_choice",),
        languages=("en", "zh"),
        licence="MIT",
        paper="Sabour et al. 2024, arXiv:2402.12071",
        required=("language", "coarse_category", "scenario", "subject", "emotion_label", "cause_choices", "cause_label"),
        evaluation_version="1.0",
        expected_rows=300,
        redistributable=True,
        differences=(
            "The right emotion is given, as in the released code; EmoBench asks for emotion and cause together.",
            "The released code asks Chinese items in English; we ask in the item's language.",
            "Options are shown in an order drawn per item; as released, the right one comes first in 136 of 300 rows.",
            "Only the options that exist are shown; the released prompt has empty ones up to H.",
            "Level low as in the paper; the released weights have it at medium.",
        ),
    ),
    DatasetSpec(
        id="semeval2018_task1",
        title="SemEval-2018 Task 1, emotions in tweets",
        files=(
            moodbench_file(
                "emo_ability/emo_understanding/SemEval-2018_Task_1_txt/E-c/E-c-En-test-gold.txt",
                "fc9f019691e8ed505e938701613753ec709df10539dec08ccc32960c5f9036cf",
            ),
        ),
        record_format="tsv_plain",
        columns=TWEET_COLUMNS,
        adapter=adapt_semeval2018_task1,
        question_types=("single_choice",),
        languages=("en",),
        licence="(c) 2018 NRC Canada: cite, do not redistribute",
        paper="Mohammad et al. 2018, SemEval-2018 Task 1: Affect in Tweets",
        required=TWEET_COLUMNS,
        evaluation_version="1.0",
        expected_rows=300,
        redistributable=False,
        differences=(
            "The paper calls the task intensity; the released file, subtask E-c, says only whether an emotion is present.",
            "Each tweet makes eleven items, one per emotion, as in the released code.",
            "Line breaks, written as backslash and n in the file, are shown as line breaks.",
            "702 of 3,300 emotions are present: the constant answer absent has an accuracy of 78.7 %.",
            "The official measure of E-c is the Jaccard index of the set of emotions, with micro and macro F1 beside it.",
            "The file has no header; the released code takes the first tweet for one and loses it.",
            "Level medium as in the paper; the released weights have it at low.",
        ),
    ),
    *IRONY_AND_METAPHOR,
)
