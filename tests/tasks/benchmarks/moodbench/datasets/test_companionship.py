"""PersonaFeedback and LongMemEval in their upstream layouts, of which no file is in the mirror."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.dataset import DatasetSpec, PinnedFile
from schemas.errors import SourceError
from tasks.datasets.building import build_items
from tasks.datasets.catalogue import find_dataset
from tasks.sources.reading import read_dataset
from tests.tasks.datasets.real_datasets import make_items, paths

PERSONA = {
    "Name": "Ada",
    "Demographics": {"Age": 61, "Career_Information": "Retired pilot"},
    "Personality": {"Extraversion_or_Introversion": "Introversion", "Values_and_Interests": ["birds", "maps"]},
    "Preference": {"Content_Interests": ["short texts"], "Social": "Writes letters"},
}


def write_personas(folder: Path, users: tuple[str, ...] = ("1", "2")) -> DatasetSpec:
    """A small copy of the dataset in its upstream layout, and the entry without the files that are not in it."""
    spec = find_dataset("personafeedback")
    questions: dict[str, list[dict[str, Any]]] = {
        "data/general/easy.jsonl": [
            {"user_id": 1, "question": f"What about day {day}?", "chosen": f" Birds {day}. ", "reject": f"Disco {day}."}
            for day in range(20)
        ],
        "data/spedific/hard.jsonl": [{"user_id": "2", "question": "A trip?", "chosen": "By boat.", "reject": "By car."}],
    }
    base = folder / "huggingface.co/PersonalAILab/PersonaFeedback"
    for path, rows in questions.items():
        (base / path).parent.mkdir(parents=True)
        (base / path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (base / "persona").mkdir()
    for user in users:
        (base / f"persona/{user}.json").write_text(json.dumps({**PERSONA, "Name": f"Ada {user}"}, indent=1), encoding="utf-8")
    here = {*questions, *(f"persona/{user}.json" for user in users)}
    return replace(spec, files=tuple(file for file in spec.files if isinstance(file, PinnedFile) and file.path in here))


def test_personafeedback_joins_the_persona_of_each_question(tmp_path: Path) -> None:
    spec = write_personas(tmp_path)
    built = build_items(spec, paths(spec, tmp_path), None, 0)
    assert (built.items.height, built.rejected.height) == (21, 0)
    assert Counter(built.items["subset"]) == {"general, easy": 20, "specific, hard": 1}
    trip = built.items.filter(pl.col("subset") == "specific, hard").row(0, named=True)
    assert trip["context"] == (
        "User:\nName: Ada 2\nAge: 61\nCareer Information: Retired pilot\nExtraversion or Introversion: Introversion\n"
        "Values and Interests: birds; maps\nContent Interests: short texts\nSocial: Writes letters\n\nRequest: A trip?"
    )
    assert trip["options"][trip["gold_indices"][0]] == "By boat."
    assert (trip["source_file"], trip["source_row"]) == ("data/spedific/hard.jsonl", 0)


def test_personafeedback_without_a_persona_is_an_error(tmp_path: Path) -> None:
    spec = write_personas(tmp_path, users=("1",))
    with pytest.raises(SourceError, match="no items of personafeedback can be built") as caught:
        make_items(spec, read_dataset(spec, paths(spec, tmp_path)))
    assert "no persona of 1 users, such as 2" in str(caught.value.got)


def session(*turns: str) -> list[dict[str, Any]]:
    roles = ("user", "assistant")
    return [{"role": roles[number % 2], "content": text, "has_answer": number == 0} for number, text in enumerate(turns)]


def memory(name: str, kind: str, question: str, answer: Any, sessions: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    asked = {"question_id": name, "question_type": kind, "question": question, "question_date": "2023/06/01 (Thu) 10:00"}
    return asked | {"answer": answer, "haystack_dates": list(sessions), "haystack_sessions": list(sessions.values())}


BOUGHT = {"2023/05/13 (Sat) 09:00": session("I bought a fig.", "Lovely.")}
MEMORIES = [
    memory(
        *("q1", "temporal-reasoning", "How many days passed?", 7),
        {"2023/05/20 (Sat) 02:21": session("I planted a fig.", "Well done!"), **BOUGHT},
    ),
    memory("q2", "single-session-preference", "What should I cook?", "Prefers dishes with figs.", BOUGHT),
    memory("q3_abs", "multi-session", "When did I buy a plum?", "You mentioned a fig but no plum.", BOUGHT),
    memory("q4", "single-session-user", "What did I buy?", None, BOUGHT),
]


@pytest.mark.parametrize("upstream", [True, False])
def test_longmemeval_shows_dated_sessions_in_order(upstream: bool, tmp_path: Path) -> None:
    entry = find_dataset("longmemeval")
    chosen = entry if upstream else entry.alternative
    assert chosen is not None
    assert chosen.expected_rows == 500
    (file,) = chosen.files
    assert isinstance(file, PinnedFile)
    path = tmp_path / file.repository / file.path
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(MEMORIES), encoding="utf-8")

    spec = replace(chosen, expected_rows=4)
    built = build_items(spec, paths(spec, tmp_path), None, 0)
    assert built.items.height == 3
    assert built.rejected["broken_rules"].to_list() == [["references_are_given_and_not_empty"]]
    items = {item["source_row"]: item for item in built.items.iter_rows(named=True)}
    assert items[0]["context"] == (
        "[Session of 2023/05/13 (Sat) 09:00]\nUser: I bought a fig.\nAssistant: Lovely.\n\n"
        "[Session of 2023/05/20 (Sat) 02:21]\nUser: I planted a fig.\nAssistant: Well done!"
    )
    assert items[0]["question"] == "(Asked on 2023/06/01 (Thu) 10:00.) How many days passed?"
    references = [text for row in range(3) for text in items[row]["references"]]
    assert references == ["7", "Prefers dishes with figs.", "You mentioned a fig but no plum."]
    assert [items[row]["subset"] for row in range(3)] == ["temporal-reasoning", "single-session-preference", "abstention"]
    assert set(built.items["question_type"]) == {"open_ended"}


def test_longmemeval_with_date_too_few_cannot_be_asked(tmp_path: Path) -> None:
    entry = find_dataset("longmemeval")
    path = tmp_path / "huggingface.co/xiaowu0162/longmemeval/longmemeval_oracle"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps([{**MEMORIES[0], "haystack_dates": ["2023/05/20 (Sat) 02:21"]}]), encoding="utf-8")
    spec = replace(entry, expected_rows=1)
    with pytest.raises(SourceError, match="no item of longmemeval"):
        make_items(spec, read_dataset(spec, paths(spec, tmp_path)))
