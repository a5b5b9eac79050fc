"""Each row of the registry of settings, held against what its solver does."""

from dataclasses import replace

import pytest

from schemas.errors import UsageError
from schemas.item import Item
from tasks.solvers.registry import SOLVERS, require_free_roles
from tasks.solvers.state import AskedItem, SolverOptions, SolverResources
from tests.tasks.benchmarks.attunebench.asking import annotated
from tests.tasks.benchmarks.attunebench.datasets.conversations import conversation
from tests.tasks.benchmarks.longemotion.solvers.long_items import QA
from tests.tasks.benchmarks.longemotion.solvers.scripted_roles import ScriptedModel, ScriptedRoles, saying, transcript

CARD = Item(question_type="role_play", question="No sleep.", context="Problem: no sleep")


@pytest.mark.parametrize("role", ["tested", "judge", "options", "identity", "sample", "solvers_version"])
def test_role_whose_name_means_something_else_is_refused(role: str) -> None:
    solver = replace(SOLVERS["coem"], setting="mine", roles={"sage": "helps", role: "helps"})
    with pytest.raises(UsageError, match=f"a solver uses the reserved name {role} for a role") as refused:
        require_free_roles(solver)
    assert (refused.value.where, refused.value.got) == ("solver of setting mine", f"sage, {role}")


@pytest.mark.parametrize("setting", SOLVERS)
async def test_row_states_roles_and_retrieval(setting: str) -> None:
    searching = "<|begin_search_query|>exposure<|end_search_query|>"
    asked = {"role_play": AskedItem("card", CARD), "annotate": annotated(conversation())}.get(setting, QA)
    played = ScriptedRoles(model=ScriptedModel(saying(searching, "exposure") if setting == "search_o1" else saying("exposure")))
    seeker = ScriptedModel(saying("I am tired."), "seeker")
    rating = ScriptedModel(saying("exposure"), "judge")
    models = {"tested": played.model, "sage": played.sage, "critic": played.critic, "seeker": seeker, "draft_judge": rating}
    resources = SolverResources({role: model.role_model() for role, model in models.items()}, played.retriever)
    solver = SOLVERS[setting]
    solved = await solver.solve(asked, SolverOptions(setting, own=solver.read_options({})), resources, 0)
    assert {role for role, model in models.items() if model.asked} == {"tested", *solver.roles}
    assert bool(solved.retrieved) == solver.retrieves
    assert solver.asks(asked.item.question_type, asked.context.task if asked.context else None)
    assert transcript(solved)[-1].reply.text == "exposure"


@pytest.mark.parametrize(
    ("setting", "question_type"), [("base", "role_play"), ("role_play", "open_ended"), ("annotate", "role_play")]
)
async def test_a_setting_refuses_items_that_another_one_asks(setting: str, question_type: str) -> None:
    played = ScriptedRoles()
    resources = SolverResources({"tested": played.model.role_model(), "seeker": played.sage.role_model()})
    item = CARD.model_copy(update={"question_type": question_type})
    solver = SOLVERS[setting]
    assert not solver.asks(question_type, None)
    with pytest.raises(UsageError, match=f"{setting}.*{question_type}|role card|no conversation"):
        await solver.solve(AskedItem("card", item), SolverOptions(setting, own=solver.read_options({})), resources, 0)
    assert not played.model.asked
