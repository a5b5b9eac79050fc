"""A prompt that was cut is told by what the server counted; a whole one never is."""

from schemas.chat import ChatReply
from tasks.models.long_prompts import LongPrompt, find_pinned, is_cut
from tests.rows import each_row
from tests.tasks.models.making_calls import request

WORDS = "the boat came home again at night"


@each_row(
    ("text", "tokens", "cut"),
    [
        # 7,000 words, and 0.9 tokens of each
        (f"{WORDS} " * 1000, 6301, False),
        (f"{WORDS} " * 1000, 6299, True),
        # 9,000 signs, a third of a token of each
        ("春风又绿江南岸明月" * 1000, 3001, False),
        ("春风又绿江南岸明月" * 1000, 2999, True),
        # what the most frugal tokenizers count of text without many words
        ("very " * 2000, 2001, False),
        ("哈" * 8000, 2000, False),
        (" " * 80_000, 640, False),
        ("a" * 8000, 1000, False),
        ("\n" * 20_000 + "x", 625, False),
        # a stand-in, what a cache did not hold, nothing
        (f"{WORDS} " * 1000, 511, False),
        (f"{WORDS} " * 1000, None, False),
    ],
)
def test_fewer_tokens_than_a_text_can_have(text: str, tokens: int | None, cut: bool) -> None:
    assert is_cut(request(text), ChatReply(text="B", prompt_tokens=tokens)) is cut


def test_what_failed_was_not_cut() -> None:
    assert not is_cut(request(WORDS * 9000), ChatReply(failure="length", prompt_tokens=4096))


def prompts(*pairs: tuple[int, int], asked: str = "m") -> dict[str, LongPrompt]:
    """Prompts of so many words, six characters each, and the tokens that were counted."""
    return {
        f"{asked}{place}": LongPrompt((asked, asked), words * 6, words * 0.9, tokens)
        for place, (words, tokens) in enumerate(pairs)
    }


@each_row(
    ("given", "pinned"),
    [
        # longer by a quarter and more, all with the largest count there is
        (prompts((3500, 4096), (4000, 4096), (4500, 4096), (900, 1200)), {"m0", "m1", "m2"}),
        # one that was cut for sure shows the window; a prompt of 40 words cannot have been cut at it
        (prompts((9000, 4096), (3500, 4096), (40, 4096), (3000, 3900)), {"m0", "m1"}),
        # of much the same length, two only, not the largest, smaller than any window by default
        (prompts((3500, 4096), (3600, 4096), (3700, 4096)), set()),
        (prompts((3500, 4096), (4500, 4096)), set()),
        (prompts((2500, 3000), (3000, 3000), (3300, 3000), (3500, 4000)), set()),
        (prompts((600, 800), (700, 800), (800, 800)), set()),
        # another model has another window
        (prompts((3500, 4096), (4000, 4096)) | prompts((4500, 4096), asked="n"), set()),
    ],
)
def test_one_count_of_prompts_of_different_length(given: dict[str, LongPrompt], pinned: set[str]) -> None:
    assert find_pinned(given) == pinned
