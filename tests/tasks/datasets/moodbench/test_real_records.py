"""What the adapters must keep true on the released files, beyond counts (those are in test_catalogue.py)."""

import json
from collections import Counter
from pathlib import Path

import polars as pl

from schemas.dataset import PinnedFile
from schemas.item import Record
from tasks.datasets.catalogue import find_dataset
from tasks.datasets.moodbench.emotions import EMOTIONS
from tests.tasks.datasets.real_datasets import items_of, records_of


def both(name: str, mirror: Path) -> tuple[list[Record], pl.DataFrame]:
    return records_of(name, mirror), items_of(name, mirror)


def test_wic_sentences_are_unaltered(mirror: Path) -> None:
    records, items = both("wic", mirror)
    inflected = 0
    for record, context in zip(records, items["context"], strict=True):
        fields = record.fields
        assert context == f"Sentence 1: {fields['sentence1']}\nSentence 2: {fields['sentence2']}"
        forms = {fields[f"sentence{n}"][fields[f"start{n}"] : fields[f"end{n}"]].lower() for n in (1, 2)}
        inflected += forms != {fields["word"].lower()}
    assert inflected == 119


def test_copa_asks_for_causes_and_effects(mirror: Path) -> None:
    records, items = both("copa", mirror)
    assert Counter(items["subset"]) == {"cause": 52, "effect": 48}
    assert len(set(items["question"])) == 2
    assert [record.fields["label"] for record in records] == [gold[0] for gold in items["gold_indices"].to_list()]


def test_piqa_labels_stand_on_the_line_of_their_goal(mirror: Path) -> None:
    records, items = both("piqa", mirror)
    labels = [int(record.fields["line"]) for record in records if "line" in record.fields]
    assert [gold[0] for gold in items["gold_indices"].to_list()] == labels
    assert (items.height, items["item_id"].n_unique(), items["context"].null_count()) == (1838, 1838, 0)
    released = mirror / "github.com/QuwanAI/MoodBench/data/basic_ability/common_sense/PIQA_jsonllst/valid.jsonl"
    rows = {tuple(json.loads(line).values()) for line in released.read_text(encoding="utf-8").splitlines()}
    assert rows < {tuple(record.fields.values()) for record in records}
    assert len(rows) == 300


def test_cmrc2018_references_are_spans_of_the_context(mirror: Path) -> None:
    records, items = both("cmrc2018", mirror)
    assert items["context"].n_unique() == 188
    for record, references, context in zip(records, items["references"].to_list(), items["context"], strict=True):
        start = record.fields["answers"]["answer_start"][0]
        assert references == [context[start : start + len(references[0])]]


def test_goemotions_labels(mirror: Path) -> None:
    records, items = both("goemotions", mirror)
    gold = items["gold_indices"].to_list()
    assert Counter(len(indices) for indices in gold) == {1: 257, 2: 37, 3: 7}
    assert sum(27 in indices for indices in gold) == 109
    assert gold.count([27]) == 92
    assert len({record.fields["comment_id"] for record in records}) == 301


def test_goemotions_taxonomy_is_the_released_one(mirror: Path) -> None:
    source = find_dataset("goemotions").files[0]
    assert isinstance(source, PinnedFile)
    labels = (mirror / source.repository / source.path).with_name("emotions.txt").read_text(encoding="utf-8").split("\n")
    assert tuple(label for label in labels if label) == EMOTIONS


def test_emobench_tells_repeated_stories_apart(mirror: Path) -> None:
    records, items = both("emobench1", mirror)
    assert Counter(items["language"]) == {"zh": 154, "en": 146}
    assert Counter(items["subset"]) == {
        "perspective_taking": 101,
        "personal_beliefs_and_experiences": 88,
        "complex_emotions": 67,
        "emotional_cues": 44,
    }
    for record, question in zip(records, items["question"], strict=True):
        assert record.fields["subject"] in question
    assert items.select("context", "question").n_unique() == 300
    assert items["context"].n_unique() < 300


def test_moodbench3_keeps_the_first_row_of_each_file(mirror: Path) -> None:
    records, items = both("moodbench3", mirror)
    files = Counter(Path(file).name for file in items["source_file"])
    assert files == {"person_scenarios_ma.csv": 153, "social_scenarios_ma.csv": 149}
    assert [record.fields["id"] for record in records if record.row == 0] == ["1", "1"]
    assert Counter(subset.split(": ")[1] for subset in items["subset"]) == (
        {"Emotional Support": 116, "Self-Development": 27, "Health and Wellness": 10, "Interpersonal Communication": 109}
        | {"Sociocultural Dynamics": 30, "Academic & Professional": 9, "Unknown": 1}
    )
    assert not [text for text in items["question"] if "\n" in text or "问题" in text]
