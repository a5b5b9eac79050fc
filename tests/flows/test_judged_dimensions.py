"""A rubric of one's own with two scales, asked one dimension at a time with reasons: from the judge's replies to the report."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.flows.command import Ended, assert_one_message, ended
from tests.flows.commands.test_bad_input import blueprint
from tests.model_server import ModelServer

BOTH = ("en", "zh")
RUBRIC = {
    "id": "kindness",
    "version": "1",
    "ask": "one_by_one",
    "rationale": True,
    "texts": ["TASK"],
    "instruction": dict.fromkeys(BOTH, "Rate the reply."),
    "scale": {"lowest": 0, "highest": 4},
    "bands": [{"lowest": 0, "highest": 4, "meaning": dict.fromkeys(BOTH, "the more the warmer")}],
    "dimensions": [
        {"name": "warmth", "definition": dict.fromkeys(BOTH, "Is it warm?")},
        {"name": "asks", "definition": dict.fromkeys(BOTH, "Does it ask?"), "scale": "yes_no"},
    ],
}
TASK = {"id": "days", "title": "Days", "level": "low", "datasets": ["days"]}
METHOD = {"id": "judge", "judged": True, "rubric": "kindness", "metrics": [{"metric": "judged_rating"}]}
BLUEPRINT: dict[str, Any] = {
    "own_rubrics": {"kindness": RUBRIC},
    "abilities": [{"id": "able", "title": "Able", "tasks": [TASK]}],
    "datasets": {"days": {"title": "Bad days", "source": {"path": "days.jsonl"}, "methods": [METHOD]}},
}
CLUSTERS = {"a1": "x", "a2": "x", "b1": "y", "b2": "y"}
SAID: dict[str, dict[str, Any]] = {
    "curt": {"a1": (4, "yes"), "a2": (2, "no"), "b1": (1, "yes"), "b2": (1, None)},
    "kind": dict.fromkeys(CLUSTERS, (4, "yes")),
    "warm": dict.fromkeys(CLUSTERS, (4, "no")),
    "cold": dict.fromkeys(CLUSTERS, (0, "yes")),
    "gold": {"a1": (3, "no")},
}
"""What the judge says of each model's answers: warmth from 0 to 4, and whether it asks; null = it says nothing."""


def write_files(folder: Path) -> None:
    blueprint(folder, **BLUEPRINT)
    asked = {"language": "en", "question_type": "open_ended", "references": ["So sorry."]}
    items = ({"item_id": name, "question": f"{name} was bad.", "cluster": of, **asked} for name, of in CLUSTERS.items())
    (folder / "days.jsonl").write_text("\n".join(map(json.dumps, items)), encoding="utf-8")


def judge(messages: list[dict[str, str]]) -> str:
    model, item = re.findall(r"(\w+) reply to (\w+)", messages[1]["content"].replace("So sorry.", "gold reply to a1"))[0]
    warmth, asks = SAID[model][item]
    if '"asks"' in messages[0]["content"]:
        return "" if asks is None else json.dumps({"rationale": f"It says {asks}.", "asks": asks})
    return json.dumps({"rationale": f"So warm: {warmth}.", "warmth": warmth})


def run(model: str, server: ModelServer, lake: Path, *more: str, says: str | None = None, stage: str = "run") -> Ended:
    def answer(messages: list[dict[str, str]]) -> str:
        (item,) = re.findall(r"(\w+) was bad", messages[-1]["content"])
        return f"{says or model} reply to {item}"

    with ModelServer(answer) as tested:
        judged = ("--judge", "judge", "--judge-base-url", server.base_url, *more)
        return ended(stage, "own.yaml", "--model", model, "--base-url", tested.base_url, *judged, "--lake", lake, "--json")


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    return tmp_path / "lake"


class Ran(NamedTuple):
    """Three runs: of a model that asks now and then, and of one that is first warm, then cold but asks."""

    folder: Path
    curt: Ended
    warm: Ended
    cold: Ended
    of_curt: int
    """Calls that the judge received in the first run."""

    @property
    def lake(self) -> Path:
        return self.folder / "lake"


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("ran")
    write_files(folder)
    with pytest.MonkeyPatch.context() as patch, ModelServer(judge) as server:
        patch.chdir(folder)
        curt = run("curt", server, folder / "lake")
        of_curt = server.calls
        warm = run("m", server, folder / "lake", says="warm")
        # Another identity: its server may get the address that the one before had.
        cold = run("m", server, folder / "lake", "--set", "models.identity=other", says="cold")
    return Ran(folder, curt, warm, cold, of_curt)


def test_a_fallen_dimension_is_told(ran: Ran, tmp_path: Path) -> None:
    # Each item has (4/4 + 0) / 2, then (0/4 + 1) / 2.
    assert [done.document["models"][0]["total"] for done in (ran.warm, ran.cold)] == [50.0, 50.0]
    # Two clusters of items decide nothing.
    assert [done.document["state"] for done in (ran.warm, ran.cold)] == ["Completed", "Completed"]
    report, page = Path(ran.cold.document["report"]), tmp_path / "board.html"
    board = ended("leaderboard", ran.folder / "own.yaml", "--lake", ran.lake, "--html", page, "--json").document
    means = [(row["dimension"], row["mean"]) for row in board["dimension_scores"] if row["model"] == "m"]
    assert means == [("asks", 1.0), ("warmth", 0.0)]
    assert '<section id="dimensions">' in page.read_text(encoding="utf-8")
    for file in (report, report.with_suffix(".md")):
        assert "days: warmth (0 to 4)" in file.read_text(encoding="utf-8")


def test_gold_replies_are_a_baseline_without_score(lake: Path) -> None:
    rates_gold = ("--set", "judge.identity=judge", "--set", "judge_gold=true")
    named = ("--set", "models.identity=kind")
    with ModelServer(judge) as server:
        _, plain = (run("kind", server, lake, *named, *rates_gold[:2], stage=stage) for stage in ("build", "infer"))
        forecast = run("kind", server, lake, *named, *rates_gold, "--dry-run").document
        # Two calls for each of four gold replies; the model's answers are rated already.
        assert server.calls == 8
        assert [(row["role"], row["calls"], row["stored"]) for row in forecast["models"]] == [("tested", 0, 4), ("judge", 8, 8)]
        done = run("kind", server, lake, *named, *rates_gold)
        assert server.calls == 16
        judged = ("--judge", "judge", "--judge-base-url", server.base_url, *rates_gold)
        silent = ended("run", "own.yaml", "--model", "gone", "--base-url", "http://127.0.0.1:9/v1", *judged, "--lake", lake)
        assert server.calls == 16
    # Rated gold answers for no silent model.
    assert_one_message(silent, "no call was answered", "where: model gone")
    assert [(row["model"], row["total"], row["rank"]) for row in done.document["models"]] == [("kind", 100, 1)]
    asked = [{(row["model"], row["role"]): row["calls"] for row in one.document["cost"]["models"]} for one in (plain, done)]
    assert asked == [{("kind", "tested"): 4, ("judge", "judge"): calls} for calls in (8, 16)]
    rated = [
        (row["model"], row["setting"], row["dimension"], row["mean"], row["n_total"]) for row in done.document["dimension_scores"]
    ]
    gold, own = [("gold", "gold", *one) for one in GOLD_MEANS], [("kind", "base", *one) for one in OWN_MEANS]
    assert rated == [*gold, *own]
    page = Path(done.document["report"]).read_text(encoding="utf-8")
    assert page.count('<th scope="row">gold replies</th>') == 2
    board = ended("leaderboard", "own.yaml", "--lake", lake, "--html", "board.html", "--json").document
    assert ([row["model"] for row in board["models"]], len(board["dimension_scores"])) == (["kind"], 4)
    assert '<th scope="row">gold replies</th>' in Path("board.html").read_text(encoding="utf-8")
    checked = ended("verify", done.document["run"], "--lake", lake, "--json")
    assert (checked.status, checked.document["differences"]) == (0, [])


GOLD_MEANS = [("asks", 0.0, 4), ("warmth", 3.0, 4)]
OWN_MEANS = [("asks", 1.0, 4), ("warmth", 4.0, 4)]


def test_dimensions_from_the_judge_to_the_report(ran: Ran) -> None:
    # Two calls for each of four answers; where nothing came, the client asked once more.
    assert ran.of_curt == 9
    assert (ran.curt.status, ran.warm.status) == (1, 0), ran.curt.err
    lake, first, second = ran.lake, *(done.document["run"] for done in (ran.curt, ran.warm))
    assert_scores(ran.curt.document)
    assert_report(Path(ran.curt.document["report"]).read_text(encoding="utf-8"))
    assert_compared(lake, first, second)
    # Warmth of four answers and asks of three.
    shown = [ended("runs", "show", name, "--lake", lake).out for name in (first, second)]
    assert ["no rating of curt's answers" in out for out in shown] == [True, False]
    checked = ended("verify", first, "--lake", lake, "--json")
    assert (checked.status, checked.document["differences"]) == (0, [])
    counts = {row["layer"]: row["recomputed"] for row in checked.document["layers"]}
    assert counts["dimension_scores"] == 1
    explained = ended("explain", first, "--dataset", "days", "--item", "a1", "--lake", lake, "--json")
    rated = [(row["dimension"], row["rating"], row["highest"]) for row in explained.document["asked"][0]["ratings"]]
    assert ("asks", 1, 1) in rated


def assert_scores(document: dict[str, Any]) -> None:
    # a1 (4/4 + 1) / 2, a2 (2/4 + 0) / 2, b1 (1/4 + 1) / 2: of b2 a rating is missing, which is not 0.
    (raw,) = document["raw_scores"]
    assert (raw["value"], raw["n_scored"], raw["n_total"]) == (pytest.approx((1 + 0.25 + 0.625) / 3), 3, 4)
    assert (raw["n_unparsed"], document["missing"]) == (0, [])
    asks, warmth = document["dimension_scores"]
    shared = {"model": "curt", "dataset": "days", "setting": "base", "rubric": "kindness", "judge": "judge", "n_clusters": 2}
    # Clusters x (4, 2) and y (1, 1): 3 and 1, on 0-1 an error of 0.25, n = 4; t of 1 degree is 12.706: 0.5 -+ 0.49392.
    of_warmth = {
        "dimension": "warmth",
        "scale_min": 0,
        "scale_max": 4,
        "mean": 2.0,
        "ci_low": pytest.approx(0.02432, abs=1e-5),
        "ci_high": pytest.approx(3.97568, abs=1e-5),
    }
    assert warmth == shared | of_warmth | {"n_answers": 4, "n_total": 4}
    # x (1, 0) and y (1): without one it is 1, without the other 1/2; the error is 0.25, n = 2/9 / 0.0625 = 3.556.
    ends = {"ci_low": pytest.approx(0.0096, abs=1e-5), "ci_high": pytest.approx(0.99758, abs=1e-5)}
    of_asks = {"dimension": "asks", "scale_min": 0, "scale_max": 1, "mean": pytest.approx(2 / 3), **ends}
    assert asks == shared | of_asks | {"n_answers": 3, "n_total": 4}


def assert_report(page: str) -> None:
    section = page[page.index('id="judges"') :]
    _, *rows = re.findall(r"<tr>.*?</tr>", section[: section.index("</section>")], re.DOTALL)
    found = [[cell for cell in re.split(r"<[^>]+>", row) if cell.strip()] for row in rows]
    assert found == [
        ["asks", "0 to 1", "0.67", "0.01 to 1.00", "3 of 4", "2 clusters"],
        ["warmth", "0 to 4", "2.00", "0.02 to 3.98", "4 of 4", "2 clusters"],
    ]
    assert "Agreement of judges" not in page


def assert_compared(lake: Path, before: str, after: str) -> None:
    (model,) = ended("compare", before, after, "--lake", lake, "--json").document["models"]
    asks, warmth = model["dimension_scores"]
    assert (asks["dataset"], asks["rubric"], asks["dimension"]) == ("days", "kindness", "asks")
    assert asks["difference"] == pytest.approx(-2 / 3)
    assert (warmth["before"]["mean"], warmth["after"]["mean"], warmth["difference"]) == (2, 4, 2)
    # Both clusters are alike: 4 x 2 / (2 + 12.706^2).
    assert (warmth["after"]["ci_low"], warmth["after"]["n_answers"]) == (pytest.approx(0.04895, abs=1e-5), 4)
    printed = ended("compare", before, after, "--lake", lake).out
    assert "days: warmth" in printed
    assert "0.02 to 3.98" in printed
