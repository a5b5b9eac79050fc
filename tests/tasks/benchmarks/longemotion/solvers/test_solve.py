"""The very messages of `base`, `rag` and `retrieve_only`, their rows, and how calls are made."""

import re
from dataclasses import replace

import pytest

from schemas.api_capabilities import ApiCapabilities, Sampling
from schemas.chat import EMBEDDED_MODEL, ModelEntry
from schemas.context import RetrievalOptions
from schemas.errors import UsageError
from schemas.item import Item
from schemas.vocabulary import ContextTask
from tasks.benchmarks.longemotion.benchmark import ASPECTS
from tasks.benchmarks.longemotion.solvers.prompts import LongEmotionPrompts, RetrievingTemplate
from tasks.solvers.state import AskedItem, RetrievedChunk
from tests.tasks.benchmarks.longemotion.solvers.long_items import (
    EC,
    ED,
    EE,
    ES,
    FIRM,
    HISTORY,
    LAST,
    MC,
    QA,
    SEGMENTS,
    TOWER,
    long_item,
)
from tests.tasks.benchmarks.longemotion.solvers.scripted_roles import FAILED, ScriptedModel, ScriptedRoles, saying, transcript

PROMPTS = LongEmotionPrompts.load()
EC_END = f"Question: What does Mara end up feeling?\nChoices: Relief, Sadness & Guilt, Pride\n\n{PROMPTS.ec.en.instruction}"
ED_LINES = [
    r'{"index": 4, "context": "He \"shook\" with dread"}'
    if index == 4
    else f'{{"index": {index}, "context": "calm morning number{index} by the lake"}}'
    for index in range(10)
]
ED_END = f"Question: Which segment expresses another emotion?\n\n{PROMPTS.ed.en.instruction}"
ED_FOUND = "\n".join([ED_LINES[4], *ED_LINES[:4], *ED_LINES[5:8]])
QA_END = f"Question: By what does fear fade?\n\n{PROMPTS.qa.en.instruction}"
QA_FOUND = (
    "[1] Line 0 tells of topic0.\n\n[2] Line 1 tells of topic1.\n\n[3] Line 2 tells of topic2.\n\n[4] Fear fades by exposure."
)
ES_END = f"Task: Sum up the report.\n\n{PROMPTS.es.en.instruction}"
FOUR_SESSIONS = "\n\n".join(f"[{number + 1}] Session {number} went well." for number in range(4))
ES_FOUND = "\n\n".join(
    f"## {heading}\n{FOUR_SESSIONS}"
    for heading in ("Causes", "Symptoms", "Treatment process", "Characteristics of the illness", "Treatment effect")
)
MC_END = PROMPTS.mc.en.instruction
MC_FOUND = "\n\n".join(f"[{number + 1}] Client: worry {number}" for number in range(4))

CASES: list[tuple[AskedItem, RetrievingTemplate, str, str, str]] = [
    (EC, PROMPTS.ec.en, f"Text:\n{TOWER}", "[1] Mara lost her letter.", EC_END),
    (ED, PROMPTS.ed.en, "\n".join(["A list of 10 segments, one JSON object per line:", *ED_LINES]), ED_FOUND, ED_END),
    (QA, PROMPTS.qa.en, f"Document:\n{QA.item.context}", QA_FOUND, QA_END),
    (ES, PROMPTS.es.en, f"Report:\n{ES.item.context}", ES_FOUND, ES_END),
    (
        *(MC, PROMPTS.mc.en, f"The dialogue so far, without its last messages:\n{HISTORY}", MC_FOUND),
        f"The last messages:\n{LAST}\n\n{MC_END}",
    ),
]
"""An item, its texts, the text as a whole, the pieces found, and how its messages end."""


@pytest.mark.parametrize("setting", ["base", "rag", "retrieve_only"])
@pytest.mark.parametrize("case", CASES, ids=[asked_item.item_id for asked_item, *_ in CASES])
async def test_the_very_messages(case: tuple[AskedItem, RetrievingTemplate, str, str, str], setting: str) -> None:
    asked_item, texts, whole, pieces, end = case
    next_to_it = texts.retrieved.replace("{pieces}", pieces)
    in_its_place = texts.excerpts.replace("{pieces}", pieces).replace("{count}", "10").replace("{shown}", "8")
    roles = ScriptedRoles()
    solved = await roles.solve(asked_item, setting)
    (call,) = transcript(solved)
    said = [(message.role, message.content) for message in call.request.messages]
    blocks = {"base": [whole, end], "rag": [whole, next_to_it, end], "retrieve_only": [in_its_place, end]}[setting]
    if (asked_item, setting) == (MC, "base"):
        blocks = [f"The dialogue so far:\n{HISTORY}\n{LAST}", MC_END]
    assert said == [("system", texts.system), ("user", "\n\n".join(blocks))]
    assert call.reply.text == "done"
    assert roles.model.asked == [call.request]
    assert (roles.sage.asked, roles.critic.asked) == ([], [])
    assert (solved.retrieved == ()) is (setting == "base")


async def test_texts_follow_the_language_of_the_item() -> None:
    item = Item(
        language="zh", question_type="label_choice", context="小安丢了信。", question="小安有什么感受？", options=("难过", "高兴")
    )
    roles = ScriptedRoles()
    await roles.solve(long_item("ec_emobench", item, "小安"), "rag", RetrievalOptions(ranking="fused"))
    assert roles.model.texts == [
        (
            "文本：\n小安丢了信。\n\n为这个问题从文本中检索到的、可能最相关的段落：\n[1] 小安丢了信。\n\n"
            f"问题：小安有什么感受？\n选项：难过, 高兴\n\n{PROMPTS.ec.zh.instruction}"
        )
    ]
    assert roles.retriever.rankings == [("fused", "zh")]


@pytest.mark.parametrize("setting", ["rag", "coem", "self_rag", "search_o1", "retrieve_only"])
@pytest.mark.parametrize("asked_item", [EC, FIRM, ED, QA, ES, MC, EE], ids=lambda asked_item: asked_item.item_id)
async def test_ranks_are_contiguous_and_kept_is_shown(asked_item: AskedItem, setting: str) -> None:
    looking = "<|begin_search_query|>Mara Acorn fear worry calm session<|end_search_query|>"
    replies = [looking, "done"] if setting == "search_o1" and asked_item is not EE else ["done one\ndone two\ndone three"]
    roles = ScriptedRoles(ScriptedModel(saying(*replies)))
    solved = await roles.solve(asked_item, setting)
    by_ranking: dict[tuple[str, int, str], list[RetrievedChunk]] = {}
    for row in solved.retrieved:
        by_ranking.setdefault((row.stage, row.query_number, row.corpus), []).append(row)
    assert bool(by_ranking) is not (setting == "search_o1" and asked_item is EE)
    assert all([row.rank for row in rows] == list(range(len(rows))) for rows in by_ranking.values())
    corpora = {"context": asked_item.chunks, **{written.corpus: written.chunks for written in solved.written}}
    last = [roles for roles in ("reranked", "search", "initial") if any(row.stage == roles for row in solved.retrieved)][:1]
    kept = sorted(
        corpora[row.corpus][row.chunk].text.replace('"', r"\"") if asked_item is ED else corpora[row.corpus][row.chunk].text
        for row in solved.retrieved
        if row.kept and row.stage in last
    )
    pattern = r'"context": "(.*?)"[,}]' if asked_item is ED else r"^\[\d+\] (.*)$"
    prompts = roles.model.texts
    shown = [text for prompt in prompts for text in re.findall(pattern, prompt, re.MULTILINE)]
    # The list of all segments stands in the first prompt as well, unless what was found stands in its place.
    whole = [text.replace('"', r"\"") for text in SEGMENTS] if asked_item is ED and setting != "retrieve_only" else []
    assert sorted(shown) == sorted([*kept, *whole])


async def test_hundred_ranks_are_recorded_unless_more_are_kept() -> None:
    item = QA.item.model_copy(update={"context": "\n".join(f"Line {number}" for number in range(150))})
    rows = (await ScriptedRoles().solve(long_item("qa", item), "rag")).retrieved
    assert [row.rank for row in rows] == list(range(100))
    rows = (await ScriptedRoles().solve(long_item("qa", item), "rag", RetrievalOptions(top_k=120))).retrieved
    assert [row.kept for row in rows] == [True] * 120


@pytest.mark.parametrize(
    ("asked_item", "options", "queries"),
    [
        (EC, RetrievalOptions(), ["Mara"]),
        (EC, RetrievalOptions(question_as_query=True), ["What does Mara end up feeling?"]),
        (long_item("ec_emobench", EC.item), RetrievalOptions(), ["What does Mara end up feeling?"]),
        (FIRM, RetrievalOptions(), ["Acorn Ltd"]),
        (QA, RetrievalOptions(question_as_query=True), ["By what does fear fade?"]),
        (MC, RetrievalOptions(), [LAST]),
        (ES, RetrievalOptions(), [PROMPTS.es.en.aspects[aspect].query for aspect in ASPECTS]),
        # Outliers are ranked against each other.
        (ED, RetrievalOptions(), [None]),
    ],
)
async def test_what_ranks_the_chunks(asked_item: AskedItem, options: RetrievalOptions, queries: list[str | None]) -> None:
    roles = ScriptedRoles()
    rows = (await roles.solve(asked_item, "rag", options)).retrieved
    assert [query for _, query in roles.retriever.queries] == queries
    recorded = [(row.query_number, row.stage, row.corpus, row.query) for row in rows if row.rank == 0]
    assert recorded == [(number, "initial", "context", query) for number, query in enumerate(queries)]


@pytest.mark.parametrize("task", ["mc1", "mc2", "mc3"])
@pytest.mark.parametrize("setting", ["rag", "coem", "self_rag", "search_o1"])
async def test_earlier_stages_are_asked_as_base(task: ContextTask, setting: str) -> None:
    roles = ScriptedRoles()
    solved = await roles.solve(long_item(task, MC.item), setting)
    base = await ScriptedRoles().solve(long_item(task, MC.item), "base")
    assert [call.request.messages for call in transcript(solved)] == [call.request.messages for call in transcript(base)]
    assert solved.retrieved == ()
    assert roles.retriever.queries == []


async def test_first_message_of_dialogue_has_no_history() -> None:
    item = MC.item.model_copy(update={"context": None, "question": "Client: hello"})
    asked_item = long_item("mc1", item)
    (base,) = transcript(await ScriptedRoles().solve(asked_item, "base"))
    assert base.request.messages[1].content == f"The dialogue so far:\nClient: hello\n\n{MC_END}"
    alone = await ScriptedRoles().solve(asked_item, "retrieve_only")
    assert transcript(alone)[0].request.messages[1].content == f"The last messages:\nClient: hello\n\n{MC_END}"
    assert alone.retrieved == ()


@pytest.mark.parametrize("setting", ["rag", "coem", "self_rag", "search_o1", "retrieve_only"])
@pytest.mark.parametrize("asked_item", [QA, ED, MC, ES, EC], ids=lambda asked_item: asked_item.item_id)
async def test_without_chunks_nobody_is_asked(asked_item: AskedItem, setting: str) -> None:
    roles = ScriptedRoles()
    with pytest.raises(UsageError, match="has no chunks") as caught:
        await roles.solve(replace(asked_item, chunks=()), setting)
    assert caught.value.where == f"item {asked_item.item_id}, setting {setting}"
    assert (roles.model.asked, roles.sage.asked, roles.critic.asked) == ([], [], [])


@pytest.mark.parametrize("setting", ["coem", "self_rag"])
@pytest.mark.parametrize("asked_item", [EC, FIRM, ED, QA, ES, MC], ids=lambda asked_item: asked_item.item_id)
async def test_models_and_repetitions_share_helper_replies(asked_item: AskedItem, setting: str) -> None:
    one, other = ScriptedRoles(), ScriptedRoles(model=ScriptedModel(saying("done"), "another-core"))
    await one.solve(asked_item, setting)
    await other.solve(asked_item, setting, repetition=2)
    made = [*one.sage.asked, *one.critic.asked]
    assert made == [*other.sage.asked, *other.critic.asked]
    assert {(request.model, request.repetition) for request in made} == {("sage" if setting == "coem" else "critic", 0)}
    assert one.model.asked != other.model.asked


async def test_a_failed_call_is_the_last() -> None:
    solved = await ScriptedRoles(ScriptedModel(saying(FAILED))).solve(QA, "rag")
    assert [call.reply for call in transcript(solved)] == [FAILED]
    assert len(solved.retrieved) == 21


async def test_call_takes_entrys_sampling_and_items_repetition() -> None:
    sampling, dialect = Sampling(temperature=0.8, top_p=0.9, max_tokens=8192, seed=3), ApiCapabilities(reasoning_effort="low")
    entry = ModelEntry(name="core", base_url="http://x.test/v1", identity="farm", sampling=sampling, dialect=dialect)
    model = ScriptedModel(saying("done"), entry=entry)
    await ScriptedRoles(model).solve(EC, "rag", repetition=2)
    (request,) = model.asked
    assert (request.model, request.identity, request.sampling, request.capabilities) == ("core", "farm", sampling, dialect)
    assert (request.repetition, request.top_logprobs, request.json_schema) == (2, None, None)


@pytest.mark.parametrize(
    ("asked_item", "setting", "limit"),
    [
        (EC, "base", 48),
        (ED, "rag", 48),
        (QA, "coem", 64),
        (ES, "self_rag", 400),
        (MC, "base", 160),
        (EE, "base", 200),
        (ES, "search_o1", 400),
    ],
)
async def test_the_embedded_model_has_short_limits(asked_item: AskedItem, setting: str, limit: int) -> None:
    def embedded() -> ScriptedModel:
        return ScriptedModel(saying("[Relevant]"), entry=ModelEntry(name=EMBEDDED_MODEL, sampling=Sampling(max_tokens=1000)))

    roles = ScriptedRoles(model=embedded(), sage=embedded(), critic=embedded())
    await roles.solve(asked_item, setting)
    assert {request.sampling.max_tokens for request in roles.model.asked} == {limit}
    assert {request.sampling.max_tokens for request in roles.sage.asked} <= {128}
    assert {request.sampling.max_tokens for request in roles.critic.asked} <= {24}
