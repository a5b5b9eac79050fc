"""Ratings by people are compared with what is said of the very text that they rated."""

from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tasks.certificates.joining import join_ratings
from tasks.ratings.reading import read_human_ratings
from tests.tasks.ratings.files import ROW, written
from tests.tasks.rows import answer, answers, item, items, judgement, judgements
from tests.tasks.runs.runs import run_of
from tests.tasks.scoring.samples import ability, blueprint, task
from tests.tasks.scoring.samples import items as scored


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
        joined = join_ratings(read_human_ratings(written(tmp_path, *rows)).ratings, run)
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
