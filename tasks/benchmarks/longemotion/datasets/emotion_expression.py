"""Emotion Expression: a situation to live through, and the twenty adjectives by which its feelings are rated first.

Source: LongEmotion, section 3.2.3; situations of EmotionBench (arXiv:2308.03656), adjectives of the PANAS questionnaire.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from schemas.context import Context, ContextOptions, LazySample
from schemas.dataset import DatasetSpec
from schemas.item import Item, Record, text_id
from schemas.vocabulary import Language
from tasks.benchmarks.longemotion.datasets.release import PAPER, longemotion_file, read_text
from tasks.datasets.catalogue import pinned_in, read_differences
from tasks.text.tokens import count_tokens

QUESTION = "Imagine that you are the person in this situation. What do you feel, and what becomes of it?"


def read_situations(records: Sequence[Record], _options: ContextOptions, _seed: int) -> Sequence[LazySample]:
    """List the samples of Emotion Expression: one per situation, in the order of the file.

    Neither the emotion that a situation is filed under, the item's subset, nor the factor is shown. A few situations occur twice;
    both are items, as in the published counts.
    """
    (panas,) = (record.fields["questions"] for record in records if record.fields.get("name") == "PANAS")
    adjectives = tuple(panas[number].strip() for number in sorted(panas, key=int))
    situations = [
        situation for record in records if record.fields.get("key") == "emotions" for situation in list_situations(record)
    ]
    return [
        LazySample(
            f"ee-{number:03d}",
            situation,
            partial(ask_to_live_through, situation, "scenario", QUESTION, adjectives),
            text_id(situation.fields["scenario"]),
        )
        for number, situation in enumerate(situations, start=1)
    ]


def list_situations(record: Record) -> Iterator[Record]:
    """Return every situation as a record of its own, whose row is its number in the file."""
    row = 0
    for emotion in record.fields["value"]:
        for factor in emotion["factors"]:
            for scenario in factor["scenarios"]:
                fields = {"emotion": emotion["name"], "factor": factor["name"], "scenario": scenario}
                yield Record(fields=fields, file=record.file, row=row)
                row += 1


def ask_to_live_through(
    record: Record, field: str, question: str, adjectives: tuple[str, ...], language: Language = "en"
) -> tuple[Item, Context]:
    """Return the item of the situation that a field of a record tells; its `emotion` is the subset."""
    situation = read_text(record.fields, field)
    item = Item(
        language=language,
        question_type="emotion_expression",
        context=situation,
        question=question,
        options=adjectives,
        subset=read_text(record.fields, "emotion"),
        fixed_order=True,
    )
    return item, Context(task="ee", tokens=count_tokens(situation))


_emotionbench_file = pinned_in("github.com/CUHK-ARISE/EmotionBench", "48f6e1b01c449c213374172b24e6a461b59cd088")

_QUESTIONNAIRES = longemotion_file("data/Emotion_Expression_Questionnaires.json", record_format="json")

EE = DatasetSpec(
    id="longemotion_ee",
    evaluation_version="1.1",
    title="LongEmotion, emotion expression",
    files=(_emotionbench_file("situations.json"), _QUESTIONNAIRES),
    file_format="json_object",
    sample_builder=read_situations,
    task="ee",
    question_types=("emotion_expression",),
    licence="situations: GPL-3.0 for the repository of EmotionBench; questionnaire: none stated",
    paper=f"{PAPER}, section 3.2.3; situations: Huang et al. 2023, arXiv:2308.03656",
    expected_rows=2,
    differences=read_differences("longemotion_ee"),
).with_alternative(
    files=(longemotion_file("data/Emotion_Expression_Situations.json"), _QUESTIONNAIRES),
)
