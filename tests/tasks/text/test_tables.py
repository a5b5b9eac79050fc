"""A table in Markdown, CSV and LaTeX."""

from schemas.table import Cell, Column, Interval, Part, Table, columns
from tasks.text.tables import as_cell, mark_scores, to_csv, to_latex, to_markdown, to_records

TABLE = Table(
    (
        Column("Model", "name"),
        Column("Score", "score"),
        Column("95 % interval", "interval"),
        Column("Change", "difference"),
        Column("Coverage", "share"),
        Column("Items", "count"),
        Column("Cost", "money", digits=6, currency="USD"),
        Column("Read", "part"),
    ),
    (
        ("=1+1", Cell(71.255, "of 300", "best", Interval(60, 80.5)), Interval(60.0, 80.5), -1.5, 0.996, 1200, 0.0123, Part(1, 2)),
        ("a|b_c", None, None, None, None, None, None, None),
    ),
    "Ranking",
)


def test_markdown_escapes_text_and_aligns_numbers() -> None:
    """The kind decides decimals, signs and dashes; null is a dash in every column."""
    assert to_markdown(TABLE).split("\n") == [
        "| Model | Score | 95 % interval | Change | Coverage | Items | Cost | Read |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        "| =1+1 | 71.25 (60.00 to 80.50; of 300) | 60.00 to 80.50 | −1.50 | over 99 % | 1,200 | 0.0123 USD | 1 of 2 |",
        r"| a\|b\_c | – | – | – | – | – | – | – |",
    ]


def test_csv_keeps_values_and_disarms_formulas() -> None:
    """Values are in full, an interval has two columns, null is empty."""
    assert to_csv(TABLE).split("\r\n") == [
        "Model,Score,95 % interval low,95 % interval high,Change,Coverage,Items,Cost,Read,Read of",
        "'=1+1,71.255,60.0,80.5,-1.5,0.996,1200,0.0123,1,2",
        "a|b_c,,,,,,,,,",
        "",
    ]


def test_first_cell_of_latex_row_is_no_option() -> None:
    lines = to_latex(Table((Column("Model", "name"),), (("[beta] x",), ("*x",)))).split("\n")
    assert [line for line in lines if "x" in line and "begin" not in line] == [r"{[}beta] x \\", r"{*}x \\"]


def test_printed_numbers_of_csv_are_numbers() -> None:
    texts = ("-67.20", "-9", "-1+1", "-1.", "+1", "-")
    assert to_csv(Table((Column("Printed"),), [(text,) for text in texts])).split() == [
        *("Printed", "-67.20", "-9", "'-1+1", "'-1.", "'+1", "'-")
    ]


def test_csv_heads_are_no_formulas() -> None:
    assert to_csv(Table((Column("=1+1"),), ())) == "'=1+1\r\n"


def test_latex_marks_best_and_escapes_commands() -> None:
    """Numbers are right-aligned, a minus is a minus, the best of a row is bold."""
    lines = to_latex(TABLE).split("\n")
    assert lines[1:3] == [r"\caption{Ranking}", r"\begin{tabular}{lrrrrrrr}"]
    assert lines[4] == r"Model & Score & 95 \% interval & Change & Coverage & Items & Cost & Read \\"
    assert lines[6] == (
        r"=1+1 & \textbf{71.25} (60.00 to 80.50; of 300) & 60.00 to 80.50 & $-$1.50 & over 99 \% & 1,200 & 0.0123 USD & 1 of 2 \\"
    )
    assert lines[7] == r"a\textbar{}b\_c & -- & -- & -- & -- & -- & -- & -- \\"


def test_records_hold_plain_rounded_numbers() -> None:
    """Shares are in percent, text from outside shows what cannot be seen in it, null stays null."""
    first, second = to_records(TABLE)
    ends = {"95 % interval low": 60.0, "95 % interval high": 80.5}
    counts = {"Items": 1200, "Cost": 0.0123, "Read": 1, "Read of": 2}
    assert first == {"Model": "=1+1", "Score": 71.25, **ends, "Change": -1.5, "Coverage": 99.6, **counts}
    assert set(second.values()) == {"a|b_c", None}
    assert to_records(Table((Column("m", "name"),), [("a\u202eb\x1b",)])) == [{"m": r"a\u202eb\u001b"}]


def test_a_column_without_values_can_be_left_out() -> None:
    """Only columns that are named are left out."""
    table = Table((Column("a"), Column("b"), Column("c")), [("1", "", None), ("", None, None)])
    assert table.without_empty("a", "b") == Table((Column("a"), Column("c")), [["1", None], ["", None]])


def marks_of(scores: list[float | None], cohorts: list[object]) -> list[str | None]:
    rows = [(str(n), score) for n, score in enumerate(scores)]
    marked = mark_scores(Table((Column("Model", "name"), Column("Score", "score")), rows), cohorts)
    return [as_cell(row[1]).mark for row in marked.rows]


def test_marks_reach_one_point() -> None:
    # 69.004 is 69.00, a point below 70; 68.99 is the highest of the others, 50 and 51 are at the bottom, 51.01 is not.
    scores = [70.0, 69.004, 68.99, 51.01, 51.0, 50.0, None]
    assert marks_of(scores, [1] * 7) == ["best", "best", "second", None, "lowest", "lowest", None]
    # Of two the other one is the second; one alone, and what is in no cohort, has no mark.
    assert marks_of([60.0, 80.0, 90.0, 95.0], ["a", "a", "b", None]) == ["second", "best", None, None]


GROUPED = Table(
    (Column("Model", "name"), *columns("score", "EC", "QA", group="Base"), *columns("score", "EC", group="R&D")),
    [("m", 1.0, 2.0, None)],
)


def test_titles_above_columns_are_kept() -> None:
    assert GROUPED.groups == [("", 1), ("Base", 2), ("R&D", 1)]
    assert to_csv(GROUPED).splitlines() == ["Model,Base: EC,Base: QA,R&D: EC", "m,1.0,2.0,"]
    assert to_markdown(GROUPED).splitlines()[0] == r"| Model | Base: EC | Base: QA | R\&D: EC |"
    assert to_latex(GROUPED).splitlines()[2:6] == [
        r"\toprule",
        r"\multicolumn{1}{c}{} & \multicolumn{2}{c}{Base} & \multicolumn{1}{c}{R\&D} \\",
        r"\cmidrule(lr){2-3}\cmidrule(lr){4-4}",
        r"Model & EC & QA & EC \\",
    ]
    assert TABLE.groups == []


def test_constant_columns_leave() -> None:
    table = Table((Column("Model", "name"), Column("From"), Column("Note")), [("a", "x", ""), ("b", "x", "y")])
    assert [column.title for column in table.without_constant("From", "Note").columns] == ["Model", "Note"]


def test_names_that_repeat_are_said_once() -> None:
    heads = (*(Column(title, "name") for title in ("Dataset", "Model")), Column("Mean", "number"))
    table, repeats = Table(heads, [("tale", "a", 3.0), ("tale", "b", 3.0)]).without_repeats()
    assert [column.title for column in table.columns] == ["Model", "Mean"]
    assert [(column.title, value) for column, value in repeats] == [("Dataset", "tale")]
    # Where all names repeat, and of a single row, none leaves: a row has to be about something.
    alike = Table(heads, [("tale", "a", 3.0), ("tale", "a", 4.0)])
    assert alike.without_repeats() == (alike, [])
    assert len(Table(heads, [("tale", "a", 3.0)]).without_repeats()[0].columns) == 3
