"""Ratings by people of thirty replies, and judges that rate them in known ways."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.flows.command import Ended, ended
from tests.model_server import ModelServer

REPLIES, CLUSTERS, SYSTEMS = 30, 15, 6
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
    """A rating on the scale; where they would leave it, all say the same."""
    value = merit(number)
    return value + OFFSETS[rater] if number % 3 == 0 and 1 < value < 5 else value


def text_of(number: int) -> str:
    return f"Reply {number} says something."


def rows(**more: Any) -> list[dict[str, Any]]:
    """A row per rating, with the text that it is of; `more`: columns of all rows."""
    return [
        {
            "source": "replies",
            "unit_id": f"u{number}",
            "cluster_id": f"c{number % CLUSTERS}",
            "system": f"s{number % SYSTEMS}",
            "dimension": "warmth",
            "rater": rater,
            "rater_kind": "expert",
            "rating": rating_of(rater, number),
            "scale": [1, 2, 3, 4, 5],
            "language": "en",
            "question": f"Question {number}",
            "text": text_of(number),
            **more,
        }
        for number in range(REPLIES)
        for rater in OFFSETS
    ]


def write_source(folder: Path, ratings: Sequence[dict[str, Any]] = (), **rubric: Any) -> Path:
    """Write ratings with their texts, and beside them the rubric; `rubric`: fields of it that differ."""
    (folder / "kind.yaml").write_text(json.dumps({**RUBRIC, **rubric}), encoding="utf-8")
    file = folder / "replies.jsonl"
    file.write_text("\n".join(map(json.dumps, ratings or rows())), encoding="utf-8")
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
