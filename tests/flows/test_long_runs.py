"""LongEmotion's six settings, from the command to the report, with models whose behaviour is known."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.flows.long_scripted import SETTINGS, Troupe, troupe

ABILITIES = dict.fromkeys(
    ("emotion_classification", "emotion_detection", "emotion_qa", "emotion_summary", "emotion_conversation", "emotion_expression")
)
ALL = ("--settings", ",".join(SETTINGS))
pytestmark = pytest.mark.usefixtures("prefect_server")


@pytest.fixture(scope="module")
def perfect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Troupe]:
    with troupe(tmp_path_factory.mktemp("perfect") / "lake") as players:
        yield players


def test_gold(capsys, perfect):
    ended = perfect.run(capsys, *ALL)
    print(ended.status, ended.err)
    document = ended.document
    for r in document["raw_scores"]:
        if r["value"] != 1 or r["n_unparsed"]: print(r)
    for m in document["models"]: print(m)
    print(document["calls"], perfect.calls, document["missing"])
    for u in document["usage"]: print(u)
    assert 0
