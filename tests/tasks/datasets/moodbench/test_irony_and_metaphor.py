"""Figurative language against the released files; counts of rows and gold are in test_feelings.py."""

import re
from collections import Counter
from pathlib import Path

import pytest

from schemas.item import Record
from tasks.datasets.building import build_items
from tasks.datasets.catalogue import find_dataset
from tasks.datasets.moodbench.irony_and_metaphor import adapt_semeval2018_task3, adapt_vua20
from tests.tasks.datasets.real_datasets import adapt, items_of, paths, records_of


@pytest.mark.parametrize(
    ("tweet", "shown"),
    [
        ("Great, rain again #IRONY", "Great, rain again"),
        ("#Not what I wanted, #sarcasm!", "what I wanted, !"),
        ("He is #not happy #nothing #ironyoffate", "He is happy #nothing #ironyoffate"),
    ],
)
def test_the_tags_that_give_irony_away_are_taken_out(tweet: str, shown: str) -> None:
    record = Record(fields={"Tweet index": "1", "Label": "1", "Tweet text": tweet}, file="file", row=0)
    item = adapt_semeval2018_task3(record)
    assert (item.context, item.gold_indices) == (shown, (0,))


def test_semeval2018_task3_shows_what_the_task_showed(mirror: Path) -> None:
    """145 of the task's own input tweets, which never had the tags, are in MoodBench's repository, with names for emoji."""
    records = records_of("semeval2018_task3", mirror)
    tag = re.compile(r"(?i)#(irony|sarcasm|not)(?![a-z0-9_])")
    tagged = Counter(record.fields["Label"] for record in records if tag.search(record.fields["Tweet text"]))
    assert tagged == {"1": 311, "0": 120}
    contexts = items_of("semeval2018_task3", mirror)["context"].to_list()
    assert not [text for text in contexts if tag.search(text)]

    folder = mirror / "github.com/QuwanAI/MoodBench/data/emo_ability/emo_recognition/SemEval2018-Task3_txt/test_TaskA"
    lines = (folder / "SemEval2018-T3_input_test_taskA.txt").read_text(encoding="utf-8").splitlines()
    shown = {record.fields["Tweet index"]: text for record, text in zip(records, contexts, strict=True)}
    given = dict(line.split("\t") for line in lines)
    assert len(given) == 145
    for index, tweet in given.items():
        plain = re.sub(r":[\w’|-]+:", "", tweet) if not shown[index].isascii() else tweet
        assert re.sub(r"\W|\s", "", plain, flags=re.ASCII) == re.sub(r"\W|\s", "", shown[index], flags=re.ASCII), index


def test_semeval2018_task3_of_moodbench_is_part_of_the_upstream_one(mirror: Path) -> None:
    spec = find_dataset("semeval2018_task3")
    assert spec.alternative is not None
    assert spec.alternative.expected_rows == 155
    built = build_items(spec.alternative, paths(spec.alternative, mirror), None, 0)
    assert (built.items.height, built.rejected.height) == (155, 0)
    assert Counter(built.items["gold_indices"].explode()) == {0: 58, 1: 97}
    both = built.items.join(
        items_of("semeval2018_task3", mirror), on=["context", "gold_indices", "source_row_sha256"], nulls_equal=True
    )
    assert both.height == 155


def test_vua20_word_outside_the_sentence_cannot_be_asked() -> None:
    fields = {"sentence": "Time flies .", "w_index": "-1", "label": "1", "POS": "VERB"}
    with pytest.raises(ValueError, match="below 0"):
        adapt_vua20(Record(fields=fields, file="file", row=0))
    marked = adapt(adapt_vua20, **{**fields, "w_index": "1"})
    assert (marked.context, marked.gold_indices, marked.subset) == ("Time *flies* .", (0,), "VERB")
    assert '"flies"' in marked.question
