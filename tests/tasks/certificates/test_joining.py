"""Ratings by people: which files and rows are read, and which are refused by which rule."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.errors import SourceError, UsageError
from tasks.certificates.joining import join_ratings, read_human_ratings
from tests.tasks.rows import answer, answers, item, items, judgement, judgements
from tests.tasks.runs.runs import run_of
from tests.tasks.scoring.samples import ability, blueprint, task
from tests.tasks.scoring.samples import items as scored

ROW: dict[str, Any] = {"source": "days", "unit_id": "a", "dimension": "warmth", "rater": "ann", "rater_kind": "expert"}
ROW |= {"rating": 2, "scale": [1, 2, 3]}


def written(folder: Path, *rows: dict[str, Any], ending: str = "jsonl") -> Path:
    file = folder / f"ratings.{ending}"
    if ending == "parquet":
        pl.DataFrame(rows).write_parquet(file)
    elif ending == "csv":
        frame = pl.DataFrame(
            [{name: str(cell) if isinstance(cell, list) else cell for name, cell in row.items()} for row in rows]
        )
        frame.write_csv(file)
    else:
        file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return file


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_every_form_of_a_file_says_the_same(ending: str, tmp_path: Path) -> None:
    rows = [{**ROW, "rater_known": True}, {**ROW, "unit_id": "b", "rating": None, "rater_known": False}]
    read = read_human_ratings(written(tmp_path, *rows, ending=ending))
    assert (read.read, dict(read.refused)) == (2, {})
    columns = ["unit_id", "turn", "cluster_id", "system", "higher_is_better", "rater_known", "rating", "scale", "text_sha256"]
    assert read.good.sort("unit_id").select(columns).rows() == [
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
        assert (read.refused[rule], read.good["unit_id"].to_list()) == (len(changes), ["good"]), rule
        assert read.read == len(rows) + 1


def test_means_turns_and_systems_stand_beside_each_other(tmp_path: Path) -> None:
    others: list[dict[str, Any]] = [{}, {"turn": 1}, {"turn": 2}, {"system": "m"}, {"rater": "bob"}, {"source": "nights"}]
    mean = {"unit_id": "b", "rater_kind": "aggregate", "rating": 2.4}
    read = read_human_ratings(written(tmp_path, *({**ROW, **one} for one in (*others, mean))))
    assert (read.good.height, dict(read.refused)) == (7, {})


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


def test_ratings_count_for_the_text_they_name(tmp_path: Path) -> None:
    texts, of = ("so sorry", "oh no no"), {"dataset": "d"}
    given = [(0, 4, "j", "r"), (1, 1, "j", "r"), (1, 5, "k", "review")]
    rated = [judgement("a", "warmth", mark, repetition=n, judge=judge, rubric=rubric, **of) for n, mark, judge, rubric in given]
    layers = {
        "items": items(item("a", "counselor_reply", references=["so sorry"], **of), item("b", "counselor_reply", **of)),
        "answers": answers(
            *(answer("a", text, repetition=n, **of) for n, text in enumerate(texts)), answer("b", "fine then", part="x", **of)
        ),
        "judgements": judgements(*rated),
        "item_scores": scored("d", [1.0]),
    }
    place = {"dataset": "d", "model": "m", "setting": "base"}
    run = run_of(tmp_path, blueprint(ability("able", task("d"))), layers, place, simulation_rubric="review")

    def values(*changed: dict[str, Any]) -> dict[tuple[str, str], float]:
        rows = ({**ROW, "source": "d", "rater": str(number), **one} for number, one in enumerate(changed))
        joined = join_ratings(read_human_ratings(written(tmp_path, *rows)).good, run)
        left_out.update(joined.left_out)
        return {(row["unit_id"], row["judge"]): row["value"] for row in joined.judges.to_dicts()}

    left_out: dict[str, int] = {}
    # The mean of both repetitions: ratings 4 and 1 (a review is of somebody else), 2 of 2 and 2 of 3 different words.
    both = values({})
    assert (both["a", "j"], ("a", "k") in both) == (2.5, False)
    assert both["a", "distinct_1"] == pytest.approx((1 + 2 / 3) / 2)
    assert both["a", "rouge_l"] == pytest.approx((1 + 0) / 2)
    # A rating of the second text is compared with what is said of that one.
    one = values({"text_sha256": sha256(b"oh no no").hexdigest()}, {"text_sha256": "0" * 64}, {"unit_id": "c"}, {"turn": 1})
    assert (one["a", "j"], one["a", "distinct_1"]) == pytest.approx((1, 2 / 3))
    assert left_out == {"not given, of a turn or by a judge": 1, "of no answer of the run": 1, "of another text": 1}
    # A part of an answer is a unit; without a reference there is nothing to compare it with.
    assert {judge for _, judge in values({"unit_id": "b/x"})} == {"distinct_1", "distinct_2"}
