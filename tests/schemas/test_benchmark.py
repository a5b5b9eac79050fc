"""Rows of benchmarks: those that entry points name, and what is said of one that is none."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import ValidationError

from schemas.benchmark import benchmarks, rows
from schemas.blueprint import MethodSpec, MetricSpec
from schemas.context import Context
from schemas.dataset import DatasetSpec
from schemas.errors import UsageError
from tasks.judging.rubrics import load_rubric
from tasks.scoring.blueprints import find_blueprint, list_blueprints, load_blueprint, profiled_blueprint

MODULE = """
from pathlib import Path
from schemas.benchmark import Benchmark
PLACES = (Path(__file__).parent,)
FOLDERS = Benchmark("own", blueprints="own_rows:PLACES", rubrics="own_rows:PLACES")
ROWS, NUMBERS = ("own",), (1,)
BENCHMARK, BROKEN, GONE = (Benchmark("own", datasets=f"own_rows:{name}") for name in ("ROWS", "NUMBERS", "LOST"))
"""


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Entry points are read once per process; here before and after each test."""
    benchmarks.cache_clear()
    yield
    benchmarks.cache_clear()
    sys.modules.pop("own_rows", None)


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, point: str) -> None:
    """A package of the module `own_rows` that has one entry point."""
    (folder / "own_rows.py").write_text(MODULE)
    metadata = folder / "own_rows-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Name: own-rows\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[moodflow.benchmarks]\nown = {point}\n")
    monkeypatch.syspath_prepend(folder)


def test_own_benchmarks_come_first_in_order() -> None:
    assert [benchmark.name for _, benchmark in benchmarks()] == ["general", "moodbench", "longemotion", "esc_eval", "attunebench"]


def test_rows_of_an_installed_package_come_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, "own_rows:BENCHMARK")
    assert rows("datasets", object)[-1] == "own"
    assert "own" not in rows("solvers", object)


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ("own_rows:BROKEN", "expected: DatasetSpec"),
        ("own_rows:ROWS", "expected: Benchmark"),
        ("own_rows:GONE", "has no attribute 'LOST'"),
        ("lost:ROW", "No module named"),
    ],
)
def test_what_is_no_row_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str, message: str) -> None:
    install(tmp_path, monkeypatch, point)
    with pytest.raises(UsageError) as refused:
        rows("datasets", DatasetSpec)
    assert message in str(refused.value)
    assert "where: entry point own of group moodflow.benchmarks" in str(refused.value)


def test_blueprints_and_rubrics_of_a_package_have_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, "own_rows:FOLDERS")
    blueprint = "extends: moodbench-mini\nname: kind\ntitle: Kind\n"
    (tmp_path / "kind.yaml").write_text(blueprint, encoding="utf-8")
    assert find_blueprint("kind") == tmp_path / "kind.yaml"
    assert {"kind", "moodbench"} < set(list_blueprints())
    assert load_blueprint("kind").title == "Kind"
    (tmp_path / "kindness.yaml").write_text("id: kindness\nextends: answer\n", encoding="utf-8")
    assert load_rubric("kindness").dimensions == load_rubric("answer").dimensions


def test_names_that_benchmarks_add_are_checked() -> None:
    method = MethodSpec(id="choice", metrics=(MetricSpec(metric="accuracy"),), profile="reference")
    assert (method.profile, Context(task="qa", tokens=1).task) == ("reference", "qa")
    with pytest.raises(ValidationError, match="Input should be 'corrected' or 'reference'"):
        MethodSpec(id="choice", metrics=method.metrics, profile="strict")
    with pytest.raises(ValidationError, match="Input should be 'ec_emobench',"):
        Context(task="riddle", tokens=1)
    with pytest.raises(UsageError, match="there is no profile strict"):
        profiled_blueprint("moodbench-mini", "strict")
