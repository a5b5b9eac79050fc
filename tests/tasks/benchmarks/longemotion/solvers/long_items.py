"""Items of every task of LongEmotion, short enough to be seen through."""

from collections.abc import Iterable
from typing import Any

from schemas.context import Chunk, Context
from schemas.item import Item
from schemas.question_types import QuestionType
from schemas.vocabulary import ContextTask
from tasks.solvers.state import AskedItem


def chunks_of(texts: Iterable[str]) -> tuple[Chunk, ...]:
    """One chunk per text that is not blank; every character counts as a token, every text is followed by a line end."""
    found, start = list[Chunk](), 0
    for text in texts:
        if text.strip():
            found.append(Chunk(len(found), text, start, start + len(text), start, start + len(text)))
        start += len(text) + 1
    return tuple(found)


def long_item(task: ContextTask, item: Item, query: str | None = None) -> AskedItem:
    """An item whose chunks are the lines of its context, or its segments."""
    texts = item.options or () if task == "ed" else (item.context or "").splitlines()
    chunks = chunks_of(texts) if task != "ee" else ()
    return AskedItem(f"{task}-1", item, Context(task=task, query=query, tokens=100), chunks)


def asked(task: ContextTask, question_type: QuestionType, question: str, query: str | None = None, **fields: Any) -> AskedItem:
    """An English item of a task."""
    return long_item(task, Item(question_type=question_type, question=question, **fields), query)


TOWER = "The tower is {old}.\nMara lost her letter.\nRain fell.\nMara wept."
MOODS = ("Relief", "Sadness & Guilt", "Pride")
EC = asked(
    *("ec_emobench", "label_choice", "What does Mara end up feeling?", "Mara"), context=TOWER, options=MOODS, gold_indices=(1,)
)
FIRM = asked(
    *("ec_finentity", "label_choice", "What is the tone towards Acorn Ltd?", "Acorn Ltd"),
    context="Acorn Ltd grew.\nThe sun set.",
    options=("Positive", "Neutral", "Negative"),
    gold_indices=(0,),
)
CALM = [f"calm morning number{number} by the lake" for number in range(10)]
SEGMENTS = (*CALM[:4], 'He "shook" with dread', *CALM[5:])
ED = asked("ed", "odd_one_out", "Which segment expresses another emotion?", options=SEGMENTS, gold_indices=(4,))
TOPICS = "\n".join(f"Line {number} tells of topic{number}." for number in range(20))
QA = asked(
    *("qa", "extractive", "By what does fear fade?"), context=f"{TOPICS}\nFear fades by exposure.", references=("exposure",)
)
SESSIONS = "\n".join(f"Session {number} went well." for number in range(12))
ES = asked("es", "aspect_summary", "Sum up the report.", context=SESSIONS, references=("a", "b", "c", "d", "e"))
HISTORY = "\n".join(f"Client: worry {number}\nCounselor: noted {number}" for number in range(12))
LAST = "Client: my exam\nCounselor: tell me\nClient: worry 3 is back"
MC = asked("mc4", "counselor_reply", LAST, context=HISTORY)
EE = asked(
    *("ee", "emotion_expression", "Live through this."), context="Your train leaves without you.", options=("Upset", "Proud")
)
