"""Exam questions with lettered options: AGIEval, MMLU-Pro, CMMLU, C-Eval."""

import re
from collections.abc import Sequence
from functools import partial
from pathlib import PurePosixPath

from schemas.item import Item, Record, text_id
from schemas.vocabulary import Language
from tasks.benchmarks.moodbench.datasets.release import MOODBENCH, moodbench_entry, moodbench_file
from tasks.datasets.catalogue import pinned_in, pinned_list, read_pins
from tasks.datasets.options import choice, order_matters
from tasks.text.mathematics import plain_forms

LETTERS = "ABCDE"
CHINESE_FILES = ("gaokao-", "jec-qa-", "logiqa-zh")
# Asked in English about English texts, although of a Chinese exam.
ENGLISH_GAOKAO = "gaokao-english"

# "(A)" is certain. Other ways of printing a letter are looked for only where it is missing.
_BRACKETED = re.compile(r"\s*[（(]\s*([A-E])\s*[)）]\s*、?\s*")
_BARE = re.compile(r"\s*([A-E])(?:\s*[.．、:：?？]\s*|\s+)")

# Records (file, row) without a right answer; repeated and empty options are found by the rules of items.
BROKEN = frozenset(
    {
        ("sat-en", 101),  # the question of row 100 with another label
        ("sat-en-without-passage", 101),
        ("gaokao-biology", 8),  # the label looks wrong
        ("gaokao-chemistry", 157),
        ("gaokao-chinese", 71),  # the text it asks about is missing
    }
)


def adapt_agieval(record: Record) -> Item:
    """`label` is a letter, several letters as one text, or a list of letters; without options, `answer` is the gold text.

    If the printed letters are a permutation, the label is the printed letter, else it is the place: some are misprints.
    """
    fields = record.fields
    subset = PurePosixPath(record.file).stem
    language: Language = "zh" if subset.startswith(CHINESE_FILES) and subset != ENGLISH_GAOKAO else "en"
    context = (fields["passage"] or "").strip() or None
    cluster = context and text_id(context)
    build = partial(Item, language=language, context=context, question=fields["question"].strip(), subset=subset, cluster=cluster)
    if fields["options"] is None:
        return build(question_type="extractive", references=plain_forms(fields["answer"]) or None)
    printed, options = _strip_letters(fields["options"])
    label, labels = fields["label"], "".join("".join(fields["label"]).split())
    order = printed if sorted(printed) == list(LETTERS[: len(options)]) else LETTERS
    gold = None if (subset, record.row) in BROKEN else tuple(sorted(map(order.index, labels)))
    # The released code takes one letter for the place; a list or several letters match no answer.
    released = (LETTERS.index(label),) if label in list(LETTERS) else ()
    return build(
        question_type="multiple_answer" if len(labels) > 1 else "single_choice",
        options=options,
        gold_indices=gold,
        fixed_order=order_matters(options),
        reference_gold_indices=None if released == gold else released,
    )


def _strip_letters(options: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The letters printed in front of the options ("?" for none), and the options without them.

    A second letter is stripped where all options have their own once more, as in "(A)A)".
    """
    letters, texts = [], []
    for option in options:
        label = _BRACKETED.match(option) or _BARE.match(option)
        letters.append(label[1] if label else "?")
        texts.append(option[label.end() :].strip() if label else option.strip())
    if all(text.startswith(f"{letter})") for letter, text in zip(letters, texts, strict=True)):
        texts = [text[2:].strip() for text in texts]
    return "".join(letters), tuple(texts)


AGIEVAL = moodbench_entry(
    id="agieval",
    evaluation_version="1.1",
    title="AGIEval",
    files=pinned_list("agieval", MOODBENCH),
    adapter=adapt_agieval,
    question_types=("single_choice", "multiple_answer", "extractive"),
    languages=("en", "zh"),
    licence="by part: MIT, Apache-2.0 (AQuA), CC BY-NC-SA 4.0 (LogiQA), academic use only (JEC-QA)",
    paper="Zhong et al. 2023, arXiv:2304.06364",
    expected_rows=5191,
    broken_rows=15,
)


def adapt_mmlu_pro(record: Record) -> Item:
    """`answer_index` is the 0-based place of the right option; `answer`, its letter, agrees in every row."""
    fields = record.fields
    options = tuple(option.strip() for option in fields["options"])
    return Item(
        question=fields["question"].strip(),
        options=options,
        gold_indices=(fields["answer_index"],),
        fixed_order=order_matters(options),
        subset=fields["category"],
    )


MMLU_PRO = moodbench_entry(
    id="mmlu_pro",
    title="MMLU-Pro",
    files=(moodbench_file("basic_ability/common_sense/MMLU-Pro_parquet/data/test-00000-of-00001.parquet"),),
    adapter=adapt_mmlu_pro,
    licence="MIT",
    paper="Wang et al. 2024, arXiv:2406.01574",
    differences=("Its paper lets models reason before they answer; here, as in MoodBench, they answer at once.",),
)

_chinese_exam = partial(
    choice, options={letter: f"{{{letter}}}" for letter in "ABCD"}, fixes_order=True, language="zh", subset="{subject}"
)

CMMLU = moodbench_entry(
    id="cmmlu",
    title="CMMLU",
    files=pinned_list("cmmlu", MOODBENCH),
    adapter=_chinese_exam("{Question}", gold="Answer", read=lambda record: {"subject": PurePosixPath(record.file).stem}),
    languages=("zh",),
    licence="CC BY-NC-SA 4.0",
    paper="Li et al. 2023, arXiv:2306.09212",
    expected_rows=11372,
    broken_rows=1,
    ambiguous=(
        "education 114 and 131: one question, two right answers",
        "logical 84 and 85: one question, two right answers",
        "sociology 1 and 74: one question, two right answers",
        "sociology 14 and 198: one question, two right answers",
        "sociology 127 and 167: one question, two right answers",
    ),
)
_ceval = pinned_in("huggingface.co/ceval/ceval-exam", "617524a00b307ff6f9933702f724131fe12ca7ce")

CEVAL = moodbench_entry(
    id="ceval",
    title="C-Eval",
    files=pinned_list("ceval", _ceval),
    adapter=_chinese_exam(
        "{question}", gold="answer", read=lambda record: {"subject": re.split(r"_val|/val", record.file)[0].rpartition("/")[2]}
    ),
    required=("question", *"ABCD", "answer"),
    languages=("zh",),
    licence="CC BY-NC-SA 4.0",
    paper="Huang et al. 2023, arXiv:2305.08322",
    expected_rows=1346,
).with_alternative(
    files=tuple(
        _ceval("ceval-exam.zip", None, member=f"val/{PurePosixPath(path).parts[0]}_val.csv") for path in read_pins("ceval")
    ),
    file_format="csv",
)
