"""How items are shown: orders of options, and where those longer than the model's context are cut and asked again."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.api_capabilities import Sampling
from schemas.chat import ChatMessage, ChatReply, ChatRequest, ModelEntry
from schemas.item import Item
from schemas.vocabulary import Language, TooLong
from tasks.models.http.error_patterns import stated_tokens
from tasks.solvers.infer_job import InferJob
from tasks.solvers.presentation import (
    MARKS,
    MOST_TRIES,
    TRUNCATION_VERSION,
    choose_length,
    option_orders,
    show_in_order,
    solve_within_context,
    truncate,
)
from tasks.solvers.state import Call, SolverCode, SolverOptions, SolverPlan
from tests.probed_server import SmallContext, Wording, stated, unstated
from tests.rows import each_row
from tests.tasks.models.making_calls import Pauses, client, entry
from tests.tasks.rows import partition
from tests.tasks.solvers.asking import ask_item


def row(**changed: Any) -> dict[str, Any]:
    return {
        "dataset": "any",
        "item_id": "any-1",
        "question_type": "single_choice",
        "options": ["ant", "bee", "cow"],
        "fixed_order": False,
        **changed,
    }


def test_cyclic_orders_place_each_option_everywhere() -> None:
    orders = option_orders(row(), 3, 7)
    for place in range(3):
        assert sorted(order[place] for order in orders if order) == [0, 1, 2]
    # Further orders repeat the first ones; without any an item is asked once as it is.
    assert option_orders(row(), 5, 7) == (*orders, *orders[:2])
    assert option_orders(row(), 0, 7) == (None,)


def test_seed_and_item_draw_first_order() -> None:
    drawn = {option_orders(row(item_id=f"any-{number}"), 1, 7) for number in range(60)}
    assert len(drawn) == 6  # all orders of three options
    assert option_orders(row(), 1, 7) == option_orders(row(), 1, 7)
    assert {option_orders(row(), 1, seed) for seed in range(60)} == drawn


@pytest.mark.parametrize("changed", [{"fixed_order": True}, {"question_type": "questionnaire"}, {"question_type": "ranking"}])
def test_other_items_keep_their_order(changed: dict[str, Any]) -> None:
    assert option_orders(row(**changed), 3, 7) == (None, None, None)


def test_shown_options_are_those_of_the_order() -> None:
    item = Item(language="en", question_type="single_choice", question="?", options=("ant", "bee", "cow"), gold_indices=(0,))
    shown = show_in_order(item, (2, 0, 1))
    assert shown.options == ("cow", "ant", "bee")
    assert shown.gold_indices == (0,)
    assert show_in_order(item, None) == item


SENTENCES = " ".join(f"Sentence {number:03}." for number in range(100))
"""1,399 characters: each sentence has 13, and a blank after it."""


def item(context: str | None = SENTENCES, *, language: Language = "en", question: str = "Which is it?") -> Item:
    return Item(
        language=language,
        question_type="single_choice",
        question=question,
        options=("one", "two"),
        context=context,
        gold_indices=(1,),
    )


def sentences(first: int, last: int) -> str:
    return " ".join(f"Sentence {number:03}." for number in range(first, last + 1))


HAPPY = "我今天很高兴。"
MELLOW = " ".join(["mellow"] * 14)


@each_row(
    ("whole", "length", "too_long", "shown", "left_out"),
    [
        # The mark has 36 characters and a line end on each side, which leaves 231 at the beginning and 231 at the end.
        # 16 sentences have 223 characters, 17 have 237.
        (item(), 500, "cut_middle", f"{sentences(0, 15)}\n{MARKS['en']}\n{sentences(84, 99)}", 1399 - 223 - 223),
        # 462 characters are left for the end; 33 sentences have 461.
        (item(), 500, "cut_start", f"{MARKS['en']}\n{sentences(67, 99)}", 1399 - 461),
        # The Chinese mark has 11 characters: 200 - 11 - 2 = 187, so 93 and 94 for the halves. 13 sentences of 7 have 91.
        (
            *(item(HAPPY * 100, language="zh"), 200, "cut_middle"),
            *(f"{HAPPY * 13}\n{MARKS['zh']}\n{HAPPY * 13}", 700 - 2 * 91),
        ),
        # Without sentences between words: 100 characters for each half, 14 words of 6 letters and the blanks between them are 97.
        (item("mellow " * 200), 238, "cut_middle", f"{MELLOW}\n{MARKS['en']}\n{MELLOW} ", 1400 - 97 - 98),
        # In Chinese between characters; one endless word where the room ends.
        (item("安" * 900, language="zh"), 213, "cut_middle", f"{'安' * 100}\n{MARKS['zh']}\n{'安' * 100}", 700),
        (item("x" * 1000), 238, "cut_middle", f"{'x' * 100}\n{MARKS['en']}\n{'x' * 100}", 800),
    ],
)
def test_where_a_context_is_cut(whole: Item, length: int, too_long: TooLong, shown: str, left_out: int) -> None:
    cut = truncate(whole, length, too_long)
    assert cut is not None
    assert (cut[0].context, cut[1]) == (shown, left_out)


@pytest.mark.parametrize("length", [-500, 0, 38])
def test_no_room_leaves_nothing_to_ask(length: int) -> None:
    assert truncate(item(), length, "cut_middle") is None


@given(
    context=st.text(alphabet="ab .\n。安，x", min_size=50, max_size=900),
    length=st.integers(min_value=-10, max_value=1000),
    too_long=st.sampled_from(("cut_middle", "cut_start")),
    language=st.sampled_from(("en", "zh")),
)
def test_shortened_text_fits_and_lacks_one_piece(context: str, length: int, too_long: TooLong, language: Language) -> None:
    whole = item(context, language=language)
    cut = truncate(whole, length, too_long)
    if cut is None:
        return
    shortened, left_out = cut
    shown = str(shortened.context)
    assert len(shown) <= length
    assert shortened.model_copy(update={"context": context}) == whole
    head, _, tail = shown.partition(MARKS[language])
    head, tail = head.removesuffix("\n"), tail.removeprefix("\n")
    assert context.startswith(head)
    assert context.endswith(tail)
    assert left_out == len(context) - len(head) - len(tail) > 0
    assert too_long == "cut_middle" or head == ""


def refused(error: str, *, prompt: int | str = 1000, max_tokens: int = 20) -> Call:
    messages = (ChatMessage(role="user", content=prompt if isinstance(prompt, str) else "x" * prompt),)
    request = ChatRequest("m", "here", messages, Sampling(max_tokens=max_tokens))
    return Call(request, ChatReply(failure="context_too_long", error=error))


@pytest.mark.parametrize(
    ("error", "max_tokens", "expected"),
    [
        # 120 tokens of context, 20 for the reply: room for 100 of the prompt's 400, of which 97 are used, since tokens per
        # character differ. 1,000 characters x (1 - 97/400) = 757.5 have to go, all from the context's 800.
        (stated(400, 120), 20, 42),
        # A reply longer than the whole context leaves half of it: 60 tokens, 58.2 of them used. 1,000 x (1 - 58.2/400) = 854.5.
        (stated(400, 120), 5000, -54),
        # A little too long by the estimate: at least 5 % go. 1,000 x (1 - 0.97 x 397/400) = 37.3 would leave 762.
        (stated(400, 417), 20, 760),
        # Tokens that do not explain the refusal, and no tokens at all: three quarters.
        (stated(90, 120), 20, 600),
        (unstated(400, 120), 20, 600),
        # Only the limit: no more than 8 characters per token, 8 x 100 for the whole prompt, 200 of which are not context.
        ("your request exceeded model token limit: 120", 20, 600),
        ("your request exceeded model token limit: 70", 20, 200),
    ],
)
def test_how_much_is_kept(error: str, max_tokens: int, expected: int) -> None:
    assert choose_length(refused(error, max_tokens=max_tokens), 800) == expected


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("maximum context length is 4097 tokens, however you requested 4353 tokens (4097 in your prompt; 256 for it)", 4097),
        ("maximum context length is 16,384 tokens. You requested 122,946 tokens (112,946 in the messages, 10,000 in it)", 112946),
        ("maximum context length is 4097 tokens. However, your messages resulted in 4500 tokens.", 4500),
        ("maximum context length is 2048 tokens. However, your request has 8000 input tokens.", 8000),
        ("You requested a total of 5000 tokens: 4900 tokens from the input messages and 100 tokens for it.", 4900),
        ("The input (5000 tokens) is longer than the model's context length (4096 tokens).", 5000),
        ("request (9010 tokens) exceeds the available context size (8192 tokens), try increasing it", 9010),
        ("prompt is too long: 204000 tokens > 200000 maximum", 204000),
        ("input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000", 188240),
        ("The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).", 1048577),
        ("Requested tokens (2285) exceed context window of 2048", 2285),
        ("Range of input length should be [1, 30720]", None),
        ("your request exceeded model token limit: 8192", None),
    ],
)
def test_tokens_of_prompt_are_read_from_refusal(error: str, expected: int | None) -> None:
    assert stated_tokens("prompt_tokens", error) == expected


async def ask(server: SmallContext, asked: Item, too_long: TooLong) -> tuple[tuple[Call, ...], list[ChatRequest]]:
    model = entry(server.base_url).model_copy(update={"sampling": Sampling(max_tokens=16)})
    sent: list[ChatRequest] = []

    async with client(model, Pauses()) as chat:

        async def noted(request: ChatRequest) -> ChatReply:
            sent.append(request)
            return await chat(request)

        async def once(shown: Item) -> tuple[Call, ...]:
            return (await ask_item(shown, model, noted),)

        return await solve_within_context(asked, too_long, once), sent


@pytest.mark.parametrize("too_long", ["cut_middle", "cut_start"])
@pytest.mark.parametrize(("wording", "most"), [(stated, 3), (unstated, MOST_TRIES + 1)])
async def test_long_item_is_asked_as_it_fits(wording: Wording, most: int, too_long: TooLong) -> None:
    with SmallContext(120, wording) as server:
        (call,), sent = await ask(server, item(), too_long)
    assert (call.reply.text, call.reply.failure) == ("B", None)
    assert 2 <= len(server.prompts) <= most
    assert call.request == sent[-1]
    assert len({request.key for request in sent}) == len(sent)
    prompt = call.request.messages[0].content
    assert server.prompts[-1] == prompt
    assert prompt.endswith("Question: Which is it?\nA. one\nB. two\n\nReply with the letter of the right option only.")
    assert "Sentence 099." in prompt
    assert ("Sentence 000." in prompt) == (too_long == "cut_middle")
    # Every sentence has 13 characters and a blank: what is not in the prompt was left out, no more and no less.
    assert call.left_out_characters + 14 * prompt.count("Sentence") - (2 if too_long == "cut_middle" else 1) == 1399
    # Most of what there is room for is used: 120 words, 16 kept free for the reply.
    assert wording is unstated or 85 <= len(prompt.split()) <= 120


@pytest.mark.parametrize("wording", [stated, unstated])
@pytest.mark.parametrize(
    ("asked", "too_long"),
    [
        # By default; where there is nothing to cut; where what is left would be nothing.
        (item(), "missing"),
        (item(None, question="why? " * 300), "cut_middle"),
        (item("Too short.", question="why? " * 300), "cut_middle"),
    ],
)
async def test_uncut_item_is_asked_once_and_missing(asked: Item, too_long: TooLong, wording: Wording) -> None:
    with SmallContext(120, wording) as server:
        (call,), sent = await ask(server, asked, too_long)
    assert (call.reply.failure, call.left_out_characters, len(sent)) == ("context_too_long", 0, 1)


async def test_an_item_that_fits_is_asked_whole() -> None:
    with SmallContext(1000) as server:
        (call,), sent = await ask(server, item(), "cut_middle")
    assert (call.reply.text, call.left_out_characters, len(sent)) == ("B", 0, 1)
    assert SENTENCES in server.prompts[0]


async def test_tries_end() -> None:
    with SmallContext(1, unstated) as server:
        (call,), sent = await ask(server, item(SENTENCES * 20), "cut_start")
    assert call.reply.failure == "context_too_long"
    assert len(sent) == 1 + MOST_TRIES
    assert call.request == sent[-1]
    assert call.left_out_characters > 0


@pytest.mark.parametrize(
    "ended",
    [
        [refused("too long", prompt=SENTENCES), refused("")._replace(reply=ChatReply(failure="auth", error="HTTP 401: no"))],
        [refused("too long", prompt=SENTENCES)._replace(role="sage")],
        [refused("a dialogue is too long")],
    ],
    ids=[
        "another failure of a shortened call is the item's",
        "what a helper finds too long is not asked again",
        "a call without the context gets no shorter with it",
    ],
)
async def test_where_no_further_try_can_help(ended: list[Call]) -> None:
    asked: list[Item] = []

    async def once(shown: Item) -> tuple[Call, ...]:
        asked.append(shown)
        return (ended[len(asked) - 1],)

    (call,) = await solve_within_context(item(), "cut_start", once)
    assert call.reply == ended[-1].reply
    assert (len(asked), call.left_out_characters > 0) == (len(ended), len(ended) > 1)


ITEMS = partition("items")


def test_cutting_policy_is_part_of_key() -> None:
    model = ModelEntry(name="m", base_url="http://localhost/v1")
    keys = {
        policy: InferJob(
            {"tested": model}, SolverOptions("base", too_long=policy), SolverPlan(SolverCode("1")), ITEMS
        ).keys.responses
        for policy in get_args(TooLong)
    }
    assert "too_long" not in keys["missing"].settings
    assert len({key.fingerprint for key in keys.values()}) == 3
    assert keys["cut_start"].settings["too_long"] == {"policy": "cut_start", "version": TRUNCATION_VERSION}


def test_the_marks_of_this_version() -> None:
    # Another text asks something else: bump the version with it.
    assert (TRUNCATION_VERSION, MARKS) == ("1", {"en": "[Part of the text is left out here.]", "zh": "【此处省略了部分原文】"})
