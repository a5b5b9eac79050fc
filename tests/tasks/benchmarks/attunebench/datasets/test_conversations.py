import json
from collections import Counter
from collections.abc import Iterable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import SourceError, SourceMissingError
from schemas.tables.layers import LAYERS
from tasks.benchmarks.attunebench.benchmark import TURNS, WHOLE
from tasks.benchmarks.attunebench.conversation import VisibleConversation, Wording
from tasks.benchmarks.attunebench.datasets.conversations import ATTUNEBENCH, ATTUNEBENCH_MINI, read_gold
from tasks.benchmarks.attunebench.datasets.records import RecordReader
from tasks.datasets.building import BuiltItems, build_items
from tasks.datasets.own_items import in_folder
from tasks.scoring.blueprints import load_blueprint
from tasks.sources.files import hash_file
from tasks.sources.locating import BUNDLED
from tests.rows import each_row
from tests.tasks.benchmarks.attunebench.datasets.conversations import (
    ASKED,
    BOOK,
    FIRST,
    JUDGED,
    SIDES,
    Fields,
    at,
    conversation,
    malformed,
    write_folder,
)


def build(folder: Path, sample: int | None = None) -> BuiltItems:
    return build_items(in_folder(ATTUNEBENCH, folder), [folder], sample, 0)


def build_records(tmp_path: Path, *records: Fields) -> BuiltItems:
    return build(write_folder(tmp_path, {str(number): record for number, record in enumerate(records)}))


def visible(built: BuiltItems) -> VisibleConversation:
    return VisibleConversation.model_validate_json(built.items["context"][0])


def gold(built: BuiltItems, index: int = 0) -> Any:
    whole = built.annotations[WHOLE].row(index, named=True)
    turns: Iterable[Any] = built.annotations[TURNS].filter(item_id=whole["item_id"]).iter_rows(named=True)
    return read_gold(whole, turns)


def test_malformed_records_are_rejected_by_name(tmp_path: Path) -> None:
    bad = malformed()
    good = {f"good_{number}": conversation(number, turns=3) for number in range(1, 6)}
    built = build(write_folder(tmp_path, {**good, **{f"bad_{number}": record for number, (_, record) in enumerate(bad)}}))
    assert built.items["item_id"].to_list() == [f"00000000-0000-4000-8000-{number:012d}" for number in range(1, 6)]
    assert built.annotations[TURNS].height == 5 * 3
    assert built.annotations[WHOLE]["item_id"].to_list() == built.items["item_id"].to_list()
    rules = {row["source_file"]: row["broken_rules"] for row in built.rejected.iter_rows(named=True)}
    assert rules == {f"conversation_bad_{number}.json": [rule] for number, (rule, _) in enumerate(bad)}
    for layer, rows in built.annotations.items():
        assert LAYERS[layer].schema.is_valid(rows)


def test_record_becomes_prompt_and_gold(tmp_path: Path) -> None:
    record = conversation(1, turns=1)
    turn = record["turns"][0]
    turn["moodShiftTags"] = [{"emotion": "Distressed", "intensity": 5}, {"emotion": "Nervous", "intensity": None}]
    sides = [("yes", "na"), ("na", "na"), (None, None), ("na", "no")]
    for judgement, (observed, preferred) in zip(turn["annotations"]["binaryJudgements"], sides, strict=True):
        judgement |= {"observedBehavior": observed, "preferredBehavior": preferred}
    turn["annotations"]["pairwiseComparisons"][1]["winner"] = "B"
    record["prePanas"]["responses"] = dict.fromkeys(record["prePanas"]["responses"], 3)
    record["prePanas"] |= {"totalPositiveAffect": 31, "totalNegativeAffect": 30}
    built = build_records(tmp_path, record)
    item, annotations = visible(built), gold(built)
    assert item.topic == "Work: Deadline"
    # B4 has na on both sides; B6 has neither side
    assert item.turns[0].questions == ("B1", "B6", "B13")
    assert set(item.codebook.questions) == {"B1", "B6", "B13"}
    assert (item.pre_panas.positive, item.pre_panas.negative) == (30, 30)  # ten items of 3
    assert set(item.profile) == {"demographics", "computed_scores", "conversation_topic_attitude"}
    assert item.turns[0].reply("human") == "Edited reply 1." == annotations.turns[0].human_edit
    assert [(tag.name, tag.intensity) for tag in annotations.turns[0].emotions] == [("distressed", 5), ("nervous", None)]
    # the second pair of `general` is original and human
    assert annotations.turns[0].comparisons[1].winner == "human"
    assert annotations.pre_panas.stored.positive == 31
    row = built.annotations[WHOLE].row(0, named=True)
    assert row["remarks"] == ["prePanas totalPositiveAffect is 31, and its items add up to 30"]
    assert (row["na_answers"], row["empty_tag_lists"]) == (4, 0)
    assert annotations.participant_id == "P00001"
    assert "P00001" not in built.items["context"][0]
    groups = {"topic": "Work", "original_model": "model-1", "country": "Chile", "age_range": "25-34", "diagnoses": "ADHD"}
    assert {pair["name"]: pair["value"] for pair in built.items["groups"][0]} == groups
    scores = record["participant_profile"]["computed_scores"]
    # No item shows these, and no report is broken down by them.
    hidden = {"subtopic": "Deadline", "topic_attitude": "Excited/Optimistic"}
    assert annotations.groups == {**groups, **hidden, **{name: str(value) for name, value in scores.items()}}


@each_row(
    ("metadata", "topic"),
    [
        ({"text": "My job", "category": "Work", "subtopic": "Deadline"}, "My job"),
        ({"category": "Work", "subtopic": "Deadline"}, "Work: Deadline"),
        ({"category": "Work"}, "Work"),
        ({"category": 7, "subtopic": "Deadline"}, "Deadline"),
        ({"model": "m"}, None),
        (None, None),
    ],
)
def test_topic_is_text_or_categories(tmp_path: Path, metadata: Fields | None, topic: str | None) -> None:
    assert visible(build_records(tmp_path, {**conversation(1), "metadata": metadata})).topic == topic


def annotate_otherwise(record: Fields) -> None:
    """Change every value of an annotation; applicability, pairs, sides and options stay as they are."""
    record["postPanas"], wide = conversation(50, seed=9)["postPanas"], record["conversationWideQuestions"]
    wide |= {"q1_lookingFor": wide["q1_lookingFor"][:1], "q3_followUp_whatFeltOff": ["too generic"]}
    wide["fourBranchScores"] = dict.fromkeys(BOOK.branches, 2)
    other = {"yes": "no", "no": "yes", "na": "na", "A": "B", "B": "A"}
    for turn in record["turns"]:
        turn["moodShiftTags"] = [{"emotion": "Proud", "intensity": 6}]
        for row in turn["annotations"]["binaryJudgements"]:
            row |= {side: other[row[side]] for side in SIDES}
        for row in turn["annotations"]["pairwiseComparisons"]:
            row["winner"] = other[row["winner"]]


def test_annotations_do_not_change_item_bytes(tmp_path: Path) -> None:
    records = [conversation(number, turns=3) for number in range(1, 9)]
    others = deepcopy(records)
    for other in others:
        annotate_otherwise(other)
    # One answer in both sets has all options, so that the strings of the sets are the same.
    for first in (records[0], others[0]):
        first["conversationWideQuestions"]["q1_lookingFor"] = list(BOOK.q1_options)
    built = [build_records(tmp_path / name, *rows) for name, rows in {"one": records, "other": others}.items()]
    for index, of_set in enumerate(built):
        of_set.items.write_parquet(tmp_path / f"{index}.parquet")
    assert (tmp_path / "0.parquet").read_bytes() == (tmp_path / "1.parquet").read_bytes()
    assert not built[0].annotations[TURNS].equals(built[1].annotations[TURNS])
    assert built[0].items.height == 8


def test_options_come_from_set_or_codebook(tmp_path: Path) -> None:
    records = [conversation(number, turns=1) for number in range(4)]
    fits = ("Mixed, some good moments, some misses", "Mostly off", "Very good", "Mostly well put")
    for record, fit in zip(records, fits, strict=True):
        record["conversationWideQuestions"] |= {"q1_lookingFor": ["Advice, or facts", "Rest "], "q2_emotionClarity": "Plain"}
        record["conversationWideQuestions"]["q3_modelFit"] = fit
        at(*JUDGED, 0, "observedBehavior", value="yes")(record)
    collected = visible(build_records(tmp_path, *records)).codebook
    assert collected.q1_options == ("Advice, or facts", "Rest")
    assert collected.q3_options == ("Very good", "Mostly well put", "Mixed, some good moments, some misses", "Mostly off")
    given: Fields = {"origin": "theirs", "q1_options": ["a"], "q2_options": ["b"], "q3_options": ["c"]}
    given["questions"] = {"B1": "Does it see {p}?"}
    (tmp_path / "codebook.json").write_text(json.dumps(given))
    # B4, B6 and B13 are no questions of that codebook, and stay what they are.
    item = visible(build(tmp_path))
    assert item.turns[0].questions == tuple(question for question in ASKED if question in item.turns[0].questions)
    assert item.codebook.questions == {"B1": Wording(observer="Does it see the participant?", participant="Does it see you?")}
    del given["questions"]
    (tmp_path / "codebook.json").write_text(json.dumps(given))
    book = visible(build(tmp_path)).codebook
    assert (book.q1_options, book.q3_options) == (("a",), ("c",))
    assert book.questions == {name: BOOK.questions[name] for name in book.questions}


def test_official_wordings_lie_next_to_sets(tmp_path: Path) -> None:
    """The file is used by any set of the repository, and its content is part of the folder's hash."""
    record = conversation(1, turns=1)
    at(*JUDGED, 0, "observedBehavior", value="yes")(record)
    at(*FIRST, "questionId", value="PW16")(record)
    folder = write_folder(tmp_path / "Test Samples" / "Sample200", {"5": record})
    ours = hash_file(folder)
    official: Fields = {
        "B1": {"text": "Did it notice you?", "observerText": "Did it notice the participant?"},
        "pairwise": [{"id": "PW16", "text": "Which reply {stays} with you?"}],
    }
    (tmp_path / "annotation_codebook.json").write_text(json.dumps(official))
    assert hash_file(folder) != ours
    book = visible(build(folder)).codebook
    assert book.questions["B1"] == Wording(observer="Did it notice the participant?", participant="Did it notice you?")
    assert book.questions["B6"] == BOOK.questions["B6"]
    assert (book.pairwise["PW16"], book.pairwise["PW1"]) == ("Which reply {stays} with you?", BOOK.pairwise["PW1"])
    listed = [{"id": "B1", **official["B1"]}, *official["pairwise"]]
    (tmp_path / "annotation_codebook.json").write_text(json.dumps(listed))
    assert visible(build(folder)).codebook == book


@each_row(
    ("content", "why"),
    [
        ("{", "annotation_codebook.json"),
        ("{}", "annotation_codebook.json has no question with a text"),
        ('{"B1": "Did it notice you?"}', "annotation_codebook.json has no question with a text"),
    ],
)
def test_official_codebook_without_wordings_is_refused(tmp_path: Path, content: str, why: str) -> None:
    folder = write_folder(tmp_path / "Test Samples" / "Sample200", {"5": conversation(1)})
    (tmp_path / "annotation_codebook.json").write_text(content)
    with pytest.raises(SourceError, match="no items of attunebench can be built") as caught:
        build(folder)
    assert why in (caught.value.got or "")


def test_order_of_fits_is_official_or_none(tmp_path: Path) -> None:
    assert BOOK.levels(["Mostly off", " very well put"]) == {"mostly off": 3, "very well put": 0}
    # One that begins otherwise, and two that begin alike: nothing tells how far apart they are.
    assert BOOK.levels(["Very well", "Badly"]) == BOOK.levels(["Very well", "Very badly"]) == {}
    record = conversation(1, turns=1)
    record["conversationWideQuestions"]["q3_modelFit"] = "So-so"
    (remark,) = build_records(tmp_path, record).annotations[WHOLE]["remarks"].to_list()[0]
    assert remark == "q3_modelFit: the options are not such as the official ones, so they have no order"


def paths(value: Any, *above: str | int) -> Iterator[tuple[str | int, ...]]:
    """Yield every path in a record, of sections and of single values alike."""
    for key, inside in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*above, key)
        yield from paths(inside, *above, key)


def test_no_value_anywhere_stops_the_set() -> None:
    """A record is read or refused by name, whatever its values; only its id, a turn, a text or a count can refuse it."""
    record, rules = conversation(1, turns=1), Counter[str]()
    every = list(paths(record))
    values: list[Any] = [None, 7, -1.5, "x", "", True, [], {}, [[]], [{}], {"x": {}}]
    for path in every:
        for value in values:
            odd = deepcopy(record)
            at(*path, value=value)(odd)
            reader = RecordReader()
            reader.read(odd)
            rules.update([*reader.faults])
    assert len(every) > 150
    # All but one of eleven values are no id; nine are no list of turns; one comparison, a list or an object, is not twelve.
    assert rules.pop("conversationId|text") == 10
    assert rules.pop("turns|one_turn") == 9
    assert rules.pop("turns.annotations.pairwiseComparisons|twelve_comparisons") == 2
    # As with the id; and each of two lists of a turn that holds nothing, and each of eleven values in place of the turn.
    assert rules == {"turns.userMessage|text": 23, "turns.llmResponse|text": 23}


def test_sample_draws_conversations_with_their_annotations(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, {str(number): conversation(number) for number in range(9)})
    drawn, again = build(folder, 4), build(folder, 4)
    assert drawn.items.height == 4 == drawn.annotations[WHOLE].height
    assert drawn.annotations[TURNS].height == 8
    assert drawn.items.equals(again.items)


@each_row(("name", "folder"), [("attunebench", "nowhere"), ("attunebench_mini", ".")])
def test_folder_of_no_such_set_is_refused(name: str, folder: str) -> None:
    spec = {"attunebench": ATTUNEBENCH, "attunebench_mini": ATTUNEBENCH_MINI}[name]
    with pytest.raises(SourceMissingError, match=f"{name} cannot be read from this folder"):
        in_folder(spec, Path(folder))


def test_codebook_has_every_id_in_both_stances() -> None:
    assert len(BOOK.questions) == 36  # 5 + 6 + 13 + 7 + 5
    assert list(BOOK.pairwise) == ["general", *(f"PW{number}" for number in range(1, 16))]
    assert BOOK.questions["B1"].participant == "Does the reply notice what you felt when writing the message?"
    for wording in BOOK.questions.values():
        assert "participant" in wording.observer
        assert "you" in wording.participant
        assert "participant" not in wording.participant


def test_bundled_conversations_cover_their_purpose() -> None:
    built = build_items(ATTUNEBENCH_MINI, [BUNDLED / "attunebench_mini.jsonl"], None, 0)
    assert built.rejected.height == 0
    assert built.items["language"].to_list() == ["en", "en", "zh", "zh"]
    assert built.annotations[TURNS].height == 12
    whole = built.annotations[WHOLE]
    assert (whole["remarks"].list.len().sum(), whole["empty_tag_lists"].sum()) == (0, 1)
    assert min(whole["na_answers"].to_list()) > 0
    annotations = [gold(built, index) for index in range(4)]
    assert {row.answers.q3 for row in annotations} == set(BOOK.q3_options)
    assert [row.pre_panas.items == row.post_panas.items for row in annotations] == [False, False, True, False]
    assert [row.groups["diagnoses"] for row in annotations] == ["None", "ADHD", "None", "Anxiety; Depression"]
    assert all(set(row.answers.q1) <= set(BOOK.q1_options) and row.answers.q2 in BOOK.q2_options for row in annotations)


def test_both_benchmarks_score_alike_by_the_composite() -> None:
    ours, theirs = load_blueprint("attunebench-mini"), load_blueprint("attunebench")
    (mini,), (whole,) = ours.datasets["attunebench_mini"].methods, theirs.datasets["attunebench"].methods
    assert mini == whole
    assert [spec.metric for spec in whole.metrics if spec.weight] == ["composite_score"]
