"""Datasets of exams and knowledge."""

from schemas.dataset import DatasetSpec
from tasks.datasets.entries.moodbench_release import REPOSITORY, REVISION, moodbench_file
from tasks.datasets.moodbench.agieval import adapt_agieval
from tasks.datasets.moodbench.exams import adapt_ceval, adapt_cmmlu, adapt_mmlu_pro
from tasks.datasets.pinned_files import pinned_in, pinned_list

_moodbench = pinned_in(REPOSITORY, REVISION)
_ceval = pinned_in("huggingface.co/ceval/ceval-exam", "617524a00b307ff6f9933702f724131fe12ca7ce")

EXAMS: tuple[DatasetSpec, ...] = (
    DatasetSpec(
        id="agieval",
        title="AGIEval",
        files=pinned_list("agieval", _moodbench),
        record_format="jsonl",
        adapter=adapt_agieval,
        question_types=("single_choice", "multiple_answer", "extractive"),
        languages=("en", "zh"),
        licence="by part: MIT, Apache-2.0 (AQuA), CC BY-NC-SA 4.0 (LogiQA), academic use only (JEC-QA)",
        paper="Zhong et al. 2023, arXiv:2304.06364",
        required=("passage", "question", "options", "label"),
        evaluation_version="1.0",
        expected_rows=5191,
        redistributable=False,
        differences=(
            (
                "All 21 files are asked; the released code leaves out gaokao-mathcloze, math and, by a slip, sat-math, "
                "so that it never asks the open-ended part that the paper names."
            ),
            "The 600 questions of JEC-QA and the 4 with several letters can be answered; in the released code no reply is right.",
            (
                "The 4 questions of gaokao-mathqa with several letters are asked as multiple answers, "
                "so that their prompt says that several options may be right."
            ),
            "Letters printed before the options are not shown; the released code leaves them in the text.",
            (
                "If the printed letters are a permutation, the label is the printed letter, else the place; "
                "the released code always takes the place, which is wrong in 9 questions."
            ),
            (
                "Rejected: sat-en 101 and sat-en-without-passage 101 (the question of row 100 with another label), "
                "gaokao-biology 8 and gaokao-chemistry 157 (the label looks wrong), gaokao-chinese 71 (its text is missing)."
            ),
            (
                "Rejected for options that are empty or repeat each other: aqua-rat 117 120 124 126 185 193 198, "
                "gaokao-mathqa 211, gaokao-physics 155, lsat-rc 110; in 4 of them the right text is printed twice."
            ),
            (
                "Answers of gaokao-mathcloze and math are compared sign by sign, in LaTeX and in plain writing; "
                "equal values written otherwise count as wrong."
            ),
            "sat-en-without-passage asks about texts it does not show, as AGIEval does.",
        ),
    ),
    DatasetSpec(
        id="mmlu_pro",
        title="MMLU-Pro",
        files=(
            moodbench_file(
                "basic_ability/common_sense/MMLU-Pro_parquet/data/test-00000-of-00001.parquet",
                "f237eef4ce14205722db0b9a2bbd37c0c4cc3492ac5c557d27a76bae956de16e",
            ),
        ),
        record_format="parquet",
        adapter=adapt_mmlu_pro,
        question_types=("single_choice",),
        languages=("en",),
        licence="MIT",
        paper="Wang et al. 2024, arXiv:2406.01574",
        required=("question", "options", "answer", "answer_index", "category"),
        evaluation_version="1.0",
        expected_rows=300,
        redistributable=True,
        differences=("Its paper lets models reason before they answer; here, as in MoodBench, they answer at once.",),
    ),
    DatasetSpec(
        id="cmmlu",
        title="CMMLU",
        files=pinned_list("cmmlu", _moodbench),
        record_format="csv",
        adapter=adapt_cmmlu,
        question_types=("single_choice",),
        languages=("zh",),
        licence="CC BY-NC-SA 4.0",
        paper="Li et al. 2023, arXiv:2306.09212",
        required=("Question", "A", "B", "C", "D", "Answer"),
        evaluation_version="1.0",
        expected_rows=11372,
        redistributable=True,
        ambiguous=(
            "education 114 and 131: one question, two right answers",
            "logical 84 and 85: one question, two right answers",
            "sociology 1 and 74: one question, two right answers",
            "sociology 14 and 198: one question, two right answers",
            "sociology 127 and 167: one question, two right answers",
        ),
        differences=(
            "The paper spells the name C-MNLU and cites another work; the data is CMMLU.",
            "The released code draws 300 questions without a seed, so that models answer different ones; our draw is seeded.",
            (
                "Eleven questions have an option that names others by letter, and some speak of those above: "
                "their order is kept. Some of these letters do not fit the places: genetics 19 names its own."
            ),
            "Rejected: genetics 36, which prints one wrong option twice.",
        ),
    ),
    DatasetSpec(
        id="ceval",
        title="C-Eval",
        files=pinned_list("ceval", _ceval),
        record_format="parquet",
        adapter=adapt_ceval,
        question_types=("single_choice",),
        languages=("zh",),
        licence="CC BY-NC-SA 4.0",
        paper="Huang et al. 2023, arXiv:2305.08322",
        required=("question", "A", "B", "C", "D", "answer"),
        evaluation_version="1.0",
        expected_rows=1346,
        redistributable=True,
        differences=(
            "The validation split: labels of the test split are not published.",
            (
                "The release of MoodBench holds pointers in place of the files; the hashes are those the pointers name, "
                "and the number of rows is that of its README. The files themselves could not be had when this entry was made."
            ),
        ),
    ),
)
