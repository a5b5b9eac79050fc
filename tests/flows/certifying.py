"""Ratings by people of thirty replies, and judges that rate them in known ways."""

import json
import re
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.flows.command import Ended, ended
from tests.model_server import ModelServer

REPLIES = 30
SYSTEMS = 6
RATERS = ("ann", "bob", "cyd")
OFFSETS = {"ann": 0, "bob": 1, "cyd": -1}
"""Of three people two are a point off on every third reply, in either direction: their mean is the first one's rating."""

RUBRIC = {
    "id": "kind",
    "version": "1",
    "instruction": {"en": "Rate.", "zh": "评分。"},
    "scale": {"lowest": 1, "highest": 5},
    "anchors": {"en": ["1", "2", "3", "4", "5"], "zh": ["1", "2", "3", "4", "5"]},
    "dimensions": [{"name": "warmth", "definition": {"en": "Warm?", "zh": "温暖？"}}],
}


def merit(number: int) -> int:
    """What the first of the people says of a reply: 1 to 5, each as often."""
    return number % 5 + 1


def rating_of(rater: str, number: int) -> int:
    """A rating on the scale; where an offset would leave it nobody departs."""
    value = merit(number)
    return value + OFFSETS[rater] if number % 3 == 0 and 1 < value < 5 else value


def text_of(number: int) -> str:
    return f"Reply {number} says something."


def rows(raters: Sequence[str] = RATERS, **more: Any) -> list[dict[str, Any]]:
    return [
        {
            **dict(
                source="replies", unit_id=f"u{number}", turn=None, cluster_id=f"c{number % 15}", system=f"s{number % SYSTEMS}"
            ),
            **dict(dimension="warmth", higher_is_better=True, rater=rater, rater_kind="expert", rater_known=True),
            **dict(rating=rating_of(rater, number), scale=[1, 2, 3, 4, 5], words=None),
            "text_sha256": sha256(text_of(number).encode()).hexdigest(),
            **more,
        }
        for number in range(REPLIES)
        for rater in raters
    ]


def texts() -> list[dict[str, Any]]:
    return [
        {
            **dict(source="replies", system=f"s{number % SYSTEMS}", unit_id=f"u{number}", cluster_id=f"c{number % 15}"),
            **dict(language="en", context=None, question=f"Question {number}", text=text_of(number), turns=None),
            "text_sha256": sha256(text_of(number).encode()).hexdigest(),
        }
        for number in range(REPLIES)
    ]


def write_source(folder: Path, ratings: Sequence[dict[str, Any]] | None = None) -> Path:
    """Ratings and texts, and the rubric beside them."""
    (folder / "kind.yaml").write_text(json.dumps(RUBRIC), encoding="utf-8")
    file = folder / "replies.json"
    file.write_text(json.dumps({"ratings": ratings or rows(), "texts": texts()}), encoding="utf-8")
    return file


def fair(messages: list[dict[str, str]]) -> str:
    """A judge that says what the people say on average."""
    return rate(messages, merit)


def rate(messages: list[dict[str, str]], judge: Callable[[int], int]) -> str:
    (number,) = set(re.findall(r"Reply (\d+) says", messages[1]["content"])) or {"0"}
    return json.dumps({"warmth": judge(int(number))})


def arguments(folder: Path, source: Path, server: ModelServer, *more: str) -> list[str]:
    where = ["--ratings", str(source), "--rubric", str(folder / "kind.yaml"), "--lake", str(folder / "lake"), "--json"]
    return ["judges", "certify", "--judge", "j", "--judge-base-url", server.base_url, *where, *more]


def certify(folder: Path, server: ModelServer, *more: str, source: Path | None = None) -> Ended:
    return ended(*arguments(folder, source or write_source(folder), server, *more))
