"""Each row of the registry of settings, held against what its solver does."""

import pytest

from tasks.solvers.registry import SOLVERS
from tasks.solvers.state import SolverOptions, SolverResources
from tests.tasks.solvers.longemotion.long_items import QA
from tests.tasks.solvers.longemotion.scripted_roles import ScriptedModel, ScriptedRoles, saying, transcript


def test_every_setting_has_a_row_under_its_name() -> None:
    assert [solver.setting for solver in SOLVERS.values()] == list(SOLVERS)


@pytest.mark.parametrize("setting", SOLVERS)
async def test_a_row_says_whom_its_solver_asks_and_whether_it_retrieves(setting: str) -> None:
    searching = "<|begin_search_query|>exposure<|end_search_query|>"
    played = ScriptedRoles(model=ScriptedModel(saying(searching, "exposure") if setting == "search_o1" else saying("exposure")))
    models = {"tested": played.model, "sage": played.sage, "critic": played.critic}
    resources = SolverResources({role: model.role_model() for role, model in models.items()}, played.retriever)
    solved = await SOLVERS[setting].solve(QA, SolverOptions(setting), resources, 0)
    assert {role for role, model in models.items() if model.asked} == {"tested", *SOLVERS[setting].roles}
    assert bool(solved.retrieved) == SOLVERS[setting].retrieves
    assert transcript(solved)[-1].reply.text == "exposure"
