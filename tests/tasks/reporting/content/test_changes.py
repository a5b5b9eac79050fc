"""What is said of changes since the previous run."""

from schemas.changes import Regression, RunChanges, ScoreDifference, SystemChanges
from tasks.reporting.content.changes import change_notes, changes_table, state_said
from tests.tasks.reporting.example_run import BLUEPRINT

FELL = Regression(what="total", before=80, after=60, message="total fell by 20.00 points")


def test_systems_are_named_as_their_scores_are() -> None:
    systems = tuple(
        SystemChanges(
            model="m", setting=setting, reason="asked otherwise", changes=(ScoreDifference(what="total"),), findings=(FELL,)
        )
        for setting in ("base", "self_rag", "of_no_solver")
    )
    changes = RunChanges(run="b", benchmark="tiny", state="Regressed", previous="a", units=systems)
    # The usual setting goes without saying; others have their titles, those of no solver their names.
    names = ["m", "m (Self-RAG)", "m (of_no_solver)"]
    assert state_said(changes) == f"regressed: {', '.join(names)}"
    assert list(change_notes(changes)) == [f"{name}: asked otherwise" for name in names]
    assert [row[:2] for row in changes_table(changes, BLUEPRINT).rows] == [(name, "Total") for name in names]


def test_nothing_changed_never_stands_beside_a_difference() -> None:
    differs = ("m: 2 of 8 replies differ",)
    plain = RunChanges(run="b", benchmark="tiny", state="UpToDate", previous="a", canary_calls=16)
    assert state_said(plain) == "nothing changed since a: no model call was sent, but for the canary"
    messages = {
        "UpToDate": "no model call was sent, but for the canary",
        "Drifting": "differences beyond the server's own noise",
        "Completed": "no regression against a",
        "Failed": "no call was answered",
    }
    for state, message in messages.items():
        changes = RunChanges.model_validate({**plain.model_dump(), "state": state, "differences": differs})
        assert state_said(changes) == f"{message}; m: 2 of 8 replies differ"
