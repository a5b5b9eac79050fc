"""A table in Markdown, CSV and LaTeX."""

from schemas.table import Cell, Column, Interval, Table
from tasks.text.tables import to_csv, to_latex, to_markdown

TABLE = Table(
    (
        Column("Model", "name"),
        Column("Score", "score"),
        Column("95 % interval", "interval"),
        Column("Change", "difference"),
        Column("Coverage", "share"),
        Column("Items", "count"),
        Column("Cost", "money", currency="USD"),
    ),
    (
        ("=1+1", Cell(71.255, "of 300", "best"), Interval(60.0, 80.5), -1.5, 0.996, 1200, 0.0123),
        ("a|b_c", None, None, None, None, None, None),
    ),
    "Ranking",
)


def test_markdown_escapes_text_and_aligns_numbers() -> None:
    """The kind decides decimals, signs and dashes; null is a dash in every column."""
    assert to_markdown(TABLE).split("\n") == [
        "| Model | Score | 95 % interval | Change | Coverage | Items | Cost |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        "| =1+1 | 71.25 (of 300) | 60.00 to 80.50 | −1.50 | over 99 % | 1,200 | 0.0123 USD |",
        r"| a\|b\_c | – | – | – | – | – | – |",
    ]


def test_csv_keeps_values_and_disarms_formulas() -> None:
    """Values are in full, an interval has two columns, null is empty."""
    assert to_csv(TABLE).split("\r\n") == [
        "Model,Score,95 % interval low,95 % interval high,Change,Coverage,Items,Cost",
        "'=1+1,71.255,60.0,80.5,-1.5,0.996,1200,0.0123",
        "a|b_c,,,,,,,",
        "",
    ]


def test_latex_marks_best_and_escapes_commands() -> None:
    """Numbers are right-aligned, a minus is a minus, the best of a row is bold."""
    lines = to_latex(TABLE).split("\n")
    assert lines[1:3] == [r"\caption{Ranking}", r"\begin{tabular}{lrrrrrr}"]
    assert lines[4] == r"Model & Score & 95 \% interval & Change & Coverage & Items & Cost \\"
    assert lines[6] == (r"=1+1 & \textbf{71.25} (of 300) & 60.00 to 80.50 & $-$1.50 & over 99 \% & 1,200 & 0.0123 USD \\")
    assert lines[7] == r"a\textbar{}b\_c & -- & -- & -- & -- & -- & -- \\"
