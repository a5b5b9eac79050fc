"""A benchmark of one's own whose judge rates harm, so that low is good: the same order on every surface."""

import csv
import json
import re
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests.flows.command import ended
from tests.flows.commands.test_bad_input import blueprint
from tests.flows.served import ROOT
from tests.installed import Install, write_entry_points
from tests.model_server import ModelServer

BOTH = ("en", "zh")
RUBRIC = {
    "id": "harm",
    "version": "1",
    "texts": ["TASK"],
    "instruction": dict.fromkeys(BOTH, "Rate the reply."),
    "scale": {"lowest": 0, "highest": 4},
    "bands": [{"lowest": 0, "highest": 4, "meaning": dict.fromkeys(BOTH, "the more the worse")}],
    "dimensions": [{"name": "harm", "definition": dict.fromkeys(BOTH, "Does it hurt?"), "better": "low"}],
}
RATED = {"metric": "judged_rating", "normalisation": {"type": "centred", "best": 0, "span": 1}}
METHOD = {"id": "judge", "judged": True, "rubric": "harm", "metrics": [RATED]}
BLUEPRINT: dict[str, Any] = {
    "own_rubrics": {"harm": RUBRIC},
    "abilities": [
        {"id": "able", "title": "Able", "tasks": [{"id": "days", "title": "Days", "level": "low", "datasets": ["days"]}]}
    ],
    "datasets": {"days": {"title": "Bad days", "source": {"path": "days.jsonl"}, "methods": [METHOD]}},
}
DAYS = [f"d{n}" for n in range(6)]
HARM = {"calm": [0, 0, 0, 0, 0, 2], "odd": [1, 2, 1, 3, 2, 0], "harsh": [4, 4, 3, 4, 4, 4]}
"""Ratings of each model's replies. Means of 1/12, 3/8 and 23/24 of the scale: 91.67, 62.5 and 4.17 of 100."""

TOTALS = {name: 100 * (1 - sum(ratings) / 24) for name, ratings in HARM.items()}
ORDER = ["calm", "odd", "harsh"]


class Ran(NamedTuple):
    """A run of three models, and a run of the best and of the worst under one name."""

    folder: Path
    run: dict[str, Any]
    was_calm: str
    is_harsh: str

    @property
    def lake(self) -> Path:
        return self.folder / "lake"


def rate(messages: list[dict[str, str]]) -> str:
    model, number = re.findall(r"(\w+) reply to d(\d)", messages[1]["content"])[0]
    return json.dumps({"harm": HARM[model][int(number)]})


def reply(model: str, messages: list[dict[str, str]]) -> str:
    return f"{model} reply to {re.findall(r'd[0-9]', messages[-1]['content'])[0]}"


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("ran")
    blueprint(folder, **BLUEPRINT)
    asked = {"language": "en", "question_type": "open_ended", "references": ["So sorry."]}
    items = ({"item_id": name, "question": f"{name} was bad.", **asked} for name in DAYS)
    (folder / "days.jsonl").write_text("\n".join(map(json.dumps, items)), encoding="utf-8")

    def run(judge: ModelServer, says: dict[str, str], *more: str) -> dict[str, Any]:
        with ExitStack() as stack:
            servers = {name: stack.enter_context(ModelServer(partial(reply, of))) for name, of in says.items()}
            models = [{"name": name, "base_url": server.base_url} for name, server in servers.items()]
            Path("models.yaml").write_text(yaml.safe_dump({"models": models}), encoding="utf-8")
            judged = ("--judge", "judge", "--judge-base-url", judge.base_url)
            return dict(ended("run", "own.yaml", "--config", "models.yaml", *judged, *more, "--lake", "lake", "--json").document)

    with pytest.MonkeyPatch.context() as patch, ModelServer(rate) as server:
        patch.chdir(folder)
        all_of_them = run(server, {name: name for name in HARM})
        was, now = (run(server, {"m": name}, "--set", f"models.identity={name}") for name in ("calm", "harsh"))
    return Ran(folder, all_of_them, was["run"], now["run"])


def test_the_model_that_harms_least_is_first_everywhere(ran: Ran) -> None:
    name, page = ran.run["run"], ran.folder / "board.html"
    assert [(row["model"], row["rank"]) for row in ran.run["models"]] == [("calm", 1), ("odd", 2), ("harsh", 3)]
    assert {row["model"]: row["total"] for row in ran.run["models"]} == pytest.approx(TOTALS)
    board = ended("leaderboard", ran.folder / "own.yaml", "--run", name, "--lake", ran.lake, "--html", page, "--json").document
    assert [row["model"] for row in board["models"]] == ORDER
    report = Path(ran.folder / ran.run["report"])
    for text in (
        page.read_text(encoding="utf-8"),
        report.read_text(encoding="utf-8"),
        ended("runs", "show", name, "--lake", ran.lake).out,
    ):
        places = [text.index(model) for model in ORDER]
        assert places == sorted(places)
        assert "harm (lower is better)" in text.lower()


def test_the_worst_rows_are_those_with_the_highest_rating(ran: Ran) -> None:
    place = ("--model", "odd", "--dataset", "days", "--lake", ran.lake, "--json")
    document = ended("explain", ran.run["run"], *place, "--worst", "3").document
    # Ratings of 3, 2 and 2 of 0 to 4.
    assert [(row["item_id"], row["scores"][0]["points"]) for row in document["rows"]] == [("d3", 25), ("d1", 50), ("d4", 50)]


def test_pages_of_rows_say_right_where_nothing_hurts(ran: Ran) -> None:
    folder = ran.folder / "pages"
    assert ended("view", ran.run["run"], "--lake", ran.lake, "--to", folder).status == 0
    words = " ".join(re.sub(r"<[^>]+>", " ", (folder / "index.html").read_text(encoding="utf-8")).split())
    # Rows, right, partial and wrong.
    assert "calm 6 5 1 0 odd 6 1 5 0 harsh 6 0 1 5" in words


def test_a_rise_of_harm_is_a_regression(ran: Ran) -> None:
    compared = ended("compare", ran.was_calm, ran.is_harsh, "--lake", ran.lake, "--json").document["models"][0]
    total, (harm,) = compared["common"][0], compared["dimension_scores"]
    assert (total["difference"], total["answer"]) == (pytest.approx(TOTALS["harsh"] - TOTALS["calm"]), "different")
    assert (harm["better"], harm["difference"]) == ("low", pytest.approx(23 / 6 - 1 / 3))
    shown = ended("runs", "show", ran.is_harsh, "--lake", ran.lake, "--json").document
    fell = {row["what"]: row["message"] for row in shown["regressions"]}
    assert fell.keys() == {"total", "able", "days: harm"}
    assert fell["days: harm"].startswith("days: harm (0 to 4, lower is better) rose from 0.33 to 3.83")


def test_exported_rows_keep_the_rating(ran: Ran) -> None:
    file = ran.folder / "rows.csv"
    assert ended("export", ran.run["run"], "--lake", ran.lake, "--to", file).status == 0
    with file.open(encoding="utf-8", newline="") as opened:
        values = [float(row["value"]) for row in csv.DictReader(opened) if row["model"] == "odd"]
    assert values == [rating / 4 for rating in HARM["odd"]]


PACKAGE = """
from pathlib import Path
from schemas.benchmark import Benchmark

PAPERS = (Path(__file__).parent / "paper.yaml",)
HARM = Benchmark("harm", papers="harm:PAPERS")
"""
PROJECT = """
[project]
name = "harm"
version = "1.0"

[project.entry-points."moodflow.benchmarks"]
harm = "harm:HARM"
"""
PAPER: dict[str, Any] = {
    "title": "Harm",
    "blueprints": ["own"],
    "sample": 6,
    "models": {
        "name": "Table 1",
        "file": "paper.csv",
        "key": ["model"],
        "columns": {"model": {"kind": "text"}, "harm": {"high": 2}},
        "abilities": {"able": {"mean": ["harm"], "normalisation": {"type": "centred", "best": 0, "span": 2}}},
    },
}


@pytest.fixture
def paper(tmp_path: Path, ran: Ran) -> Install:
    """A package with a paper whose table has harm from 0 to 2, worst first."""
    site = tmp_path / "site"
    (site / "harm").mkdir(parents=True)
    (site / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    (site / "harm" / "__init__.py").write_text(PACKAGE, encoding="utf-8")
    (site / "harm" / "paper.yaml").write_text(yaml.safe_dump(PAPER), encoding="utf-8")
    (site / "harm" / "paper.csv").write_text("model,harm\nrough,1.8\nplain,1.0\ngentle,0.1\n", encoding="utf-8")
    write_entry_points(site)
    return Install(ran.folder, ROOT, site)


def test_the_paper_ranks_its_least_harmful_model_first(paper: Install, ran: Ran) -> None:
    lake = ("--lake", str(ran.lake))
    published, explained = paper.run_each(
        ("leaderboard", "own.yaml", "--published", *lake, "--json"), ("explain", ran.run["run"], "--model", "calm", *lake)
    )
    # 100 x (1 - harm / 2).
    assert [(row["model"], row["total"], row["rank"]) for row in published.document["models"]] == [
        ("gentle", 95, 1),
        ("plain", 50, 2),
        ("rough", pytest.approx(10), 3),
    ]
    assert "Published numbers of Harm" in explained.out


def test_a_printed_value_outside_its_scale_is_refused(paper: Install, ran: Ran) -> None:
    table = paper.package / "harm" / "paper.csv"
    table.write_text(table.read_text(encoding="utf-8").replace("1.8", "2.5"), encoding="utf-8")
    (refused,) = paper.run_each(("leaderboard", "own.yaml", "--published", "--lake", str(ran.lake)))
    assert refused.status == 2
    said = " ".join(refused.err.split())
    assert "paper.csv, line 2 " in said
    assert "Column 'harm' failed" in said
