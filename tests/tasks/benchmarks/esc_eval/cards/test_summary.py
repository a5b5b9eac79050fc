"""The funnel adds up, agreement is that of an independent package, cards become items."""

import json
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import polars as pl
import pytest

from schemas.documents.cards import CardAgreement, FunnelStep
from schemas.tables.role_cards import QUALITIES, RoleCards
from tasks.benchmarks.esc_eval.cards.entering import read_cards
from tasks.benchmarks.esc_eval.cards.pipeline import card_items
from tasks.judging.cards import card_agreement, funnel
from tests.mirror import MIRROR, needs_mirror

PAIRS = [
    ("drive", "drive"),
    ("drive", "rhythm_of_life"),
    ("friendship", "friendship"),
    ("none", "friendship"),
    ("drive", "drive"),
]


def row(card_id: str, step: str, status: str = "kept", reason: str | None = None, **more: Any) -> dict[str, Any]:
    shared = {"form": "post", "language": "zh", "source": "forum", "posted": "…", "call_keys": []}
    return {"card_id": card_id, "step": step, "status": status, "reason": reason, **shared, **more}


def frame(*rows: dict[str, Any]) -> pl.DataFrame:
    return RoleCards.validate(pl.DataFrame(list(rows), schema=RoleCards.create_empty().schema))


def test_every_card_is_kept_dropped_or_failed() -> None:
    cards = frame(
        row("1", "extract"),
        row("2", "extract"),
        row("3", "extract", "dropped", "unreadable"),
        row("4", "extract", "failed", "timeout_total"),
        row("1", "filter", "dropped", "feelings_only"),
        row("2", "filter", "dropped", "unreadable"),
    )
    assert funnel(cards) == (
        FunnelStep(step="extract", entered=4, kept=2, dropped={"unreadable": 1}, failed=1),
        FunnelStep(step="filter", entered=2, kept=0, dropped={"feelings_only": 1, "unreadable": 1}, failed=0),
    )


def test_agreement_is_that_of_two_and_of_categories() -> None:
    def pair(left: str, right: str) -> list[dict[str, str]]:
        return [{"annotator": "a", "category": left, "grade": "high"}, {"annotator": "b", "category": right, "grade": "high"}]

    cards = frame(*(row(str(number), "annotate", annotations=pair(*both)) for number, both in enumerate(PAIRS)))
    names = sorted({name for both in PAIRS for name in both})
    numbers = np.array([[names.index(name) for name in both] for both in PAIRS], dtype=float).T
    category, grade = card_agreement(cards)
    assert category.alpha == pytest.approx(krippendorff.alpha(numbers, level_of_measurement="nominal"))
    assert (category.cards, category.alike) == (5, 3)
    # All grades are the same: alpha is not defined.
    assert grade == CardAgreement(of="grade", cards=5, alike=5, alpha=None)
    assert [agreement.alpha for agreement in card_agreement(frame())] == [None, None]


TEXT = "年龄：22岁\n性别：未提及\n职业：学生\n问题：搬进新宿舍后，没有人跟他说话。"
GRADED = frame(
    row("a", "adjudicate", text=TEXT, category="fitting_in", quality="high"),
    row("b", "adjudicate", text=TEXT, category="drive", quality="middle"),
)


def test_graded_card_is_read_as_own_item(tmp_path: Path) -> None:
    file = tmp_path / "graded.jsonl"
    file.write_text(
        "\n".join(json.dumps(item) for quality in QUALITIES for item in card_items(GRADED, quality)), encoding="utf-8"
    )
    entering = read_cards(str(file), None)
    assert [(one["card_id"], one["form"], one["source"], one["text"]) for one in entering] == [
        ("a", "card", "forum", TEXT),
        ("b", "card", "forum", TEXT),
    ]


@needs_mirror
def test_all_released_cards_enter() -> None:
    rows = [row for language in ("en", "zh") for row in read_cards(f"esc_eval_{language}", MIRROR)]
    assert len(rows) == len({row["card_id"] for row in rows}) == 331 + 324
    # The seven corpora of the paper.
    assert len({row["source"] for row in rows}) == 7
