"""Twenty replies to rate, and what people make of the sheet."""

import csv
import json
import re
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from tests.flows.command import ended
from tests.flows.commands.test_bad_input import blueprint
from tests.flows.test_judged_dimensions import BLUEPRINT, METHOD
from tests.model_server import ModelServer

ITEMS = {f"a{number}": "x" if number <= 10 else "y" for number in range(1, 21)}
"""Items and their clusters."""


def warmth(item: str) -> int:
    """What most say of a reply: 4 of every odd one, 2 of every even one."""
    return 4 if int(item[1:]) % 2 else 2


PEOPLE: dict[str, dict[tuple[str, str], int | str]] = {
    "ann": {},
    "bob": {("a1", "warmth"): 0, ("a1", "asks"): "no", ("a2", "warmth"): 0},
    "cyd": {("a20", "warmth"): ""},
}
"""Where each departs from what most say; an empty rating is not given."""


def rating(rater: str, item: str, dimension: str) -> str:
    return str(PEOPLE[rater].get((item, dimension), warmth(item) if dimension == "warmth" else "yes"))


def write_benchmark(folder: Path, raters: str) -> None:
    days = {**BLUEPRINT["datasets"]["days"], "methods": [{**METHOD, "raters": raters}]}
    blueprint(folder, **{**BLUEPRINT, "datasets": {"days": days}})
    asked = {"language": "en", "question_type": "open_ended", "references": ["So sorry."]}
    items = ({"item_id": name, "question": f"{name} was bad.", "cluster": of, **asked} for name, of in ITEMS.items())
    (folder / "days.jsonl").write_text("\n".join(map(json.dumps, items)), encoding="utf-8")


def run(lake: Path, *more: str, model: str = "m") -> dict[str, Any]:
    def answer(messages: list[dict[str, str]]) -> str:
        (item,) = re.findall(r"(\w+) was bad", messages[-1]["content"])
        return f"reply to {item}"

    with ModelServer(answer) as tested:
        done = ended("run", "own.yaml", "--model", model, "--base-url", tested.base_url, *more, "--lake", lake, "--json")
    return done.document


def judge(messages: list[dict[str, str]]) -> str:
    """A judge that says what most say."""
    (item,) = re.findall(r"reply to (\w+)", messages[1]["content"])
    said = {"asks": "yes"} if '"asks"' in messages[0]["content"] else {"warmth": warmth(item)}
    return json.dumps({"rationale": "So.", **said})


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text)))


def written(file: Path, rows: Sequence[Mapping[str, str]]) -> Path:
    out = StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    file.write_text(out.getvalue(), encoding="utf-8")
    return file


def filled(file: Path, sheet: Path, rater: str) -> Path:
    """The CSV of a sheet as one of the people fills it in."""
    rows = rows_of(sheet.read_text(encoding="utf-8"))
    item = {row["answer"]: row["said"].rpartition(" ")[2] for row in rows}
    return written(
        file, [{**row, "rater": rater, "rating": rating(rater, item[row["answer"]], row["dimension"])} for row in rows]
    )
