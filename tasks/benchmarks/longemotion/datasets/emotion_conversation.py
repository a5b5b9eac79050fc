"""Emotion Conversation: the counselor's next reply at three points of each stage of a counselling dialogue.

Source: LongEmotion, section 3.2.3; points as in its released code. Dialogues must have four stages: corpora of single
conversations, such as CPsyCoun, would need stages first and are not read.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from schemas.context import Context, ContextOptions, LazySample, SampleBuilder
from schemas.item import Item, Record
from schemas.vocabulary import ContextTask
from tasks.benchmarks.longemotion.datasets.release import PAPER, longemotion_file, read_language, read_text, released
from tasks.text.tokens import count_tokens

STAGES: Mapping[ContextTask, str] = {
    "mc1": "reception and inquiry",
    "mc2": "diagnosis",
    "mc3": "consultation",
    "mc4": "consolidation and ending",
}
"""Titles by task, in the order of a dialogue."""

POINTS = 3
"""Checkpoints per stage, at a quarter, half and three quarters of the client's messages."""

LATEST = 3
"""Messages that are asked about; what comes before them is the context."""


def checkpoints_of(task: ContextTask, prefix: str = "") -> SampleBuilder:
    """Return the sample builder of one stage: three samples per dialogue, named after stage, dialogue and point.

    A record's `description`, the case the dialogue was written from, is not shown: the counselor knows what was said, no more.
    """

    def build_samples(records: Sequence[Record], _options: ContextOptions, _seed: int) -> Sequence[LazySample]:
        return [
            LazySample(
                f"{prefix}{task}-{name}-{point}", record, partial(_build_checkpoint, record, task, point), f"dialogue {name}"
            )
            for record, name in ((record, record.fields["id"]) for record in records)
            for point in range(1, POINTS + 1)
        ]

    return build_samples


def _build_checkpoint(record: Record, task: ContextTask, point: int) -> tuple[Item, Context]:
    """Return the item at one point (1 to 3) of a stage: what was said up to and including a message of the client.

    Of the client's n messages it is number n x point div 4, counted from 0. The question is the last three messages (fewer where
    the dialogue has only begun), the context all before them. Its reference, which no model is shown, is the counselor's next
    message; none if the stage ends here.
    """
    stages, stage = record.fields["stages"], list(STAGES).index(task)
    earlier = [message for earlier_stage in stages[:stage] for message in _read_messages(earlier_stage)]
    current = _read_messages(stages[stage])
    of_client = [index for index, message in enumerate(current) if message.startswith("Client: ")]
    index = of_client[len(of_client) * point // (POINTS + 1)]
    messages = earlier + current[: index + 1]
    gold = [
        message.removeprefix("Counselor: ") for message in current[index + 1 : index + 2] if message.startswith("Counselor: ")
    ]
    context, question = "\n".join(messages[:-LATEST]), "\n".join(messages[-LATEST:])
    item = Item(
        language=read_language(record),
        question_type="counselor_reply",
        context=context,
        question=question,
        references=tuple(gold) or None,
        subset=read_text(stages[stage], "stage"),
    )
    return item, Context(task=task, tokens=count_tokens(context))


def _read_messages(stage: Mapping[str, Any]) -> list[str]:
    """Return the messages of a stage, each on one line, with who says it."""
    return [f"{message['role']}: {' '.join(read_text(message, 'context').splitlines())}" for message in stage["conversations"]]


EMOTION_CONVERSATION = tuple(
    released(
        id=f"longemotion_{task}",
        evaluation_version="1.1",
        title=f"LongEmotion, emotion conversation: {title}",
        files=(longemotion_file("data/Emotion_Conversations.jsonl"),),
        sample_builder=checkpoints_of(task),
        task=task,
        question_types=("counselor_reply",),
        paper=f"{PAPER}, section 3.2.3",
        expected_rows=100,
        differences=(
            "The case description that most dialogues were written from is not shown; the released code leaves it out, too.",
        ),
    )
    for task, title in STAGES.items()
)
