"""Ratings by people: which files and rows are read, and which are refused by which rule."""

from collections.abc import Mapping
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.errors import SourceError, UsageError
from tasks.ratings.reading import read_human_ratings, turns_of
from tests.rows import each_row
from tests.tasks.ratings.files import ROW, written


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_every_form_of_a_file_says_the_same(ending: str, tmp_path: Path) -> None:
    rows = [{**ROW, "rater_known": True}, {**ROW, "unit_id": "b", "rating": None, "rater_known": False}]
    read = read_human_ratings(written(tmp_path, *rows, ending=ending))
    assert (read.read, read.refused) == (2, ())
    columns = ["unit_id", "turn", "cluster_id", "system", "higher_is_better", "rater_known", "rating", "scale", "text_sha256"]
    assert read.ratings.sort("unit_id").select(columns).rows() == [
        ("a", None, None, None, True, True, 2.0, [1.0, 2.0, 3.0], None),
        ("b", None, None, None, True, False, None, [1.0, 2.0, 3.0], None),
    ]


REFUSED = {
    "rating_is_on_its_scale": ({"rating": 1.5}, {"rating": 4}, {"rating": 4, "rater_kind": "aggregate"}),
    "rated_once": ({"unit_id": "z"}, {"unit_id": "z"}),
    "one_cluster_per_unit": tuple({"unit_id": "x", "rater": one, "cluster_id": one} for one in ("amy", "bea")),
    "one_scale_and_direction_per_dimension": (
        *({"dimension": "x"}, {"dimension": "x", "unit_id": "y", "scale": [1, 2]}),
        *({"dimension": "v"}, {"dimension": "v", "unit_id": "y", "higher_is_better": False}),
    ),
    "scale_ascends": ({"dimension": "w", "scale": [2, 1]}, {"dimension": "u", "scale": [2]}, {"dimension": "t", "scale": [2, 2]}),
    "rating|dtype": ({"rating": "warm"}, {"rating": True}),
    "rater_kind|dtype": ({"rater_kind": "friend"},),
    "turn|dtype": ({"turn": 1.5},),
    "scale|inner_nullability": ({"dimension": "s", "scale": ["low", 2, 3]},),
    "unit_id|nullability": ({"unit_id": None},),
    "rater_known|nullability": ({"rater_known": "perhaps"},),
}


def test_what_breaks_a_rule_is_refused_and_counted(tmp_path: Path) -> None:
    for rule, changes in REFUSED.items():
        rows = [{**ROW, "unit_id": f"u{place}", **change} for place, change in enumerate(changes)]
        read = read_human_ratings(written(tmp_path, {**ROW, "unit_id": "good"}, *rows))
        assert read.refused == tuple((line, rule) for line in range(2, len(rows) + 2))
        assert (read.read, read.ratings["unit_id"].to_list()) == (len(rows) + 1, ["good"])


def test_means_turns_and_systems_stand_beside_each_other(tmp_path: Path) -> None:
    others: list[dict[str, Any]] = [{}, {"turn": 1}, {"turn": 2}, {"system": "m"}, {"rater": "bob"}, {"source": "nights"}]
    mean = {"unit_id": "b", "rater_kind": "aggregate", "rating": 2.4}
    read = read_human_ratings(written(tmp_path, *({**ROW, **one} for one in (*others, mean))))
    assert (read.ratings.height, read.refused) == (7, ())


def test_files_that_are_no_ratings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no column raitng") as caught:
        read_human_ratings(written(tmp_path, {**ROW, "raitng": 2}))
    assert "did you mean rating?" in str(caught.value)
    with pytest.raises(UsageError, match="columns are missing") as caught:
        read_human_ratings(written(tmp_path, {name: cell for name, cell in ROW.items() if name != "scale"}))
    assert "expected: scale" in str(caught.value)
    with pytest.raises(UsageError, match=r"ends in \.txt"):
        read_human_ratings(tmp_path / "ratings.txt")
    with pytest.raises(SourceError, match="cannot be read"):
        read_human_ratings(tmp_path / "nowhere.csv")


HASH = sha256(b"Ann: hi\nBob: no: never\nagain").hexdigest()


def test_texts_of_units_are_hashed_and_split(tmp_path: Path) -> None:
    dialogue = {"text": "Ann: hi\nBob: no: never\nagain", "language": "en", "dialogue": True}
    rows = [{**ROW, **dialogue, "cluster_id": "c", "text_sha256": HASH}, {**ROW, "rater": "bob"}, {**ROW, "unit_id": "b"}]
    read = read_human_ratings(written(tmp_path, *rows))
    assert read.ratings["text_sha256"].to_list() == [HASH, None, None]
    (text,) = read.texts.to_dicts()
    assert (text["system"], text["unit_id"], text["cluster_id"], text["text_sha256"]) == ("", "a", "c", HASH)
    assert text["turns"] == [{"speaker": "Ann", "text": "hi"}, {"speaker": "Bob", "text": "no: never\nagain"}]
    assert turns_of("甲：你好\n乙：是") == [{"speaker": "甲", "text": "你好"}, {"speaker": "乙", "text": "是"}]


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_words_of_a_scale_are_places(ending: str, tmp_path: Path) -> None:
    scale = {"scale": ["No", "Yes", "Not sure"]}
    rows = [{**ROW, **scale, "rating": "Yes"}, {**ROW, **scale, "unit_id": "b", "rating": "Not sure"}]
    read = read_human_ratings(written(tmp_path, *rows, ending=ending))
    assert read.ratings.select("rating", "scale", "words").rows() == [
        (1.0, [0.0, 1.0, 2.0], ["No", "Yes", "Not sure"]),
        (2.0, [0.0, 1.0, 2.0], ["No", "Yes", "Not sure"]),
    ]


def test_anonymous_raters_are_numbered_per_unit(tmp_path: Path) -> None:
    rows = [{**ROW, "rater": None, "rater_known": False, "unit_id": unit} for unit in ("a", "a", "b")]
    read = read_human_ratings(written(tmp_path, *rows))
    assert (read.ratings["rater"].to_list(), read.ratings["rater_known"].any()) == (["1", "2", "1"], False)


def test_same_content_has_the_same_hash(tmp_path: Path) -> None:
    first, again = (read_human_ratings(written(tmp_path, ROW)).sha256 for _ in range(2))
    assert first == again != read_human_ratings(written(tmp_path, {**ROW, "rating": 3})).sha256


TEXT = {"text": "so sorry", "language": "en"}
WORDS = {"scale": ["No", "Yes"], "rating": "Yes"}
HOSTILE_ROWS: Mapping[str, tuple[str, list[dict[str, Any]]]] = {
    "rating off the scale": ("rating_is_on_its_scale", [{"rating": 9}]),
    "rating between two values": ("rating_is_on_its_scale", [{"rating": 1.5}]),
    "mean off the scale": ("rating_is_on_its_scale", [{"rating": 3.1, "rater_kind": "aggregate"}]),
    "NaN as a text": ("rating|nan", [{"rating": "NaN"}]),
    "infinite rating": ("rating|inf", [{"rating": "inf"}]),
    "huge rating": ("rating_is_on_its_scale", [{"rating": 1e30}]),
    "decimal comma": ("rating|dtype", [{"rating": "3,5"}]),
    "boolean as rating": ("rating|dtype", [{"rating": True}]),
    "word on a scale of numbers": ("rating|dtype", [{"rating": "good"}]),
    "two numbers as rating": ("rating|dtype", [{"rating": "2 3"}]),
    "list as rating": ("cells_are_plain", [{"rating": [2]}]),
    "object as unit": ("cells_are_plain", [{"unit_id": {"id": 1}}]),
    "null byte": ("cells_are_plain", [{"unit_id": "a\0b"}]),
    "word that the scale has not": ("rating_is_on_its_scale", [{**WORDS, "rating": "Maybe"}]),
    "word in other capitals": ("rating_is_on_its_scale", [{**WORDS, "rating": "yes"}]),
    "number on a scale of words": ("rating_is_on_its_scale", [{**WORDS, "rating": 1}]),
    "numbers and words mixed": ("scale|inner_nullability", [{"scale": [1, "good", 3]}]),
    "infinite scale": ("scale|inner_nullability", [{"scale": "1, 2, inf"}]),
    "NaN in a scale": ("scale|inner_nullability", [{"scale": "1, nan, 3"}]),
    "scale that falls": ("scale_ascends", [{"scale": [3, 2, 1]}]),
    "scale of one value": ("scale_ascends", [{"scale": [2]}]),
    "word twice in a scale": ("scale_ascends", [{**WORDS, "scale": ["Yes", "Yes"]}]),
    "empty scale": ("scale|nullability", [{"scale": []}]),
    "two scales": (
        "one_scale_and_direction_per_dimension",
        [{"dimension": "x"}, {"dimension": "x", "unit_id": "y", "scale": [1, 2, 3, 4]}],
    ),
    "two lists of words": (
        "one_scale_and_direction_per_dimension",
        [{**WORDS, "dimension": "x"}, {"dimension": "x", "unit_id": "y", "scale": ["Good", "Bad"], "rating": "Bad"}],
    ),
    "two directions": (
        "one_scale_and_direction_per_dimension",
        [{"dimension": "x"}, {"dimension": "x", "unit_id": "y", "higher_is_better": False}],
    ),
    "rater twice": ("rated_once", [{"unit_id": "z"}, {"unit_id": "z", "rating": 3}]),
    "two clusters of a unit": ("one_cluster_per_unit", [{"unit_id": "z", "rater": one, "cluster_id": one} for one in "xy"]),
    "no unit": ("unit_id|nullability", [{"unit_id": ""}]),
    "no rater": ("rater|nullability", [{"rater": ""}]),
    "unknown kind of rater": ("rater_kind|dtype", [{"rater_kind": "friend"}]),
    "half a turn": ("turn|dtype", [{"turn": 1.5}]),
    "rater known or not": ("rater_known|nullability", [{"rater_known": "perhaps"}]),
    "hash of another text": ("text_has_its_hash", [{**TEXT, "text_sha256": "0" * 64}]),
    "text without language": ("text_has_its_language", [{"text": "so sorry"}]),
    "language that no judge is asked in": ("language|dtype", [{**TEXT, "language": "ja"}]),
    "dialogue without speakers": ("dialogue_has_speakers", [{**TEXT, "dialogue": True}]),
    "two texts of a unit": ("one_text_per_unit", [{**TEXT, "rater": "amy"}, {**TEXT, "rater": "bea", "text": "fine"}]),
}


@each_row("name", sorted(HOSTILE_ROWS))
def test_hostile_row_is_told_by_line_and_rule(name: str, tmp_path: Path) -> None:
    rule, changes = HOSTILE_ROWS[name]
    good = {**ROW, "unit_id": "good", "dimension": "other"}
    rows = [{**ROW, "unit_id": "u", **change} for change in changes]
    read = read_human_ratings(written(tmp_path, good, *rows, good | {"rater": "last"}))
    assert read.refused == tuple((line, rule) for line in range(2, 2 + len(rows)))
    assert (read.ratings["rater"].to_list(), read.read) == (["ann", "last"], 2 + len(rows))


CELLS = "d,a,warmth,ann,expert,2,"
HEADER = "source,unit_id,dimension,rater,rater_kind,rating,scale"
HOSTILE_FILES: Mapping[str, tuple[str, bytes, type[Exception], str]] = {
    "latin-1": ("csv", f'{HEADER}\n{CELLS}"1,2"\nd,\xe9,'.encode("latin-1"), SourceError, "UTF-8"),
    "utf-16": ("csv", f'{HEADER}\n{CELLS}"1,2"'.encode("utf-16"), SourceError, "UTF-8"),
    "empty csv": ("csv", b"", SourceError, "no records"),
    "header alone": ("csv", HEADER.encode(), SourceError, "no records"),
    "column twice": ("csv", f"{HEADER},rater\n{CELLS}1,x".encode(), SourceError, "repeated column names"),
    "semicolons": ("csv", f"{HEADER}\n{CELLS}1".replace(",", ";").encode(), SourceError, "separated by semicolons"),
    "open quote": ("csv", f'{HEADER}\n{CELLS}"1,2'.encode(), SourceError, "row cannot be read"),
    "column missing": ("csv", f"{HEADER[:-6]}\n{CELLS[:-1]}".encode(), UsageError, "columns are missing"),
    "column unknown": ("csv", f"{HEADER},mood\n{CELLS}1,x".encode(), UsageError, "no column mood"),
    "array in place of lines": ("jsonl", b'[{"source": "d"}]', SourceError, "not a JSON object"),
    "half a line": ("jsonl", b'{"source": "d", ', SourceError, "not JSON"),
    "NaN that JSON has not": ("jsonl", b'{"rating": NaN}', SourceError, "not JSON"),
    "key twice": ("jsonl", b'{"rating": 1, "rating": 2}', SourceError, "not JSON"),
    "deep nesting": ("jsonl", b'{"rating": ' + b"[" * 9_000 + b"]" * 9_000 + b"}", SourceError, "not JSON"),
    "number of 5,000 digits": ("jsonl", b'{"rating": ' + b"9" * 5_000 + b"}", SourceError, "not JSON"),
    "text as Parquet": ("parquet", b"PAR1 no parquet", SourceError, "cannot be read as Parquet"),
    "another ending": ("xlsx", b"x", UsageError, "ends in .xlsx"),
}


@each_row("name", sorted(HOSTILE_FILES))
def test_hostile_file_is_refused_by_one_message(name: str, tmp_path: Path) -> None:
    ending, content, kind, words = HOSTILE_FILES[name]
    file = tmp_path / f"ratings.{ending}"
    file.write_bytes(content)
    with pytest.raises(kind) as caught:
        read_human_ratings(file)
    assert words in str(caught.value)
    assert "ratings." in (caught.value.where or "")  # type: ignore[attr-defined]
    assert caught.value.next_step  # type: ignore[attr-defined]


def test_byte_order_mark_and_ragged_rows(tmp_path: Path) -> None:
    file = tmp_path / "ratings.csv"
    file.write_bytes(f'\ufeff{HEADER}\n{CELLS}"1,2"\n{CELLS}1,2\nd,b\n'.encode())
    read = read_human_ratings(file)
    rule = "row_has_the_fields_of_the_header"
    assert (read.ratings.height, read.refused, read.read) == (1, ((3, rule), (4, rule)), 3)


def test_parquet_of_other_types_is_refused(tmp_path: Path) -> None:
    for cell, rule in {date(2026, 1, 2): "rating|dtype", b"2": "cells_are_plain"}.items():
        file = tmp_path / "ratings.parquet"
        pl.DataFrame([{**ROW, "rating": cell}]).write_parquet(file)
        assert read_human_ratings(file).refused == ((1, rule),)
