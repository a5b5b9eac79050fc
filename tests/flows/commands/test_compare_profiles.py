"""The same stored replies in both profiles: replies over real HTTP, and the comparison without any server to ask."""

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from flows.commands.console import CommandResult
from flows.commands.run import run_command
from schemas.chat import ModelEntry
from schemas.errors import SourceMissingError, UsageError
from schemas.plan import Plan
from tests.flows.scripted import policy
from tests.mirror import MIRROR, needs_mirror
from tests.model_server import ModelServer

RIGHT = {"crows_pairs": 253, "cped": 173, "edos": 140, "booksort": 149, "copa": 100}
"""Items that a model which knows every answer gets right in the reference profile, of 300 (COPA: of 100)."""

ASKED = (*RIGHT, "record", "lcsts")
"""record has no reference score; lcsts, without a judge, no corrected one."""


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


def ask(plan: Plan) -> Plan:
    """Put the replies of the plan's model into its lake."""
    run_command("build", plan)
    run_command("infer", plan)
    return plan


def only(result: CommandResult, **wanted: str) -> dict[str, Any]:
    """The one row of the comparison with these fields."""
    (row,) = [row for row in result.document["rows"] if wanted.items() <= row.items()]
    found: dict[str, Any] = row
    return found


def scores(result: CommandResult, **wanted: str) -> tuple[float | None, float | None]:
    """Corrected and reference score of the one row with these fields."""
    row = only(result, **wanted)
    return row["corrected"], row["reference"]


def printed(result: CommandResult) -> str:
    console = Console(width=250)
    with console.capture() as capture:
        console.print(*result.view)
    return capture.get()


@needs_mirror
@pytest.mark.long
@pytest.mark.usefixtures("prefect_server")
def test_a_model_that_knows_every_answer_loses_what_the_released_code_takes(tmp_path: Path) -> None:
    with ModelServer(policy(ASKED, "gold", MIRROR)) as server:
        plan = plan_for(server, tmp_path, datasets=ASKED)
        ask(plan.model_copy(update={"profile": "reference", "datasets": (*RIGHT, "lcsts")}))
        ask(plan.model_copy(update={"datasets": ("record",)}))
    result = run_command("compare", plan)  # the server is gone: nothing is asked
    for name, right in RIGHT.items():
        of = 100 if name == "copa" else 300
        assert scores(result, kind="dataset", name=name) == pytest.approx((100, 100 * right / of))
        assert only(result, kind="dataset", name=name)["difference"] == pytest.approx(100 * right / of - 100)
    assert [only(result, kind="dataset", name=name)["why"] for name in RIGHT] == [[]] * len(RIGHT)
    assert scores(result, kind="dataset", name="record") == (100, None)
    assert scores(result, kind="dataset", name="lcsts") == (None, 100)
    assert only(result, kind="dataset", name="record")["difference"] is None
    (why,) = only(result, kind="dataset", name="record")["why"]
    assert why.startswith("has no reference score: the released code asks for the letters of all right entities")
    assert only(result, kind="dataset", name="lcsts")["why"] == ["is scored by a judge and no judge was named"]
    assert result.document["common_datasets"] == sorted(RIGHT)
    assert result.status == 1  # lcsts has no corrected score

    # Over the common datasets: values is CrowS-Pairs alone, and the gate and the total follow the blueprint's weights.
    assert scores(result, kind="ability", name="values_safety", over="common") == pytest.approx((100, 100 * 253 / 300))
    emotional = 100 * (173 + 140) / 600  # CPED and EDOS are one task, the only one of its level
    companionship = 100 * 149 / 300
    assert scores(result, kind="ability", name="emotional", over="common") == pytest.approx((100, emotional))
    total = 0.3 * 100 + 0.4 * emotional + 0.3 * companionship
    assert scores(result, kind="total", name="total", over="common") == pytest.approx((100, total))
    # Foundational: COPA and ReCoRD corrected, COPA and LCSTS as released.
    assert scores(result, kind="ability", name="foundational", over="every") == pytest.approx((100, 100))

    cells = [line.split() for line in printed(result).splitlines()]
    lines = {row[1]: row[3:6] for row in cells if "every" in row}
    assert lines["crows_pairs"] == ["100.00", "84.33", "−15.67"]
    assert lines["booksort"] == ["100.00", "49.67", "−50.33"]
    assert lines["copa"] == ["100.00", "100.00", "0.00"]
    assert lines["record"] == ["100.00", "-", "–"]


@needs_mirror
@pytest.mark.usefixtures("prefect_server")
def test_failed_calls_are_missing_here_and_wrong_there(tmp_path: Path) -> None:
    def fault(number: int) -> Any:
        return "401" if number % 2 else None

    with ModelServer(policy(("copa",), "gold", MIRROR), fault=fault) as server:
        plan = ask(plan_for(server, tmp_path, datasets=("copa",)))
    result = run_command("compare", plan)
    assert scores(result, kind="dataset", name="copa") == (100, 50)
    assert result.document["common_datasets"] == ["copa"]
    assert scores(result, kind="total", name="total", over="common") == (100, 50)
    (shown,) = [line.split() for line in printed(result).splitlines() if " copa " in line and "every" in line]
    assert shown[3:6] == ["100.00", "50.00", "−50.00"]
    # The profiles share replies and no item scores, and a second comparison finds both.
    assert run_command("compare", plan).document == result.document
    assert [len(list((tmp_path / layer).rglob("*.parquet"))) for layer in ("item_scores", "responses")] == [2, 1]


@pytest.mark.usefixtures("prefect_server")
def test_bundled_items_have_no_reference_score(tmp_path: Path) -> None:
    names = ("mini_text_matching", "mini_user_safety")
    with ModelServer(policy(names, "gold")) as server:
        result = run_command("compare", ask(plan_for(server, tmp_path, benchmark="moodbench-mini", datasets=names)))
    for name in names:
        assert scores(result, kind="dataset", name=name) == (100, None)
        assert only(result, kind="dataset", name=name)["why"] == [
            "has no reference score: it is none of the sixty datasets that the released code scores"
        ]
    assert (result.status, result.document["common_datasets"]) == (0, [])
    assert [row for row in result.document["rows"] if row["over"] == "common"] == []
    assert {gap["dataset"] for gap in result.document["missing"]["reference"]} == set(names)


@needs_mirror
@pytest.mark.usefixtures("prefect_server")
def test_one_profile_without_any_reply_leaves_the_other(tmp_path: Path) -> None:
    with ModelServer(policy(("record",), "gold", MIRROR)) as server:
        plan = ask(plan_for(server, tmp_path, datasets=("record",), sample=10))
    result = run_command("compare", plan.model_copy(update={"datasets": ("record", "copa")}))
    assert scores(result, kind="dataset", name="record") == (100, None)
    assert scores(result, kind="dataset", name="copa") == (None, None)
    assert only(result, kind="dataset", name="copa")["why"] == ["has no replies in the lake"]


@pytest.mark.usefixtures("prefect_server")
def test_a_benchmark_without_any_reference_score_is_named_as_it_was_typed(tmp_path: Path) -> None:
    plan = plan_for(None, tmp_path, benchmark="moodbench-mini", profile="reference")
    expected = "none of the datasets of moodbench-mini can be had in the reference profile"
    with pytest.raises(SourceMissingError, match=expected) as caught:
        run_command("build", plan)
    assert "it is none of the sixty datasets that the released code scores" in str(caught.value)


def test_a_dataset_named_in_vain_in_the_reference_profile_says_why(tmp_path: Path) -> None:
    plan = plan_for(None, tmp_path, datasets=("stereoset",), profile="reference")
    with pytest.raises(UsageError, match="stereoset has no reference score: the released code asks for the anti-stereotype"):
        run_command("score", plan)
