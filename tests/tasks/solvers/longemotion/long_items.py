"""Items of every task of LongEmotion, short enough to be seen through."""

from collections.abc import Iterable

from schemas.context import Context
from schemas.item import Item
from schemas.retrieval import Chunk
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


TOWER = "The tower is {old}.\nMara lost her letter.\nRain fell.\nMara wept."
EC = long_item(
    "ec_emobench",
    Item(
        language="en",
        question_type="label_choice",
        context=TOWER,
        question="What does Mara end up feeling?",
        options=("Relief", "Sadness & Guilt", "Pride"),
        gold_indices=(1,),
    ),
    "Mara",
)
FIRM = long_item(
    "ec_finentity",
    Item(
        language="en",
        question_type="label_choice",
        context="Acorn Ltd grew.\nThe sun set.",
        question="What is the tone towards Acorn Ltd?",
        options=("Positive", "Neutral", "Negative"),
        gold_indices=(0,),
    ),
    "Acorn Ltd",
)
SEGMENTS = (
    *(f"calm morning number{number} by the lake" for number in range(4)),
    'He "shook" with dread',
    *(f"calm morning number{number} by the lake" for number in range(5, 10)),
)
ED = long_item(
    "ed",
    Item(
        language="en",
        question_type="odd_one_out",
        question="Which segment expresses another emotion?",
        options=SEGMENTS,
        gold_indices=(4,),
    ),
)
QA = long_item(
    "qa",
    Item(
        language="en",
        question_type="extractive",
        context="\n".join(f"Line {number} tells of topic{number}." for number in range(20)) + "\nFear fades by exposure.",
        question="By what does fear fade?",
        references=("exposure",),
    ),
)
ES = long_item(
    "es",
    Item(
        language="en",
        question_type="aspect_summary",
        context="\n".join(f"Session {number} went well." for number in range(12)),
        question="Sum up the report.",
        references=("a", "b", "c", "d", "e"),
    ),
)
HISTORY = "\n".join(f"Client: worry {number}\nCounselor: noted {number}" for number in range(12))
LAST = "Client: my exam\nCounselor: tell me\nClient: worry 3 is back"
MC = long_item("mc4", Item(language="en", question_type="counselor_reply", context=HISTORY, question=LAST))
EE = long_item(
    "ee",
    Item(
        language="en",
        question_type="emotion_expression",
        context="Your train leaves without you.",
        question="Live through this.",
        options=("Upset", "Proud"),
    ),
)
