"""The executor with a scripted judge."""

import json
import re
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import dataframely as dy
import polars as pl
import pytest

from schemas.api_capabilities import ApiCapabilities, Sampling
from schemas.chat import Chat, ChatReply, ChatRequest, ModelEntry
from schemas.tables.items import Items
from schemas.tables.responses import Answers, Judgements
from tasks.judging.contract import Contract, reparse_judgements
from tasks.judging.executor import Judge, judge_answers, judgements_key, plan_ratings, rating_tokens
from tasks.judging.rubrics import Rubric, load_rubric, place_of
from tasks.models.http.worker_pool import WorkerPool
from tasks.models.journal.journal import Journal, JournaledChat
from tasks.scoring.jobs import LayerJob
from tests.probed_server import Answer, ProbedServer, completed
from tests.tasks import rows
from tests.tasks.models.making_calls import Pauses, client
from tests.tasks.rows import partition

RUBRIC = load_rubric("summary")
GOOD = '{"completeness": 5, "conciseness": 4, "faithfulness": 3, "fluency": 2}'

JUDGE = ModelEntry(name="judge-model", base_url="http://127.0.0.1:9/v1", sampling=Sampling(seed=7, max_tokens=999))


WARM = JUDGE.model_copy(update={"sampling": Sampling(temperature=0.7)})


class Scripted:
    """A judge that gives these replies, the last one again and again, and keeps what it was asked; null = the call fails."""

    def __init__(self, *replies: str | None) -> None:
        self.replies = list(replies)
        self.asked: list[ChatRequest] = []

    async def __call__(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        text = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if text is None:
            return ChatReply(failure="http_5xx", error="HTTP 500", http_status=500)
        return ChatReply(text=text, prompt_tokens=120, completion_tokens=31)


def items(*names: str) -> dy.DataFrame[Items]:
    asked = {"question": "Summarise it.", "references": ["x"]}
    return rows.items(*(rows.item(name, "judged_summary", context=f"Source of {name}.", **asked) for name in names))


def answers(*texts: tuple[str, str | None]) -> dy.DataFrame[Answers]:
    """From (item, text); no text is a failed call."""
    return rows.answers(*(rows.answer(name, text) for name, text in texts))


ONE = answers(("a", "Beth is coming."))


async def rate(
    chat: Chat,
    given: dy.DataFrame[Answers] = ONE,
    *names: str,
    entry: ModelEntry = JUDGE,
    on_reply: Callable[[ChatReply], None] = lambda _reply: None,
    rubric: Rubric = RUBRIC,
    repetitions: int = 1,
) -> dy.DataFrame[Judgements]:
    async with WorkerPool(1) as pool:
        judge = Judge(entry, rubric, chat, on_reply, repetitions)
        return await judge_answers(items(*(names or ("a",))), given, judge, pool.do_all)


async def test_one_call_yields_a_row_per_dimension() -> None:
    told: list[ChatReply] = []
    judge = Scripted(GOOD)
    judged = await rate(judge, on_reply=told.append)
    assert judged.select("dimension", "rating").rows() == list(json.loads(GOOD).items())
    assert judged["parse_status"].unique().to_list() == ["parsed"]
    assert judged.select("judge", "rubric", "raw_reply", "error").unique().rows() == [("judge-model", "summary", GOOD, None)]
    assert judged.select("prompt_tokens", "completion_tokens").rows() == [(120, 31)] * 4
    assert len(judge.asked) == len(told) == 1


async def test_request_is_constrained_and_otherwise_the_judges_own() -> None:
    judge = Scripted(GOOD)
    await rate(judge)
    body: dict[str, Any] = judge.asked[0].body()
    # The entry's own limit: a judge may reason before it rates.
    assert (body["max_tokens"], body["seed"], body["temperature"]) == (999, 7, 0.0)
    assert body["response_format"]["json_schema"]["schema"]["required"] == list(RUBRIC.names)
    assert "Beth is coming." in body["messages"][1]["content"]


async def test_embedded_judge_gets_just_length_of_its_ratings() -> None:
    judge = Scripted(GOOD)
    await rate(judge, entry=ModelEntry(name="smollm2"))
    # 16 tokens around four ratings of 12
    assert judge.asked[0].sampling.max_tokens == 64


def test_embedded_judge_has_room_for_its_longest_reply() -> None:
    # As the embedded model's tokenizer counts the object with the highest ratings, indented.
    counted = {"summary": 36, "mc_stage1": 45, "mc_stage2": 42, "mc_stage3": 40, "mc_stage4": 55, "ee_expression": 112}
    for name, tokens in {**counted, "es_aspects": 208}.items():
        rubric = load_rubric(name)
        assert tokens < rating_tokens(rubric, rubric.dimensions) < 2 * tokens


async def test_only_answers_that_say_something_are_judged() -> None:
    given = answers(("a", "Second try."), ("b", None), ("c", "..."), ("d", ""))
    judge = Scripted(GOOD)
    judged = await rate(judge, given, "a", "b", "c", "d")
    assert judged["item_id"].unique().to_list() == ["a"]
    assert ["Second try." in request.messages[1].content for request in judge.asked] == [True]


async def test_asking_again_is_another_call() -> None:
    judge = Scripted("fluency: 5", '{"fluency": 5}', GOOD)
    judged = await rate(judge, entry=WARM)
    assert [request.repetition for request in judge.asked] == [0, 1, 2]
    assert len({request.key for request in judge.asked}) == 3
    assert len({request.messages for request in judge.asked}) == 1
    assert judged["parse_status"].unique().to_list() == ["parsed"]
    assert judged["call_key"].unique().to_list() == [judge.asked[-1].key]


async def test_repeating_judge_is_told_once_what_failed() -> None:
    judge = Scripted("fluency: 5", GOOD)
    judged = await rate(judge)
    first, again = judge.asked
    assert again.messages[:2] == first.messages
    assert [(message.role, message.content) for message in again.messages[2:]] == [
        ("assistant", "fluency: 5"),
        ("user", f"Your reply could not be read: no JSON object. {Contract.of(RUBRIC, RUBRIC.dimensions).instruction('en')}"),
    ]
    assert again.json_schema == first.json_schema
    assert judged.select("parse_status", "call_key").unique().rows() == [("parsed", again.key)]
    stubborn = Scripted("fluency: 5")
    unread = await rate(stubborn)
    assert len(stubborn.asked) == 2
    assert unread.select("parse_status", "raw_reply", "error").unique().rows() == [("unparsed", "fluency: 5", "no JSON object")]


async def test_failed_second_call_is_made_again() -> None:
    judged = await rate(Scripted("fluency: 5", None))
    assert judged.select("parse_status", "error").unique().rows() == [("failed", "HTTP 500")]


async def test_repaired_rating_is_marked_and_read_again_alike() -> None:
    judge = Scripted(GOOD.replace("5", '"5"').replace("2", '"2/5"'))
    judged = await rate(judge)
    assert judged.select("dimension", "rating").rows() == list(json.loads(GOOD).items())
    assert judged["parse_status"].unique().to_list() == ["repaired"]
    assert len(judge.asked) == 1
    assert reparse_judgements(judged, RUBRIC).equals(judged)


async def test_repeated_ratings_use_other_orders() -> None:
    requests: list[ChatRequest] = []

    async def chat(request: ChatRequest) -> ChatReply:
        requests.append(request)
        asked = list(json.loads(request.json_schema or "{}")["properties"])
        # 1 for what is asked first, 2 for the next and so on.
        return ChatReply(text=json.dumps({name: place for place, name in enumerate(asked, start=1)}))

    given = answers(("a", "Beth is coming."), ("b", "Ben is coming."))
    judged = await rate(chat, given, "a", "b", repetitions=3)
    assert len({request.key for request in requests}) == len(requests) == 6
    planned = await plan_ratings(zip(items("a", "b").iter_rows(named=True), given["text"], strict=True), JUDGE, RUBRIC, 3)
    assert {request.key for request in planned} == {request.key for request in requests}
    assert {request.repetition for request in requests} == {0, 3, 6}
    of_one = judged.filter(pl.col("item_id") == "a").group_by("judge_repetition", maintain_order=True).agg("dimension", "rating")
    assert set(map(tuple, of_one["dimension"])) == {("completeness", "conciseness", "faithfulness", "fluency")}
    assert of_one.select("judge_repetition", "rating").rows() == [(0, [1, 2, 3, 4]), (1, [4, 1, 2, 3]), (2, [3, 4, 1, 2])]
    places = [
        place_of(RUBRIC, dimension, repetition)
        for dimension, repetition in judged.select("dimension", "judge_repetition").iter_rows()
    ]
    assert [place + 1 for place in places] == judged["rating"].to_list()


@pytest.mark.parametrize(("rubric", "lowest", "highest"), [("summary", 1, 5), ("mc_stage2", 0, 5), ("ee_expression", 0, 100)])
async def test_rows_state_scale_and_ratings_reach_ends(rubric: str, lowest: int, highest: int) -> None:
    loaded = load_rubric(rubric)
    ends = [lowest if place % 2 else highest for place in range(len(loaded.names))]

    async def chat(request: ChatRequest) -> ChatReply:
        assert f"from {lowest} to {highest}" in request.messages[0].content
        return ChatReply(text=json.dumps(dict(zip(loaded.names, ends, strict=True))))

    judged = await rate(chat, rubric=loaded)
    assert judged.select("lowest", "highest", "judge_repetition").unique().rows() == [(lowest, highest, 0)]
    assert dict(judged.select("dimension", "rating").iter_rows()) == dict(zip(loaded.names, ends, strict=True))


def warmth() -> Rubric:
    """Warmth from 0 to 2, depth on the shared 1 to 3, and a question; one by one, with reasons."""
    both = {"en": "Is it so?", "zh": "是吗？"}
    low = dict.fromkeys(("en", "zh"), ("cold", "polite", "warm"))
    return Rubric.model_validate(
        {
            "id": "warmth",
            "version": "1",
            "instruction": both,
            "ask": "one_by_one",
            "rationale": True,
            "scale": {"lowest": 1, "highest": 3},
            "anchors": low,
            "dimensions": [
                {"name": "warmth", "definition": both, "scale": {"lowest": 0, "highest": 2}, "anchors": low},
                {"name": "depth", "definition": both},
                {"name": "asks", "definition": both, "scale": "yes_no"},
            ],
        }
    )


SAID = {"warmth": 2, "depth": 3, "asks": "yes"}


def asked_for(request: ChatRequest) -> list[str]:
    return [name for name in json.loads(request.json_schema or "{}")["properties"] if name != "rationale"]


@pytest.mark.parametrize("ask", ["one_by_one", "together"])
async def test_separate_and_joint_dimensions_agree(ask: str) -> None:
    requests: list[ChatRequest] = []

    async def chat(request: ChatRequest) -> ChatReply:
        requests.append(request)
        names = asked_for(request)
        return ChatReply(text=json.dumps({"rationale": f"So is {names[0]}."} | {name: SAID[name] for name in names}))

    rubric = warmth().model_copy(update={"ask": ask})
    judged = await rate(chat, rubric=rubric)
    assert judged.select("dimension", "rating", "lowest", "highest", "parse_status").rows() == [
        ("asks", 1, 0, 1, "parsed"),
        ("depth", 3, 1, 3, "parsed"),
        ("warmth", 2, 0, 2, "parsed"),
    ]
    one_by_one = ask == "one_by_one"
    reasons = ["So is asks.", "So is depth.", "So is warmth."] if one_by_one else ["So is warmth."] * 3
    assert judged["rationale"].to_list() == reasons
    assert [asked_for(request) for request in requests] == ([["warmth"], ["depth"], ["asks"]] if one_by_one else [[*SAID]])
    assert judged["call_key"].n_unique() == len(requests)
    planned = await plan_ratings([(items("a").row(0, named=True), "Beth is coming.")], JUDGE, rubric)
    assert [request.key for request in planned] == [request.key for request in requests]
    assert reparse_judgements(judged, rubric).equals(judged)
    if one_by_one:
        asking_depth, asking_asks = (request.messages[0].content for request in requests[1:])
        assert "In every dimension the ratings mean:\n1 = cold" in asking_depth
        assert "cold" not in asking_asks


async def test_unstated_or_outlying_ratings_are_missing_alone() -> None:
    asked: Counter[str] = Counter()

    async def chat(request: ChatRequest) -> ChatReply:
        (name,) = asked_for(request)
        asked[name] += 1
        if name == "depth":
            return ChatReply(failure="empty_content", error="no text")
        # The scale of warmth ends at 2; each try says something else.
        rating = 2 + asked[name] if name == "warmth" else "no"
        return ChatReply(text=json.dumps({"rationale": "So.", name: rating}))

    judged = await rate(chat, rubric=warmth(), entry=WARM)
    # A call that fails is repeated by the client, not here.
    assert asked == {"warmth": 3, "depth": 1, "asks": 1}
    assert judged.select("dimension", "rating", "parse_status", "rationale", "raw_reply", "error").rows() == [
        ("asks", 0, "parsed", "So.", '{"rationale": "So.", "asks": "no"}', None),
        ("depth", None, "failed", None, None, "no text"),
        (
            *("warmth", None, "unparsed", None, '{"rationale": "So.", "warmth": 5}'),
            "warmth: Input should be less than or equal to 2",
        ),
    ]


async def test_a_dialogue_is_judged_by_its_turns() -> None:
    turns = [rows.turn("seeker", "I am tired."), rows.turn("supporter", "What tires you?")]
    judge = Scripted(GOOD)
    given = rows.answers({**rows.answer("a", None), "status": "answered", "failed_role": None, "failure": None, "turns": turns})
    judged = await rate(judge, given)
    shown = re.sub("[0-9a-f]{12}", "#", judge.asked[0].messages[1].content)
    assert "<<<ANSWER #>>>\n<<<TURN 1 seeker #>>>\nI am tired.\n<<<TURN 2 supporter #>>>\nWhat tires you?\n<<<END #>>>" in shown
    assert judged["rating"].to_list() == [5, 4, 3, 2]


async def test_digit_judge_gets_no_schema() -> None:
    rubric, judge = load_rubric("esc_eval_released"), Scripted("3", "4/10", "4/10", "Score: 2.", "0", "1", "4", "5")
    judged = await rate(judge, rubric=rubric)
    assert {"response_format"} & {name for request in judge.asked for name in request.body()} == set()
    # The second is asked for again, and so is the last.
    assert len(judge.asked) == 9
    given = dict(judged.select("dimension", "rating").iter_rows())
    assert [given[name] for name in rubric.names] == [3, None, 2, 0, 1, 4, None]
    assert reparse_judgements(judged, rubric).equals(judged)


def at_most_8192(body: dict[str, Any], _: str) -> Answer:
    """Five tokens for four words, of which 8,192 are read."""
    words = sum(len(message["content"].split()) for message in body["messages"])
    return completed(body, GOOD, usage={"prompt_tokens": min(8192, words * 5 // 4), "completion_tokens": 31})


async def test_rating_of_a_cut_prompt_is_lost(tmp_path: Path) -> None:
    # Each of the three could be whole: that they share the largest count is known only after the last.
    given = answers(*((name, "home " * words) for name, words in (("a", 6200), ("b", 7000), ("c", 8000), ("d", 90))))
    with ProbedServer(at_most_8192) as server:
        judge = JUDGE.model_copy(update={"base_url": server.base_url})
        async with Journal(tmp_path / "j.sqlite") as journal, client(judge, Pauses()) as http:
            judged = await rate(JournaledChat(http, journal), given, "a", "b", "c", "d", entry=judge)
    read = judged.select("item_id", "parse_status", "rating", "rationale", "raw_reply").unique().sort("item_id", "rating")
    assert read.rows() == [
        *((name, "failed", None, None, None) for name in "abc"),
        *(("d", "parsed", n, None, GOOD) for n in range(2, 6)),
    ]
    told = judged.filter(item_id="c")["error"].unique().item()
    assert re.fullmatch("the server cut the prompt: it read 8,192 tokens of [0-9,]+ characters", told)
    assert judged.filter(item_id="d")["error"].to_list() == [None] * 4


async def test_longest_answers_are_judged_first() -> None:
    judge = Scripted(GOOD)
    await rate(judge, answers(("a", "b" * 50), ("b", "b" * 90), ("c", "b" * 70)), "a", "b", "c")
    assert [len(max(re.findall("b+", request.messages[1].content), key=len)) for request in judge.asked] == [90, 70, 50]


ITEM = {"question_type": "aspect_summary", "language": "en", "context": "Client: Hello.", "question": "Client: I am tired."}


async def test_calls_of_the_first_version_keep_their_keys() -> None:
    """Of every rubric that is there, in both languages and three orders: what was paid for is found in the journal."""
    keys = []
    for rubric in (load_rubric(name) for name in ("answer", "ee_expression", "es_aspects", "mc_stage1", "summary")):
        for language in ("en", "zh"):
            item = ITEM | {"dataset": "d", "item_id": "a", "language": language, "options": ["a"], "references": ["x"] * 5}
            keys += [request.key for request in await plan_ratings([(item, "Go on.")], ModelEntry(name="smollm2"), rubric, 3)]
    assert sha256("".join(keys).encode()).hexdigest() == "ca3dcc16eac92a8cda6b3128aae093d3eeef6bd06f94ed05aca893f9e22ad9b2"


RESPONSES = partition("responses")


def fingerprint(**changed: Any) -> str:
    judge = ModelEntry(name="j", base_url="http://localhost/v1", **changed)
    return judgements_key(RESPONSES, judge, "summary", "3" * 64).fingerprint


@pytest.mark.parametrize("changed", [{"identity": "elsewhere"}, {"dialect": ApiCapabilities(unsent=("json_schema",))}], ids=str)
def test_what_changes_the_ratings_changes_the_key(changed: dict[str, Any]) -> None:
    assert fingerprint(**changed) != fingerprint()


@pytest.mark.parametrize("changed", [{"concurrency": 1}, {"dialect": ApiCapabilities()}], ids=str)
def test_transport_and_names_do_not(changed: dict[str, Any]) -> None:
    assert fingerprint(**changed) == fingerprint()


def test_key_of_ratings_is_made_of_these_settings() -> None:
    """That of a judge who rates each answer once: another key has every rating made again."""
    judge = ModelEntry(name="j", base_url="http://localhost/v1")
    key = judgements_key(RESPONSES, judge, "summary", "3" * 64)
    sampling = {"temperature": 0.0, "top_p": 1.0, "max_tokens": 512, "seed": None}
    of_judge = {"judge": "j", "identity": "http://localhost/v1", "sampling": sampling, "rubric_sha256": "3" * 64}
    assert key.settings == {**of_judge, "evaluation_version": "5"}
    assert key.place == (("dataset", "d"), ("judge", "j"), ("rubric", "summary"))
    assert key.parents == (RESPONSES.identity,)
    parts = {"layer": "judgements", "keys": dict(key.place), "settings": key.settings, "parents": [*key.parents]}
    text = json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert key.fingerprint == sha256(text.encode()).hexdigest()


def repeated(*repetitions: int) -> str:
    judge = ModelEntry(name="j", base_url="http://localhost/v1")
    return judgements_key(RESPONSES, judge, "summary", "3" * 64, *repetitions).fingerprint


def test_repetitions_count_only_if_there_are_several() -> None:
    assert repeated(1) == repeated()
    assert len({repeated(), repeated(2), repeated(3)}) == 3


def test_agreements_follow_every_rating_in_any_order() -> None:
    ratings = [RESPONSES.model_copy(update={"fingerprint": digit * 64}) for digit in "456"]
    keys = [
        LayerJob("agreements", "b", ((), (RESPONSES,), tuple(chosen))).key for chosen in (ratings, ratings[::-1], ratings[:2])
    ]
    assert keys[0].fingerprint == keys[1].fingerprint != keys[2].fingerprint
    assert keys[0].place == (("benchmark", "b"),)
