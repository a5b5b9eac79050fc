"""What is said of changes since the previous run."""

from schemas.changes import Regression, RunChanges, ScoreDifference, SystemChanges
from tasks.reporting.content.changes import change_notes, changed_scores, state_said

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
    assert [one.system for one in changed_scores(changes)] == names
