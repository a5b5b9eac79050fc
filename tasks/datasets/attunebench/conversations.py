"""Conversations of AttuneBench as items that show no annotation, and as rows of annotations; the entries of both sets.

Of annotations an item shows which questions apply, which replies are compared under which labels, and the options' strings.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic import ValidationError

from schemas.attunebench import ConversationGold, TurnGold, VisibleConversation
from schemas.dataset import BundledFile, DatasetSpec, PinnedFile
from schemas.item import Item, Record
from tasks.datasets.attunebench.codebook import Codebook, load_codebook
from tasks.datasets.attunebench.records import ConversationRecord
from tasks.datasets.bundled import CANARY

QUESTION = "What did the person feel and want in this conversation?"
CODEBOOK_FILE = "codebook.json"
UNSHOWN = ("participant_id", "schema_version", "profile_type")
TURNS, WHOLE = "turn_annotations", "conversation_annotations"
PANAS = ("pre_panas", "post_panas")
OPTIONS = ("q1_options", "q2_options", "q3_options")


def join_conversations(records: Sequence[Record], *, own_options: bool = False) -> list[Record]:
    """Return a record per conversation: its fields are what an item shows, the gold is hidden.

    Args:
        records: as released; one of the file codebook.json takes the place of our codebook, as far as it goes.
        own_options: whether Q1 to Q3 have the options of our codebook; else, unless one is given, those found in the set.

    Raises:
        ValueError: the given codebook is none.
    """
    given = next((record.fields for record in records if record.file == CODEBOOK_FILE), {})
    codebook = Codebook.model_validate({**load_codebook().model_dump(), **given})
    read = [_read(record, codebook) for record in records if record.file != CODEBOOK_FILE]
    if not own_options and not given.keys() >= set(OPTIONS):
        codebook = codebook.with_collected([found.wide.model_dump() for _, found in read if found])
    return [_joined(record, found, codebook) if found else record for record, found in read]


def _read(record: Record, codebook: Codebook) -> tuple[Record, ConversationRecord | None]:
    if record.faults:
        return record, None
    try:
        return record, ConversationRecord.model_validate(record.fields, context=codebook)
    except ValidationError as error:
        faults: dict[str, str] = {}
        for one in error.errors(include_url=False):
            rule = f"{'.'.join(str(part) for part in one['loc'] if not isinstance(part, int))}|{one['type']}"
            faults.setdefault(rule, f"{record.file}, row {record.row}, {'.'.join(map(str, one['loc']))}: {one['msg']}")
        return replace(record, faults=faults), None


def _joined(record: Record, found: ConversationRecord, codebook: Codebook) -> Record:
    profile = record.fields["participant_profile"]
    asked = [question for turn in found.turns for question in turn.questions]
    compared = [one.question for turn in found.turns for one in turn.comparisons]
    shown = {
        "conversation_id": found.conversation_id,
        "language": found.language,
        "topic": found.metadata.text or f"{found.metadata.category}: {found.metadata.subtopic}",
        "turns": found.turns,
        "profile": {name: value for name, value in profile.items() if name not in UNSHOWN},
        "pre_panas": found.pre_panas.recomputed,
        "codebook": codebook.shown(asked, compared),
    }
    scores = {name: str(score) for name, score in found.profile.scores.items() if score is not None}
    hidden = {
        "conversation_id": found.conversation_id,
        "participant_id": found.profile.participant_id,
        "turns": found.turns,
        **{name: getattr(found, name) for name in PANAS},
        "answers": found.wide,
        "branches": found.wide.branches,
        "groups": {**found.groups, **scores},
    }
    visible = VisibleConversation.model_validate(shown, from_attributes=True)
    gold = ConversationGold.model_validate(hidden, from_attributes=True)
    return Record(visible.model_dump(mode="json"), record.file, record.row, {"gold": gold, "groups": found.groups})


def conversation_item(record: Record) -> Item:
    """Return the item of a joined record."""
    visible = VisibleConversation.model_validate(record.fields)
    groups = record.hidden["groups"]
    return Item(
        item_id=visible.conversation_id,
        language=visible.language,
        question_type="annotation",
        question=QUESTION,
        context=visible.to_json(),
        subset=groups["topic"],
        groups=groups,
    )


def annotation_rows(record: Record) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """Return the rows of `turn_annotations` and `conversation_annotations` of a joined record."""
    gold: ConversationGold = record.hidden["gold"]
    row = gold.model_dump(exclude={"turns"})
    for name in PANAS:
        row[name]["items"] = _pairs(row[name]["items"])
    judged = [side for turn in gold.turns for one in turn.judgements for side in (one.observed, one.preferred)]
    counts = {
        "branches": _pairs(gold.branches),
        "groups": _pairs(gold.groups),
        "na_answers": judged.count("na"),
        "empty_tag_lists": sum(not turn.emotions for turn in gold.turns),
        "totals_mismatched": [name for name in PANAS if row[name]["stored"] not in (None, row[name]["recomputed"])],
    }
    return {TURNS: [turn.model_dump() for turn in gold.turns], WHOLE: [row | counts]}


def read_gold(whole: Mapping[str, Any], turns: Iterable[Mapping[str, Any]]) -> ConversationGold:
    """Return the gold of an item from its row of `conversation_annotations` and its rows of `turn_annotations`."""
    known = {name: whole[name] for name in ConversationGold.model_fields if name != "turns"}
    known |= {name: {**whole[name], "items": _mapping(whole[name]["items"])} for name in PANAS}
    known |= {name: _mapping(whole[name]) for name in ("branches", "groups")}
    in_order = sorted(turns, key=lambda turn: turn["number"])
    known["turns"] = [{name: turn[name] for name in TurnGold.model_fields} for turn in in_order]
    return ConversationGold.model_validate(known)


def _pairs(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"name": name, "value": value} for name, value in values.items()]


def _mapping(pairs: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    return {pair["name"]: pair["value"] for pair in pairs}


SAMPLE200 = PinnedFile(
    repository="github.com/Thoughtful-Lab/attunebench",
    revision="unknown",
    path="Test Samples/Sample200",
    sha256=None,
    record_format="folder",
)

ATTUNEBENCH = DatasetSpec(
    id="attunebench",
    title="AttuneBench, Sample200",
    files=(SAMPLE200,),
    file_format="folder",
    join_records=join_conversations,
    adapter=conversation_item,
    annotate=annotation_rows,
    annotation_layers=(TURNS, WHOLE),
    question_types=("annotation",),
    licence="CC BY 4.0",
    paper="AttuneBench, arXiv:2605.21739",
    required=(),
    differences=(
        "The files could not be had for this entry: no hash pins them, and what their records hold is taken from the README.",
        "Wordings of questions are our own where the folder has no codebook.json; options are then the strings found in the set.",
        "A conversation that breaks a rule of its form is left out, by the name of the rule.",
    ),
)

ATTUNEBENCH_MINI = replace(
    ATTUNEBENCH,
    id="attunebench_mini",
    title="Bundled items: annotated conversations",
    files=(BundledFile(name="attunebench_mini.jsonl"),),
    file_format=None,
    join_records=partial(join_conversations, own_options=True),
    languages=("en", "zh"),
    licence="Apache-2.0",
    paper="none: written for MoodFlow, see data/bundled/README.md",
    canary=CANARY,
    differences=("Our own conversations in place of the released ones; too few to rank models.",),
)
