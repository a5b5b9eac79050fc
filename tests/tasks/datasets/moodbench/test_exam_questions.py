"""AGIEval, MMLU-Pro and C-Eval: letters, places, options that name others, mathematical answers."""

from pathlib import Path

import polars as pl
import pytest

from schemas.item import Item
from tasks.datasets.catalogue import find_dataset
from tasks.datasets.moodbench.exams import adapt_agieval, adapt_ceval, adapt_mmlu_pro
from tasks.datasets.options import order_matters
from tasks.sources.reading import read_records
from tasks.text.mathematics import plain_forms
from tests.rows import each_row
from tests.tasks.datasets.real_datasets import adapt


@each_row(
    ("options", "matters"),
    [
        (("A和B均正确", "甲"), True),
        (("A，B和C均对", "甲", "乙"), True),
        (("B+C+D", "甲", "乙", "丙"), True),
        (("B+C+D", "甲", "乙"), False),
        (("$\\mathrm{C}，\\mathrm{D}$均是", "甲", "乙", "丙"), True),
        (("F or H", "F or L", "H or L"), False),
        (("A与B谁大无法判断", "甲"), False),
        (("A， D， A+D", "甲"), False),
        (("A型", "B型"), False),
        (("both A and B", "x"), True),
        (("None of the above choices .", "x"), True),
        (("以上都不对", "甲"), True),
        (("以上", "甲"), True),
        (("上述方法可以省时", "甲"), False),
        (("60岁以上均可", "甲"), False),
    ],
)
def test_order_matters_where_options_speak_of_each_other(options: tuple[str, ...], matters: bool) -> None:
    assert order_matters(options) is matters


def test_mmlu_pro_without_agreement_of_letter_and_place_has_no_gold() -> None:
    fields = {"question": "1 + 1?", "options": ["1", "2", "3"], "answer": "B", "answer_index": 2, "category": "math"}
    assert adapt(adapt_mmlu_pro, **fields).gold_indices is None


def test_ceval_reads_letters_and_the_subject_from_the_folder(tmp_path: Path) -> None:
    rows = {"id": [0, 1], "question": ["一加一等于____", "二加二等于____"], "A": ["2", "1"], "B": ["3", "2"], "C": ["4", "4"]}
    frame = pl.DataFrame({**rows, "D": ["5", "以上都不对"], "answer": ["A", ""], "explanation": ["", ""]})
    path = tmp_path / "val-00000-of-00001.parquet"
    frame.cast({"id": pl.Int32}).write_parquet(path)
    spec = find_dataset("ceval")
    records = read_records(path, spec.record_format, name="law/val-00000-of-00001.parquet", required=spec.required)
    first, second = [adapt_ceval(record) for record in records]
    assert (first.subset, first.gold_indices, first.options, first.fixed_order) == ("law", (0,), ("2", "3", "4", "5"), False)
    assert (second.gold_indices, second.fixed_order) == (None, True)


def agieval(tmp_path: Path, name: str, line: str) -> Item:
    path = tmp_path / f"{name}.jsonl"
    path.write_text(line, encoding="utf-8")
    spec = find_dataset("agieval")
    (record,) = read_records(path, spec.record_format, required=spec.required)
    return adapt_agieval(record)


@pytest.mark.parametrize(
    ("label", "gold", "question_type", "reference"),
    [
        ('"C"', (2,), "single_choice", None),
        ('["C"]', (2,), "single_choice", ()),
        ('"A C"', (0, 2), "multiple_answer", ()),
        ('["A", "C"]', (0, 2), "multiple_answer", ()),
        ('"E"', None, "single_choice", None),
    ],
)
def test_agieval_labels(
    label: str, gold: tuple[int, ...] | None, question_type: str, reference: tuple[int, ...] | None, tmp_path: Path
) -> None:
    line = '{"passage": "", "question": "Q", "options": ["(A)a", "  B. b", "C？ c", "(D)、d"], "label": LABEL}'
    item = agieval(tmp_path, "jec-qa-ca", line.replace("LABEL", label))
    assert item.options == ("a", "b", "c", "d")
    assert (item.gold_indices, item.question_type, item.reference_gold_indices) == (gold, question_type, reference)
    assert (item.language, item.context, item.subset) == ("zh", None, "jec-qa-ca")


def test_agieval_strips_a_letter_a_second_time_only_where_all_options_have_their_own(tmp_path: Path) -> None:
    line = '{"passage": "", "question": "Q", "options": OPTIONS, "label": "A"}'
    twice = agieval(tmp_path, "aqua-rat", line.replace("OPTIONS", '["(A)A)7", "(B)B) 8", "(C)C)C)"]'))
    assert twice.options == ("7", "8", "C)")
    once = agieval(tmp_path, "aqua-rat", line.replace("OPTIONS", '["(A)A)7", "(B)A)8"]'))
    assert once.options == ("A)7", "A)8")


@each_row(
    ("answer", "forms"),
    [
        ("$2$", ("2",)),
        (r"-\tfrac27", (r"-\tfrac27", "-2/7")),
        (r"2\frac{3}{11}", (r"2\frac{3}{11}", "2 3/11")),
        (r"$\frac{3n}{n+4}$", (r"\frac{3n}{n+4}", "3n/(n+4)")),
        (r"$y=\frac{2}{\mathrm{e}}x$", (r"y=\frac{2}{\mathrm{e}}x", "y=(2/e)x")),
        (r"$\frac{4\sqrt{7}}{9}$;$3$", (r"\frac{4\sqrt{7}}{9};3", "4√7/9;3")),
        (r"12,\!345", (r"12,\!345", "12,345")),
        (r"30^\circ", (r"30^\circ", "30°")),
        (r"$\textcircled{1}\textcircled{3}$", (r"\textcircled{1}\textcircled{3}", "①③")),
        (r"12\text{ cubic inches}", (r"12\text{ cubic inches}", "12 cubic inches")),
        (r"\$7.25", (r"\$7.25", "$7.25")),
        (".5", (".5", "0.5")),
        (r"\begin{pmatrix} 3 \\ 8 \end{pmatrix}", (r"\begin{pmatrix} 3 \\ 8 \end{pmatrix}",)),
        ("", ()),
    ],
)
def test_mathematical_answers_in_latex_and_in_plain_writing(answer: str, forms: tuple[str, ...]) -> None:
    assert plain_forms(answer) == forms
