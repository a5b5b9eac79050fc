"""The released sample, read and aggregated as runs are."""

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from statistics import fmean
from typing import Any

import pytest

from schemas.blueprint import MethodSpec, MetricSpec
from schemas.vocabulary import Language
from tasks.judging.rubrics import load_rubric
from tasks.metrics.measures import rating_share, read_ratings
from tasks.scoring.breakdowns import score_dimensions
from tests.mirror import MIRROR, needs_mirror
from tests.rows import each_row
from tests.tasks import rows
from tests.tasks.rows import Row

FOLDER = MIRROR / "github.com/haidequanbu/ESC-Eval"
RUBRIC = load_rubric("esc_eval_released")
METHOD = MethodSpec(id="judge", judged=True, rubric=RUBRIC.id, metrics=(MetricSpec(metric="judged_rating"),))

# Percent = 100 x mean / 4 over three dialogues. What is not named has 3, 3, 3 (75), overall 2, 2, 2 (50).
# Humanoid 1, 1, 1: 25; 1, 1, 3 or 1, 2, 2: 5/3, hence 41.67. Fluency 3, 3, 2: 8/3, hence 66.67.
SAMPLE = [
    # (5 x 75 + 25 + 50) / 7
    ("Qwen_7B", "en", {"humanoid": 25}, 450 / 7),
    # (5 x 75 + 125/3 + 50) / 7
    ("Qwen_7B", "zh", {"humanoid": 125 / 3}, (425 + 125 / 3) / 7),
    ("llama3", "en", {"humanoid": 125 / 3}, (425 + 125 / 3) / 7),
    # (200/3 + 4 x 75 + 25 + 50) / 7
    ("llama3", "zh", {"fluency": 200 / 3, "humanoid": 25}, (375 + 200 / 3) / 7),
]


NAMES = {"fluency": "fluency", "diversity": "expression", "empathic": "empathy", "suggestion": "information"}
NAMES |= {"tech": "skillful", "human": "humanoid", "overall": "overall"}
"""Our dimensions, by the keys of the scores."""


def read_scores(scores: Mapping[str, Mapping[str, int]], cards: Sequence[Row], **place: str) -> Iterator[Row]:
    """Rows of `judgements` for a file under `score/`, which has them by the place of the card."""
    call = {"part": "", "repetition": 0, "judge": "ESC-RANK", "judge_repetition": 0, "rubric": RUBRIC.id}
    scale = {"parse_status": "parsed", "lowest": 0, "highest": 4}
    for at, key, score in ((at, *pair) for at, given in scores.items() for pair in given.items()):
        origin = {"item_id": f"card-{cards[int(at)]['id']}", "call_key": sha256(f"{place}{at}{key}".encode()).hexdigest()}
        yield {**place, **call, **origin, **scale, "dimension": NAMES[key], "rating": score}


def load(path: str) -> Any:
    return json.loads((FOLDER / path).read_text(encoding="utf-8"))


@needs_mirror
@each_row(("model", "language", "own", "average"), SAMPLE)
def test_dimensions_and_average_of_the_released_scores(
    model: str, language: Language, own: dict[str, float], average: float
) -> None:
    place, cards = {"dataset": f"esc_eval_{language}", "model": model, "setting": "role_play"}, load(f"data/test_{language}.json")
    judged = rows.judgements(*read_scores(load(f"score/{model}_{language}.json"), cards, **place))
    asked = [rows.item(name, "open_ended", dataset=place["dataset"]) for name in judged["item_id"].unique(maintain_order=True)]
    scores = score_dimensions(judged, rows.items(*({**one, "references": ["x"]} for one in asked)))
    percent = {name: 25 * mean for name, mean in scores.select("dimension", "mean").iter_rows()}
    usual = {**dict.fromkeys(RUBRIC.names, 75.0), "overall": 50.0}
    assert (judged.height, scores["n_answers"].unique().to_list()) == (21, [3])
    assert percent == pytest.approx({**usual, **own})
    # As a run is scored: the mean over items of the mean over dimensions.
    assert 100 * fmean(rating_share(*given) for given in read_ratings(judged, METHOD).values()) == pytest.approx(average)
    assert fmean(percent.values()) == pytest.approx(average)
