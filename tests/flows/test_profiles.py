"""The same stored replies in both profiles: replies over real HTTP, and the runs of both held against each other."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from flows.commands.run import run_command
from schemas.chat import ModelEntry
from schemas.errors import SourceMissingError, UsageError
from schemas.plan import Plan
from tests.flows.command import ended
from tests.flows.scripted import policy
from tests.mirror import MIRROR, needs_mirror
from tests.model_server import ModelServer

RIGHT = {"crows_pairs": 253, "cped": 173, "edos": 140, "booksort": 149, "copa": 100}
"""Items that a model which knows every answer gets right in the reference profile, of 300 (COPA: of 100)."""


def plan_for(server: ModelServer | None, lake: Path, **fields: Any) -> Plan:
    """The plan for a model; without a server, none of its calls could be answered."""
    entry = ModelEntry(name="scripted", base_url=server.base_url if server else "http://127.0.0.1:9/v1", concurrency=16)
    given = {
        "benchmark": "moodbench",
        "mirror": MIRROR if MIRROR.is_dir() else None,
        "models": (entry,),
        "lake": lake,
        "bootstrap": 0,
    }
    return Plan.model_validate({**given, **fields})


@needs_mirror
@pytest.mark.long
@pytest.mark.usefixtures("prefect_server")
def test_released_code_takes_right_answers_away(tmp_path: Path) -> None:
    with ModelServer(policy((*RIGHT, "record", "lcsts"), "gold", MIRROR)) as server:
        corrected = plan_for(server, tmp_path, datasets=(*RIGHT, "record"))
        reference = plan_for(server, tmp_path, datasets=(*RIGHT, "lcsts"), profile="reference")
        runs = [run_command("run", plan).document["run"] for plan in (corrected, reference)]
        assert not server.repeated
    compared = ("compare", *runs, "--lake", str(tmp_path), "--bootstrap", "0")
    (model,) = ended(*compared, "--json").document["models"]
    stored = {row["id"]: (row["before"], row["after"]) for row in model["stored"]}
    for name, right in RIGHT.items():
        assert stored[name] == pytest.approx((100, 100 * right / (100 if name == "copa" else 300)))
    # record has no reference score; lcsts, without a judge, no corrected one.
    assert (stored["record"], stored["lcsts"]) == ((100, None), (None, 100))

    # The two measure by other methods, so that no items are common.
    cells = {row[0]: row[1:] for row in map(str.split, ended(*compared).out.splitlines()) if row}
    assert cells["crows_pairs"] == ["-", "-", "−15.67", "-", "-", "100.00", "84.33"]
    assert cells["record"] == ["-", "-", "–", "-", "-", "100.00", "-"]

    # Values is CrowS-Pairs alone; CPED and EDOS are one task, the only one of its level.
    assert stored["values_safety"] == pytest.approx((100, 100 * 253 / 300))
    assert stored["emotional"] == pytest.approx((100, 100 * (173 + 140) / 600))
    # COPA and ReCoRD corrected, COPA and LCSTS as released.
    assert stored["foundational"] == pytest.approx((100, 100))


@needs_mirror
@pytest.mark.usefixtures("prefect_server")
def test_failed_calls_are_missing_or_wrong(tmp_path: Path) -> None:
    def fault(number: int) -> Any:
        return "401" if number % 2 else None

    with ModelServer(policy(("copa",), "gold", MIRROR), fault=fault) as server:
        corrected = plan_for(server, tmp_path, datasets=("copa",))
        run_command("build", corrected)
        run_command("infer", corrected)
    for profile in ("corrected", "reference"):
        run_command("score", corrected.model_copy(update={"profile": profile}))
    raw = pl.concat(map(pl.read_parquet, (tmp_path / "raw_scores").rglob("*.parquet")), how="diagonal")
    assert sorted(raw.select("value", "n_scored").iter_rows()) == [(0.5, 100), (1.0, 50)]
    assert [len(list((tmp_path / layer).rglob("*.parquet"))) for layer in ("item_scores", "responses")] == [2, 1]


@pytest.mark.usefixtures("prefect_server")
def test_bundled_items_have_no_reference_score(tmp_path: Path) -> None:
    plan = plan_for(None, tmp_path, benchmark="moodbench-mini", profile="reference")
    expected = "none of the datasets of moodbench-mini can be had in the reference profile"
    with pytest.raises(SourceMissingError, match=expected) as caught:
        run_command("build", plan)
    assert "it is none of the sixty datasets that the released code scores" in str(caught.value)


def test_a_dataset_without_reference_score_is_refused(tmp_path: Path) -> None:
    plan = plan_for(None, tmp_path, datasets=("stereoset",), profile="reference")
    with pytest.raises(UsageError, match="stereoset has no reference score: the released code asks for the anti-stereotype"):
        run_command("score", plan)
