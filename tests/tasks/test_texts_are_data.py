"""What looks like a placeholder in the text of a row goes out as it is, to every model that is asked."""

import json
from typing import Any

import pytest

from schemas.item import Item
from tasks.benchmarks.attunebench.annotate import AnnotateOptions
from tasks.benchmarks.attunebench.datasets.codebook import Codebook, load_codebook
from tasks.benchmarks.esc_eval.cards import advance
from tasks.benchmarks.esc_eval.role_play import RolePlayPrompts
from tasks.judging.prompts import judge_messages
from tasks.judging.rubrics import load_rubric
from tasks.solvers.prompts import Prompts, build_messages, prompted_types
from tasks.solvers.state import AskedItem
from tests.tasks.benchmarks.attunebench.asking import ask
from tests.tasks.benchmarks.attunebench.datasets.conversations import TURN, at, conversation
from tests.tasks.benchmarks.esc_eval.test_cards import FOUR, ROW, Script
from tests.tasks.benchmarks.longemotion.solvers.long_items import EC, ED, EE, ES, FIRM, MC, QA, long_item
from tests.tasks.benchmarks.longemotion.solvers.scripted_roles import ScriptedModel, ScriptedRoles, query, saying

HOSTILE = "{ {question} {0.__class__} {{x}} {pieces!r} }} %s $x {{ 7 * 7 }} {% if x %}"


@pytest.mark.parametrize("question_type", prompted_types())
def test_a_question_type_evaluates_nothing(question_type: str) -> None:
    item = Item.model_construct(
        language="en", question_type=question_type, context=f"c {HOSTILE}", question=f"q {HOSTILE}", options=(f"o {HOSTILE}",)
    )
    (message,) = build_messages(item, Prompts.load())
    assert f"c {HOSTILE}" in message.content
    assert f"q {HOSTILE}" in message.content
    assert (f"A. o {HOSTILE}" in message.content) is ("{options}" in Prompts.load().by_type[question_type].en.question)


@pytest.mark.parametrize("setting", ["base", "rag", "coem", "self_rag", "search_o1", "retrieve_only"])
@pytest.mark.parametrize("asked_item", [EC, FIRM, ED, QA, ES, MC, EE], ids=lambda asked_item: asked_item.item_id)
async def test_long_contexts_evaluate_nothing(asked_item: AskedItem, setting: str) -> None:
    item, context = asked_item.item, asked_item.built_context
    changed = {"question": f"{item.question} {HOSTILE}", "context": item.context and f"{item.context}\nLine {HOSTILE}"}
    options = tuple(f"{option} {HOSTILE}" for option in item.options or ()) or None
    hostile = long_item(context.task, item.model_copy(update={**changed, "options": options}), HOSTILE)
    helper = saying(f"[Relevant] [Fully supported] {HOSTILE}")
    replies = [query(f"worry {HOSTILE}"), "done"] if setting == "search_o1" else [f"done {HOSTILE}"]
    roles = ScriptedRoles(ScriptedModel(saying(*replies)), ScriptedModel(helper, "sage"), ScriptedModel(helper, "critic"))
    await roles.solve(hostile, setting)
    said = "\n".join(message.content for request in roles.model.asked for message in request.messages)
    assert f"{item.question} {HOSTILE}".splitlines()[-1] in said
    for asked in (*roles.sage.asked, *roles.critic.asked):
        text = asked.messages[-1].content
        assert HOSTILE in text or "Line" not in text


async def test_annotation_evaluates_nothing() -> None:
    fields = conversation(1, turns=1)
    at(*TURN, "userMessage", value=HOSTILE)(fields)
    output = await ask(fields, AnnotateOptions(mode="verbose_omniscient"))
    said = {call.step: "\n".join(message.content for message in call.request.messages) for call in output.calls}
    assert [step for step, text in said.items() if HOSTILE not in text] == []


def test_a_codebook_of_ones_own_evaluates_nothing() -> None:
    ours = load_codebook().model_dump()
    wording = Codebook.model_validate({**ours, "questions": {"x": "Did {p} ask {ps} friend {p.__class__} {?"}}).questions["x"]
    assert wording.participant == "Did you ask your friend {p.__class__} {?"
    assert wording.observer == "Did the participant ask the participant's friend {p.__class__} {?"


def test_seeker_and_judge_evaluate_nothing() -> None:
    assert HOSTILE in RolePlayPrompts.load().seeker.en.instruction("cot_icl", HOSTILE, 5)
    item: dict[str, Any] = {
        "language": "en",
        "question_type": "open_ended",
        "context": f"c {HOSTILE}",
        "question": f"q {HOSTILE}",
    }
    item |= {"references": [f"r {HOSTILE}"], "options": [f"o {HOSTILE}"]}
    (_, user) = judge_messages(item, f"a {HOSTILE}", load_rubric("answer"))
    assert [f"{part} {HOSTILE}" in user.content for part in "qra"] == [True] * 3
    turns = [{"speaker": "seeker", "text": HOSTILE}, {"speaker": "tested", "text": HOSTILE}]
    assert judge_messages(item, turns, load_rubric("esc_eval"))[1].content.count(HOSTILE) == len(turns)


async def test_cards_evaluate_nothing() -> None:
    script = Script(FOUR)
    await advance({**ROW, "posted": HOSTILE}, "extract", script.models)
    assert HOSTILE in script.requests[0].messages[1].content
    assert json.loads(FOUR)["problem"] not in script.requests[0].messages[0].content
