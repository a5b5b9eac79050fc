"""Conversations of AttuneBench as items and as rows of annotations; the entries of both sets.

An item shows no annotation but which questions apply, which replies are compared under which labels, and the options' strings.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from schemas.dataset import BundledFile, DatasetSpec, PinnedFile
from schemas.item import Item, Record
from tasks.benchmarks.attunebench.benchmark import TURNS, WHOLE
from tasks.benchmarks.attunebench.conversation import ConversationGold, PanasTotals, TurnGold, VisibleConversation
from tasks.benchmarks.attunebench.datasets.codebook import Codebook, load_codebook, read_official
from tasks.benchmarks.attunebench.datasets.records import RecordReader
from tasks.benchmarks.moodbench.bundled import CANARY
from tasks.datasets.catalogue import read_differences
from tasks.sources.files import CODEBOOK_FILE as OFFICIAL_CODEBOOK

QUESTION = "What did the person feel and want in this conversation?"
CODEBOOK_FILE = "codebook.json"
UNSHOWN = ("participant_id", "schema_version", "profile_type")
PANAS = ("pre_panas", "post_panas")
OPTIONS = ("q1_options", "q2_options", "q3_options")


def join_conversations(records: Sequence[Record], *, own_options: bool = False) -> list[Record]:
    """Return a record per conversation: its fields are what an item shows, the gold is hidden.

    Wordings of the official codebook replace ours, and codebook.json replaces both in what it holds; ValueError: a codebook is
    none. With `own_options` Q1 to Q3 have the options of our codebook, else those of codebook.json, or of the set.
    """
    given, official = (_fields_of(records, name) for name in (CODEBOOK_FILE, OFFICIAL_CODEBOOK))
    ours, questions = load_codebook().model_dump(), list(read_official(official))
    if official and not questions:
        raise ValueError(f"{OFFICIAL_CODEBOOK} has no question with a text")
    ours["pairwise"] |= {name: text for name, text, _ in questions}
    ours["questions"] |= {name: {"observer": seen, "participant": text} for name, text, seen in questions if seen}
    codebook = Codebook.model_validate({**ours, **given})
    read = [_read(record) for record in records if record.file not in (CODEBOOK_FILE, OFFICIAL_CODEBOOK)]
    if not own_options and not given.keys() >= set(OPTIONS):
        codebook = codebook.with_collected([record.hidden["gold"].answers for record in read if record.hidden])
    return [_joined(record, codebook) if record.hidden else record for record in read]


def _fields_of(records: Sequence[Record], name: str) -> Mapping[str, Any]:
    """Return the fields of a codebook; none if there is no file of this name."""
    record = next((record for record in records if record.file == name), Record({}, name, 0))
    if record.faults:
        raise ValueError("; ".join(record.faults.values()))
    return record.fields


def _read(record: Record) -> Record:
    """Return what is visible as fields, and the gold and the remarks as hidden; or the record with its faults."""
    if record.faults:
        return record
    reader = RecordReader()
    gold, visible, groups = reader.read(record.fields)
    if reader.faults:
        row = f"{record.file}, row {record.row}"
        return replace(record, faults={rule: f"{row}, {rule.partition('|')[0]}: {why}" for rule, why in reader.faults.items()})
    return Record(visible, record.file, record.row, {"gold": gold, "groups": groups, "remarks": reader.remarks})


def _joined(record: Record, codebook: Codebook) -> Record:
    gold: ConversationGold = record.hidden["gold"]
    questions = [question for turn in record.fields["turns"] for question in turn.questions]
    compared = [comparison.question for turn in gold.turns for comparison in turn.comparisons]
    summed, stored = gold.pre_panas.recomputed or PanasTotals(), gold.pre_panas.stored or PanasTotals()
    totals = {sign: getattr(stored, sign) if total is None else total for sign, total in summed}
    profile = {name: value for name, value in record.fields["profile"].items() if name not in UNSHOWN}
    fields = {**record.fields, "profile": profile, "pre_panas": totals, "codebook": codebook.cut(questions, compared)}
    remarks = [*record.hidden["remarks"]]
    if gold.answers.q3 is not None and not codebook.levels(codebook.q3_options):
        remarks.append("q3_modelFit: the options are not such as the official ones, so they have no order")
    visible = VisibleConversation.model_validate(fields).model_dump(mode="json")
    return replace(record, fields=visible, hidden={**record.hidden, "remarks": remarks})


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
        subset=groups.get("topic"),
        groups=groups,
    )


def annotation_rows(record: Record) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """Return the rows of `turn_annotations` and `conversation_annotations` of a joined record."""
    gold: ConversationGold = record.hidden["gold"]
    row = gold.model_dump(exclude={"turns"})
    for name in PANAS:
        row[name]["items"] = _pairs(row[name]["items"])
    judged = [side for turn in gold.turns for judgement in turn.judgements for side in (judgement.observed, judgement.preferred)]
    counts = {
        "branches": _pairs(gold.branches),
        "groups": _pairs(gold.groups),
        "na_answers": judged.count("na"),
        "empty_tag_lists": sum(turn.emotions == () for turn in gold.turns),
        "remarks": [*record.hidden.get("remarks", ())],
    }
    return {TURNS: [turn.model_dump() for turn in gold.turns], WHOLE: [row | counts]}


def read_gold(whole: Mapping[str, Any], turns: Iterable[Mapping[str, Any]]) -> ConversationGold:
    """Return the gold of an item from its row of `conversation_annotations` and its rows of `turn_annotations`."""
    fields = {name: whole[name] for name in ConversationGold.model_fields if name != "turns"}
    fields |= {name: {**whole[name], "items": _mapping(whole[name]["items"])} for name in PANAS}
    fields |= {name: _mapping(whole[name]) for name in ("branches", "groups")}
    in_order = sorted(turns, key=lambda turn: turn["number"])
    fields["turns"] = [{name: turn[name] for name in TurnGold.model_fields} for turn in in_order]
    return ConversationGold.model_validate(fields)


def _pairs(values: Mapping[str, object]) -> list[dict[str, object]]:
    return [{"name": name, "value": value} for name, value in values.items()]


def _mapping(pairs: Iterable[Mapping[str, Any]]) -> dict[str, object]:
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
    evaluation_version="1.2",
    differences=read_differences("attunebench"),
)

ATTUNEBENCH_MINI = replace(
    ATTUNEBENCH,
    id="attunebench_mini",
    evaluation_version="1.1",
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

DATASETS = (ATTUNEBENCH, ATTUNEBENCH_MINI)
