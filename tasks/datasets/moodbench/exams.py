"""Exam questions with lettered options in columns: MMLU-Pro, CMMLU, C-Eval."""

from pathlib import PurePosixPath

from schemas.dataset import DatasetSpec
from schemas.item import Item, Record
from tasks.datasets.options import find_gold, order_matters
from tasks.datasets.pinned_files import MOODBENCH, moodbench_file, pinned_in, pinned_list

LETTERS = "ABCD"


def adapt_mmlu_pro(record: Record) -> Item:
    """`options` holds up to ten, `answer_index` is the 0-based place of the right one and `answer` its letter.

    Gold is null where the two disagree. `subset` is the category.
    """
    fields = record.fields
    options = tuple(option.strip() for option in fields["options"])
    place = fields["answer_index"]
    agree = 0 <= place < len(options) and "ABCDEFGHIJ"[place] == fields["answer"]
    return Item(
        question=fields["question"].strip(),
        options=options,
        gold_indices=(place,) if agree else None,
        fixed_order=order_matters(options),
        subset=fields["category"],
    )


def adapt_cmmlu(record: Record) -> Item:
    """Columns `A` to `D` hold the options, `Answer` the letter of the right one. `subset` is the subject, the file's name."""
    fields = record.fields
    return _chinese_item(record, fields["Question"], fields["Answer"], PurePosixPath(record.file).stem)


def adapt_ceval(record: Record) -> Item:
    """Columns `A` to `D` hold the options, `answer` the letter of the right one. `subset` is the subject, the file's folder."""
    fields = record.fields
    return _chinese_item(record, fields["question"], fields["answer"], PurePosixPath(record.file).parent.name)


def _chinese_item(record: Record, question: str, letter: str, subject: str) -> Item:
    options = tuple(record.fields[name].strip() for name in LETTERS)
    return Item(
        language="zh",
        question=question.strip(),
        options=options,
        gold_indices=find_gold({name: place for place, name in enumerate(LETTERS)}, letter),
        fixed_order=order_matters(options),
        subset=subject,
    )


MMLU_PRO = DatasetSpec(
    id="mmlu_pro",
    title="MMLU-Pro",
    files=(moodbench_file("basic_ability/common_sense/MMLU-Pro_parquet/data/test-00000-of-00001.parquet"),),
    record_format="parquet",
    adapter=adapt_mmlu_pro,
    licence="MIT",
    paper="Wang et al. 2024, arXiv:2406.01574",
    required=("question", "options", "answer", "answer_index", "category"),
    expected_rows=300,
    redistributable=True,
    differences=("Its paper lets models reason before they answer; here, as in MoodBench, they answer at once.",),
)

CMMLU = DatasetSpec(
    id="cmmlu",
    title="CMMLU",
    files=pinned_list("cmmlu", MOODBENCH),
    record_format="csv",
    adapter=adapt_cmmlu,
    languages=("zh",),
    licence="CC BY-NC-SA 4.0",
    paper="Li et al. 2023, arXiv:2306.09212",
    required=("Question", "A", "B", "C", "D", "Answer"),
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
)

_ceval = pinned_in("huggingface.co/ceval/ceval-exam", "617524a00b307ff6f9933702f724131fe12ca7ce")

CEVAL = DatasetSpec(
    id="ceval",
    title="C-Eval",
    files=pinned_list("ceval", _ceval),
    record_format="parquet",
    adapter=adapt_ceval,
    languages=("zh",),
    licence="CC BY-NC-SA 4.0",
    paper="Huang et al. 2023, arXiv:2305.08322",
    required=("question", "A", "B", "C", "D", "answer"),
    expected_rows=1346,
    redistributable=True,
    differences=(
        "The validation split: labels of the test split are not published.",
        (
            "The release of MoodBench holds pointers in place of the files; the hashes are those the pointers name, "
            "and the number of rows is that of its README. The files themselves could not be had when this entry was made."
        ),
    ),
)
