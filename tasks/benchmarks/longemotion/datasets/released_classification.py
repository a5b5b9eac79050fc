"""Emotion classification as LongEmotion released it, with texts that do not say where their needle lies.

Field names changed between releases: `content` was `context`, `subject` was `Subject`, and choices may be a JSON string.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from schemas.context import Context, ContextOptions, LazySample, SampleBuilder
from schemas.item import Item, Record, text_id
from schemas.vocabulary import ContextTask
from tasks.benchmarks.longemotion.datasets.emotion_classification import ask_feeling, ask_tone
from tasks.benchmarks.longemotion.datasets.release import BY_MD5, PAPER, longemotion_file, one_per_record, read_text, released
from tasks.benchmarks.longemotion.needle.needles import placed_needle
from tasks.benchmarks.moodbench.datasets.emotional_situations import UPSTREAM
from tasks.datasets.catalogue import read_differences
from tasks.text.tokens import count_tokens


def read_released(task: ContextTask) -> SampleBuilder:
    """Return the sample builder of a released file's records; English records of EmoBench among them serve to find needles."""

    def build_samples(records: Sequence[Record], options: ContextOptions, seed: int) -> Sequence[LazySample]:
        scenarios = [record for record in records if "scenario" in record.fields]
        released = [record for record in records if "scenario" not in record.fields]
        english = [record for record in scenarios if record.fields.get("language") == "en"]
        by_id, build = lambda record: f"{task}-{record.fields['id']}", partial(_build, task, english)
        return one_per_record(by_id, build, partial(_find_cluster, english))(released, options, seed)

    return build_samples


def _build(task: ContextTask, scenarios: Sequence[Record], record: Record) -> tuple[Item, Context]:
    """Raises: LookupError, TypeError, ValueError: a field is missing, empty or not of its type."""
    fields = record.fields
    name = "content" if "content" in fields else "context"
    read_text(fields, name)
    text = fields[name]  # with the white space around it, since spans count it
    subject = read_text(fields, "subject" if "subject" in fields else "Subject")
    choices, label = _read_choices(fields["choices"]), read_text(fields, "label")
    if scenario := find_scenario(text, subject, scenarios):
        context = placed_needle(task, text, text.index(scenario[0]), *scenario)
    else:
        context = Context(task=task, tokens=count_tokens(text))
    source = fields.get("source")
    item = Item(
        question_type="label_choice",
        # A passage that is not found has no opening words to name it by.
        question=ask_tone(subject, None) if task == "ec_finentity" else ask_feeling(subject, context.needle),
        context=text,
        options=choices,
        gold_indices=(choices.index(label),) if label in choices else None,
    )
    return item, context.model_copy(update={"query": subject, "haystack": source if isinstance(source, str) else None})


def _find_cluster(scenarios: Sequence[Record], record: Record) -> str | None:
    scenario = find_scenario(str(record.fields.get("content", record.fields.get("context"))), "", scenarios)
    return text_id(scenario[0]) if scenario else None


def _read_choices(value: Any) -> tuple[str, ...]:
    """Return the choices: a list of texts, or a JSON string of one."""
    choices = json.loads(value) if isinstance(value, str) else value
    if not isinstance(choices, list) or not all(isinstance(choice, str) for choice in choices):
        raise TypeError("choices are not a list of texts")
    return tuple(choice.strip() for choice in choices)


def find_scenario(text: str, subject: str, scenarios: Sequence[Record]) -> tuple[str, str | None] | None:
    """Find the one scenario that stands in a text once, letter for letter, and its name, if one question has the subject.

    Null if there is none, as where names were adjusted, or several.
    """
    texts = {record.fields["scenario"].strip() for record in scenarios}
    matches = [scenario for scenario in texts if scenario and text.count(scenario) == 1]
    if len(matches) != 1:
        return None
    questions = [record for record in scenarios if record.fields["scenario"].strip() == matches[0]]
    names = [record.fields["qid"] for record in questions if record.fields["subject"].strip() == subject]
    return matches[0], names[0] if len(names) == 1 else None


EC_EMOBENCH_RELEASED = released(
    id="longemotion_ec_emobench_released",
    evaluation_version="1.1",
    title="LongEmotion, emotion classification of EmoBench scenarios, released file",
    files=(
        longemotion_file("data/Emotion_Classification_Emobench.jsonl", None, md5="f4a57874680c07ce32a15202b4d6ec51"),
        UPSTREAM.model_copy(update={"record_format": "jsonl"}),
    ),
    sample_builder=read_released("ec_emobench"),
    task="ec_emobench",
    question_types=("label_choice",),
    paper=f"{PAPER}, section 3.2.1",
    required=("id", "label", "choices"),
    differences=(BY_MD5, *read_differences("longemotion_ec_emobench_released")),
)

EC_FINENTITY_RELEASED = replace(
    EC_EMOBENCH_RELEASED,
    id="longemotion_ec_finentity_released",
    evaluation_version="1.0",
    title="LongEmotion, emotion classification of FinEntity reports, released file",
    files=(longemotion_file("data/Emotion_Classification_Finentity.jsonl", None, md5="4679bb7ab038f9cf30d6c3fd8c235038"),),
    sample_builder=read_released("ec_finentity"),
    task="ec_finentity",
    differences=(BY_MD5,),
)
