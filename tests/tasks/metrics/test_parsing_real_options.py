"""Options of real datasets, read in place: whatever they look like, an answer that repeats one is read as that one."""

from collections import Counter
from collections.abc import Iterator, Sequence

import pytest

from schemas.item import option_letters
from tasks.datasets.catalogue import find_dataset
from tasks.metrics.answer_forms import FORMS, Question, read_answer
from tasks.solvers.state import says_something
from tests.flows.scripted import built
from tests.mirror import MIRROR, needs_mirror, ready
from tests.tasks.metrics.reply_styles import STYLES, part_of

CLOSED = 50
"""Datasets here whose items have options; the other six ask for words."""

SAMPLES = pytest.mark.parametrize(("step", "sample"), [(3, 4), pytest.param(1, 1000, marks=pytest.mark.long)])
"""One dataset in so many, and items of each."""

MOST_UNREAD = 0.005
"""Of the replies in all styles, per dataset."""


def questions(name: str, sample: int) -> Iterator[Question]:
    """Items of a dataset that have options, spread over all it has."""
    rows = built(find_dataset(name), MIRROR).items
    for row in rows.gather_every(max(1, rows.height // sample)).iter_rows(named=True):
        question = Question.from_row(row)
        if question.form != "text":
            yield question


def choices(question: Question) -> list[list[int]]:
    """What a model that knows the item names, and what one names that is wrong throughout; of a ranking its best alone, too."""
    right = list(FORMS[question.form].right(question))
    others = [index for index in range(len(question.options)) if index not in right]
    if question.form in {"letter", "scale"}:
        return [right, others[:1]]
    return [right, right[::-1], right[:1]] if question.form == "ranking" else [right, others]


def read_styles(question: Question, chosen: Sequence[int]) -> Iterator[tuple[str, str, Sequence[int] | None]]:
    """Each style with the reply and the options that are read in it."""
    letters, texts = option_letters(len(question.options)), [text.strip() for text in question.options]
    parts = [part_of(text, texts) for text in texts]
    for style, write in STYLES.items():
        reply = write(*([of[index] for index in chosen] for of in (letters, texts, parts)))
        # Of two options of LogiQA the text is "C": whoever replies so means the letter.
        if style == "option text" and reply in letters:
            continue
        answer = read_answer(question, reply)
        yield style, reply, None if answer is None else answer.indices


@needs_mirror
@SAMPLES
def test_replies_in_every_style_name_their_option(step: int, sample: int) -> None:
    asked, unread, misread = Counter[str](), Counter[str](), list[tuple[str, str, str]]()
    for name in ready()[::step]:
        for question in questions(name, sample):
            for chosen in choices(question):
                named = tuple(sorted(chosen)) if FORMS[question.form].is_set else tuple(chosen)
                for style, reply, read in read_styles(question, chosen):
                    asked[name] += 1
                    unread[name] += read is None
                    misread += [(name, style, reply)] if read not in {None, named} else []
    assert misread == []
    assert len(asked) == CLOSED if step == 1 else len(asked) > CLOSED / 4
    assert {name: unread[name] / asked[name] for name in asked if unread[name] > MOST_UNREAD * asked[name]} == {}


def spoiled(question: Question) -> Iterator[str]:
    """The right letter with a text of another option, both letters, and the right text denied."""
    right, texts = FORMS[question.form].right(question)[0], [text.strip() for text in question.options]
    letters, other = option_letters(len(texts)), 0 if right else 1
    part = part_of(texts[other], texts)
    # "The" of "The man" names nobody: only whole clauses, and those that say something.
    is_clause = says_something(part) and texts[other].removeprefix(part)[:1] in tuple(",:;.，：；。(（")
    beside = [texts[other], part] if is_clause else [texts[other]]
    yield from (f"{letters[right]}. {text}" for text in beside if text.casefold() not in texts[right].casefold())
    beside = [f"not {part_of(texts[right], texts)}"]
    if question.form in {"letter", "scale"}:
        beside += [f"{letters[right]} or {letters[other]}", f"{letters[other]}, {letters[right]}"]
    # "not all teachers" and "A, C" may be what another option says.
    yield from (reply for reply in beside if not any(_bare(reply) in _bare(text) for text in texts))


def _bare(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


@needs_mirror
@SAMPLES
def test_no_wrong_or_double_answer_is_right(step: int, sample: int) -> None:
    asked = (question for name in ready()[::step] for question in questions(name, sample))
    replies = [(question, reply) for question in asked for reply in spoiled(question)]
    assert len(replies) > CLOSED
    assert [(reply, question.options) for question, reply in replies if read_answer(question, reply) is not None] == []
