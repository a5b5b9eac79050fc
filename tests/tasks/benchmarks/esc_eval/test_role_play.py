"""Dialogues of a role play over HTTP: what each side is shown, how they end, whose fault it is, how the seeker is sampled."""

import json
import re
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest

from schemas.api_capabilities import Sampling
from schemas.chat import ModelEntry
from schemas.tables.responses import Answers
from schemas.vocabulary import LANGUAGES, Language
from tasks.benchmarks.esc_eval.role_play import BLOCKS, RolePlayOptions, RolePlayPrompts, Variant, says_goodbye
from tasks.models.http.worker_pool import WorkerPool
from tasks.solvers.presentation import Epochs, plan_epochs
from tasks.solvers.run import BuiltContexts, make_tables, run_solver
from tasks.solvers.state import RoleModel, SolverOptions, SolverResources
from tests.mirror import needs_mirror
from tests.model_server import Fault, ModelServer
from tests.rows import each_row
from tests.tasks import rows
from tests.tasks.models.making_calls import Pauses, client
from tests.tasks.solvers.asking import Replies

Messages = list[dict[str, str]]
CARDS: dict[str, tuple[Language, str]] = {
    "exam": ("en", "Age: young\nProblem: failed an exam, parents are angry"),
    "move": ("en", "Age: 40\nProblem: moved to a new town, knows nobody"),
    "job": ("zh", "年龄：青年\n问题：加班太多，睡不着"),
}


COLD = Sampling()
BOTH = ("seeker", "tested")
GREETINGS = [RolePlayPrompts.load().seeker.template(language).greeting for language in LANGUAGES]


def lines_so_far(messages: Messages) -> int:
    """Lines that the one who is asked has said."""
    return sum(message["role"] == "assistant" for message in messages)


def tell(messages: Messages) -> str:
    """A seeker whose lines name card and turn."""
    card = next(name for name, (_, text) in CARDS.items() if text in messages[0]["content"])
    return f"{'我很难受' if card == 'job' else 'I feel bad'}: {card} {lines_so_far(messages) + 1}"


def listen(messages: Messages) -> str:
    """A model that repeats what it heard last."""
    return f"Tell me more about that: {messages[-1]['content']}"


class Talks(NamedTuple):
    """What came of some cards: rows by layer, and what the two servers got."""

    answers: pl.DataFrame
    responses: pl.DataFrame
    seeker: list[dict[str, Any]]
    tested: list[dict[str, Any]]

    def turns(self, card: str) -> list[dict[str, Any]]:
        """The turns of a card's first answer."""
        found: list[dict[str, Any]] = self.answers.filter(item_id=card, repetition=0)["turns"].to_list()[0]
        return found

    def steps(self, card: str) -> list[tuple[str, str]]:
        """Role and step of a card's calls, in order."""
        calls = self.responses.filter(item_id=card, repetition=0).sort("turn")
        return calls.select("role", "step").rows()


async def talk(
    cards: Sequence[str] = tuple(CARDS),
    seeker: Callable[[Messages], str] = tell,
    tested: Callable[[Messages], str] = listen,
    *,
    own: RolePlayOptions | None = None,
    repeat: int = 1,
    model: str = "model",
    sampling: Sampling = COLD,
    faults: tuple[Callable[[int], Fault | None], Callable[[int], Fault | None]] = (lambda _: None, lambda _: None),
) -> Talks:
    """Let a seeker and a model talk, each served by itself."""
    items = rows.items(
        *(rows.item(name, "role_play", language=CARDS[name][0], context=CARDS[name][1], question="?") for name in cards)
    )
    with ExitStack() as servers:
        plays = servers.enter_context(ModelServer(seeker, fault=faults[0]))
        hears = servers.enter_context(ModelServer(tested, fault=faults[1]))
        async with AsyncExitStack() as clients:
            entries = {
                "tested": ModelEntry(name=model, base_url=hears.base_url),
                "seeker": ModelEntry(name="seeker", base_url=plays.base_url, sampling=sampling),
            }
            roles = {
                role: RoleModel(entry, await clients.enter_async_context(client(entry, Pauses())))
                for role, entry in entries.items()
            }
            pool = await clients.enter_async_context(WorkerPool(4))
            options = SolverOptions("role_play", own=own or RolePlayOptions())
            presentations = plan_epochs(items, Epochs(repeat=repeat))
            listeners = {role: Replies() for role in entries}
            solved = await run_solver(presentations, BuiltContexts(), options, SolverResources(roles), pool.do_all, listeners)
            tables = make_tables(solved)
        return Talks(Answers.validate(tables["answers"]), tables["responses"], plays.bodies, hears.bodies)


async def test_each_side_sees_its_own_conversation() -> None:
    talks = await talk()
    assert set(talks.answers["status"]) == {"answered"}
    for name, (language, card) in CARDS.items():
        turns, template = talks.turns(name), RolePlayPrompts.load().seeker.template(language)
        assert [(turn["speaker"], turn["turn"]) for turn in turns] == [
            (speaker, number) for number in range(1, 6) for speaker in BOTH
        ]
        assert talks.steps(name) == [(turn["speaker"], f"turn {turn['turn']}") for turn in turns]
        calls = talks.responses.filter(item_id=name).sort("turn")["call_key"].to_list()
        assert [turn["call_key"] for turn in turns] == calls == talks.answers.filter(item_id=name)["call_keys"].to_list()[0]
        assert [turn["characters"] for turn in turns] == [len(turn["text"]) for turn in turns]
        assert {turn["language"] for turn in turns if turn["speaker"] == "seeker"} == {language}
        said = [turn["text"] for turn in turns]
        (last,) = [body["messages"] for body in talks.tested if body["messages"][-1]["content"] == said[8]]
        assert last == [{"role": role, "content": text} for role, text in zip(["user", "assistant"] * 5, said[:9], strict=False)]
        (seen,) = [body["messages"] for body in talks.seeker if body["messages"][-1]["content"] == said[7]]
        assert [message["role"] for message in seen] == ["system", "user", *["assistant", "user"] * 4]
        assert card in seen[0]["content"]
        assert [message["content"] for message in seen[1:]] == [template.greeting, *said[:8]]
    hidden = [text for _, text in CARDS.values()] + GREETINGS
    assert not any(text in str(body["messages"]) for body in talks.tested for text in hidden)
    assert {body["temperature"] for body in (*talks.seeker, *talks.tested)} == {0}
    assert not any("seed" in body for body in talks.seeker)


@pytest.mark.parametrize("variant", BLOCKS)
@pytest.mark.parametrize("card", ["exam", "job"])
async def test_variant_tells_its_blocks_and_number_of_turns(variant: Variant, card: str) -> None:
    talks = await talk([card], own=RolePlayOptions(turns=2, variant=variant))
    assert len(talks.turns(card)) == 4
    template, told = RolePlayPrompts.load().seeker.template(CARDS[card][0]), talks.seeker[0]["messages"][0]["content"]
    assert told.startswith(template.role)
    assert told.endswith(CARDS[card][1])
    assert (template.plan.format(turns=2) in told, template.example in told) == ("cot" in variant, "icl" in variant)


@pytest.mark.parametrize(("role", "number", "calls"), [("seeker", 2, 5), ("tested", 1, 4)])
async def test_failed_call_is_fault_of_one_asked(role: str, number: int, calls: int) -> None:
    def fault_of(other: str) -> Callable[[int], Fault | None]:
        return lambda call: "content_filter" if (other, call) == (role, number) else None

    talks = await talk(["exam"], faults=(fault_of("seeker"), fault_of("tested")))
    assert talks.answers.select("status", "failed_role", "failure", "turns").rows() == [("failed", role, "content_filter", None)]
    # The seeker's third call is its third turn; nobody is asked after what failed.
    assert talks.steps("exam") == [(who, f"turn {turn}") for turn in (1, 2, 3) for who in BOTH][:calls]
    assert talks.responses.sort("turn")["status"].to_list() == [*["answered"] * (calls - 1), "failed"]


async def test_wordless_line_is_seekers_fault() -> None:
    talks = await talk(["exam"], lambda messages: tell(messages) if lines_so_far(messages) < 2 else "... 😢")
    assert talks.answers.select("failed_role", "failure").rows() == [("seeker", "empty_content")]
    last = talks.responses.sort("turn").row(-1, named=True)
    assert (last["role"], last["status"], last["error"]) == ("seeker", "failed", "a line without words: '... 😢'")
    assert len(talks.tested) == 2


@pytest.mark.parametrize(("card", "farewell"), [("exam", "That helps. Thanks, bye!"), ("job", "谢谢你，我好多了。再见！")])
async def test_early_goodbye_is_answered_and_ends_talk(card: str, farewell: str) -> None:
    def leaving_after(lines: int) -> Callable[[Messages], str]:
        return lambda messages: farewell if lines_so_far(messages) == lines else tell(messages)

    early, last = await talk([card], leaving_after(1)), await talk([card], leaving_after(4))
    assert [(turn["speaker"], turn["text"]) for turn in early.turns(card)][2:] == [
        ("seeker", farewell),
        ("tested", f"Tell me more about that: {farewell}"),
    ]
    assert early.steps(card)[2:] == [("seeker", "goodbye"), ("tested", "turn 2")]
    assert early.answers["status"].to_list() == ["answered"]
    # In the last turn it is in its place.
    assert last.steps(card)[8:] == [("seeker", "turn 5"), ("tested", "turn 5")]


async def test_repeated_dialogue_is_drawn_by_three_keys() -> None:
    talks, again, other = [await talk(["exam", "move"], repeat=3, model=name) for name in ("model", "model", "other")]

    def drawn(found: Talks) -> dict[tuple[str, str], tuple[float, int | None]]:
        said = {str(body["messages"]): body for body in found.seeker}
        assert len(said) == 10
        return {
            (re.sub(r"\W", "", tell(body["messages"])), str(body.get("seed"))): (body["temperature"], body.get("seed"))
            for body in found.seeker
        }

    sampled = drawn(talks)
    # Two cards of five turns: once at 0 without a seed, twice drawn, each with a seed of its own.
    assert sorted(temperature for temperature, _ in sampled.values()) == [0] * 10 + [0.7] * 20
    seeds = [seed for _, seed in sampled.values() if seed is not None]
    assert len(set(seeds)) == 20
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert sampled == drawn(again) == drawn(other)
    assert {body["temperature"] for body in talks.tested} == {0}
    warm = await talk(["exam"], sampling=Sampling(temperature=0.3, seed=7))
    # An entry's own temperature holds from the first time on, and its seed is part of those that are sent.
    assert {body["temperature"] for body in warm.seeker} == {0.3}
    assert len({body["seed"] for body in warm.seeker} - set(seeds)) == 5


LEAVES = (
    *("Bye!", "bye bye", "Thanks, bye.", "ok i have to go now, bye", "Good night", "See you later!"),
    *("Okay, thanks for listening. Goodbye!", "Goodbye. Thank you so much for your time!", "It helped a lot. I should go now."),
    *("好的，谢谢你，再见！", "再见。祝你一切顺利！", "晚安", "那我先下了，谢谢你", "我好多了。下次再聊吧", "嗯嗯，拜拜~"),
)
STAYS = (
    *("She never got to say goodbye.", "He said, goodbye.", "She texted me: bye", "“Bye.” That was all."),
    *("Goodbye, my old life.",),
    *("Bye? No, wait.", "Goodbye! Can I write again tomorrow?", "I have to go to work now.", "I see you are right."),
    *("Thank you for your support.", "Take care of her? I can't.", "Thank you, but should I leave him?", "", "..."),
    *("我连再见都没说", "他只说了一句再见。", "再见吧，我的青春", "谢谢你，祝你也一切顺利！", "我不想再见他了", "晚安他都不回"),
)


@each_row(("text", "leaves"), [*((text, True) for text in LEAVES), *((text, False) for text in STAYS)])
def test_farewell_is_sentence_of_its_own_at_end(text: str, leaves: bool) -> None:
    assert says_goodbye(text) is leaves


@needs_mirror
def test_no_line_of_the_released_dialogues_takes_leave(mirror: Path) -> None:
    files = sorted((mirror / "github.com/haidequanbu/ESC-Eval/result").rglob("*.json"))
    dialogues = [lines for file in files for lines in json.loads(file.read_text(encoding="utf-8")).values()]
    said = [line.partition("：")[2] for lines in dialogues for line in lines[1::2]]
    # 12 dialogues of a greeting and five turns; thanks and wishes at the end, and a goodbye that was never said.
    assert (len(dialogues), len(said), sum("say goodbye" in line for line in said)) == (12, 60, 1)
    assert not any(map(says_goodbye, said))
