"""The page of an ablation: one factor as a line or dots, two as a heat map, all numbers in the table."""

import re
from pathlib import Path
from typing import Any

import dataframely as dy
import pytest

from schemas.errors import UsageError
from schemas.lineage import Missing
from schemas.tables.comparisons import Ablations
from tasks.reporting.content.ablations import describe_ablation
from tasks.reporting.figures import drawing
from tasks.reporting.render.page import ablation_page, write_ablation_report
from tests.tasks.reporting.example_items import make_table
from tests.tasks.reporting.example_run import manifest
from tests.tasks.reporting.pages import ATTACK, Page

MISSING = Missing(dataset="longemotion_mc", reason="has no file", next_step="bring it with --mirror")
RUN = manifest(benchmark="longemotion", ablation={"name": "chunks"}, missing=(MISSING,))


def row(x: str, value: float | None, **changes: Any) -> dict[str, Any]:
    number = float(x) if x.isdigit() else None
    low, high = (None, None) if value is None else (value - 2, value + 2)
    base = {
        "ablation": "chunks",
        "model": "alpha",
        "setting": "rag",
        "dataset": "longemotion_qa",
        "variant": f"chunk_tokens {x}",
        "factor": "chunk_tokens",
        "x": x,
        "x_value": number,
        "second_factor": None,
        "y": None,
        "y_value": None,
        "method": "qa_f1",
        "metric": "qa_f1",
        "value_0_100": value,
        "ci_low": low,
        "ci_high": high,
        "n_scored": 0 if value is None else 10,
        "n_total": 10,
    }
    return base | changes


def frame(*rows: dict[str, Any]) -> dy.DataFrame[Ablations]:
    return make_table(Ablations, list(rows))


LINE = frame(row("512", 40.0), row("128", 50.0), row("256", 45.0), row("1024", None))
NAMED = frame(*(row(name, value, factor="sage") for name, value in (("gpt", 50.0), ("deep", 51.0))))
GRID = frame(
    *(
        row(x, float(x) / 10 + int(y), variant=f"{x}, {y}", second_factor="top_k", y=y, y_value=float(y))
        for x in ("128", "256")
        for y in ("16", "4")
    )
)


def test_numbers_are_in_order_and_named_best_and_worst() -> None:
    (found,) = describe_ablation("chunks", LINE)
    (series,) = found.series
    assert [(point.x, point.score) for point in series.points] == [("128", 50.0), ("256", 45.0), ("512", 40.0), ("1024", None)]
    assert series.is_numeric
    assert (series.name, found.factor) == ("alpha (RAG)", "chunk tokens")
    # 48 to 52 against 38 to 42.
    assert found.sentences == (
        (
            "alpha (RAG) does best with chunk_tokens 128 (50.0) and worst with chunk_tokens 512 (40.0); their 95 % intervals are "
            "apart."
        ),
    )


def test_named_values_are_dots_without_a_line() -> None:
    (found,) = describe_ablation("chunks", NAMED)
    assert not found.series[0].is_numeric
    assert found.sentences[0].endswith("their 95 % intervals overlap, so chance may explain the difference.")
    html = ablation_page(NAMED, RUN).html
    assert "mark-line" not in html
    assert "mark-symbol" in html


def test_a_line_has_a_dot_and_an_interval_per_scored_variant() -> None:
    html = ablation_page(LINE, RUN).html
    svg = re.findall(r"<svg.*?</svg>", html, re.DOTALL)[0]
    assert "mark-line" in svg
    # Three scored variants: three dots and three upright lines; the unscored one has neither.
    assert svg.count(f'fill="{drawing.OURS}"') == 3
    assert len(re.findall(rf'<line [^>]*stroke="{drawing.OURS}"', svg)) == 3
    assert ">128<" in svg
    assert "1024" not in re.sub(r"<path[^>]*>", "", svg)


def test_two_factors_are_a_heat_map() -> None:
    (found,) = describe_ablation("chunks", GRID)
    (heat,) = found.heat_maps
    assert (heat.xs, heat.ys) == (("128", "256"), ("4", "16"))
    assert heat.cells[0] == ("128", "4", 16.8)
    html = ablation_page(GRID, RUN).html
    svg = re.findall(r"<svg.*?</svg>", html, re.DOTALL)[0]
    # 16.8, 28.8, 29.6 and 41.6
    assert [svg.count(f'fill="{drawing.HEAT[step]}"') for step in (1, 2, 3, 4)] == [1, 2, 0, 1]
    assert "Across: chunk tokens, down: top k." in Page(html).words


def test_settings_that_are_compared_are_one_series() -> None:
    rows = [row(name, value, factor="setting", setting=name, variant=name) for name, value in (("rag", 40.0), ("coem", 50.0))]
    (found,) = describe_ablation("chunks", frame(*rows))
    assert [(series.name, len(series.points)) for series in found.series] == [("alpha", 2)]
    assert found.sentences[0].startswith("alpha does best with coem (50.0) and worst with rag (40.0)")


def test_both_forms_hold_every_number() -> None:
    pages = ablation_page(LINE, RUN)
    words = Page(pages.html).words
    assert "alpha (RAG) chunk_tokens 128 50.0 48.0 to 52.0 10 of 10" in words
    assert "alpha (RAG) chunk_tokens 1024 – – 0 of 10" in words
    assert "longemotion_mc has no file; bring it with --mirror." in words
    assert "| longemotion\\_qa, qa\\_f1 | alpha (RAG) | chunk\\_tokens 128 | 50.0 | 48.0 to 52.0 | 10 of 10 |" in pages.markdown
    assert "| alpha (RAG) | chunk\\_tokens 1024 | – | – | 0 of 10 |" in pages.markdown
    assert "has no file; bring it with --mirror." in pages.markdown
    assert pages.markdown.startswith("# chunks: longemotion\n")
    assert set(re.findall(r'(?:fill|stroke)="(#[0-9a-f]+)"', pages.html)) <= set(drawing.COLOURS.values())


def test_names_of_others_are_inert() -> None:
    html = ablation_page(frame(row(ATTACK, 50.0, model=ATTACK), row("b", 40.0, model=ATTACK)), RUN).html
    assert {"script", "img"}.isdisjoint(tag for tag, _ in Page(html).tags)


def test_without_any_score_there_is_a_table_and_no_figure() -> None:
    html = ablation_page(frame(row("128", None), row("256", None)), RUN).html
    assert "<svg" not in html
    assert "alpha (RAG) chunk_tokens 128 – – 0 of 10" in Page(html).words


def test_an_ablation_without_rows_is_refused() -> None:
    with pytest.raises(UsageError, match="there is nothing to show of this ablation") as caught:
        ablation_page(LINE, RUN.model_copy(update={"ablation": {"name": "sage"}}))
    assert "rows of: chunks" in str(caught.value)


def test_files_are_written(tmp_path: Path) -> None:
    paths = write_ablation_report(LINE, RUN, tmp_path / "runs" / "x")
    assert paths.html.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert paths.markdown.read_text(encoding="utf-8").startswith("# chunks")
