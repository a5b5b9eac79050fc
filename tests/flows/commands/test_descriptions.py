"""What is said of models: with a run, afterwards, and in the leaderboard."""

import json
from csv import DictReader
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from flows.commands.plan_options import PlanOptions, read_plan
from schemas.chat import ModelEntry
from tasks.lake.manifest import read_manifest
from tasks.runs.comparable_runs import group_runs
from tests.flows.command import ask_mini, assert_one_message, ended
from tests.flows.commands.past_runs import PastRuns
from tests.flows.commands.test_leaderboard import store
from tests.flows.scripted import policy
from tests.model_server import ModelServer
from tests.tasks.reporting.example_scores import totals_row

ABOUT = "m: {institution: Lab, series: Em, openness: domain-specific, parameters: 7-8B (estimated), released: 2025-04-28}\n"
SIZE = {"text": "7-8B (estimated)", "low": 7.0, "high": 8.0, "is_estimate": True}
SAID = {"institution": "Lab", "series": "Em", "openness": "domain", "parameters": SIZE, "released": "2025-04-28"}


def written(folder: Path, text: str) -> Path:
    path = folder / "about.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.usefixtures("prefect_server")
def test_a_described_run_is_the_same_run(tmp_path: Path) -> None:
    lake, datasets = tmp_path / "lake", ("mini_bias_detection",)
    with ModelServer(policy(datasets, "gold")) as server:
        plain = ask_mini("run", server.base_url, lake, datasets, "--json").document
        about = written(tmp_path, ABOUT)
        described = ask_mini("run", server.base_url, lake, datasets, "--about", about, "--json").document
    runs = [document["run"] for document in (plain, described)]
    manifests = [read_manifest(lake, run) for run in runs]
    assert [run.plan["models"][0].get("about") for run in manifests] == [None, SAID]
    assert [document["models"][0]["about"] for document in (plain, described)] == [None, SAID]
    # Nothing was asked again, the names end in the same hash of the plan, and the runs are one group.
    assert described["calls"]["sent"] == 0
    assert len({run.rsplit("-", 1)[1] for run in runs}) == 1
    assert len(group_runs(manifests, {})) == 1
    assert not any(
        "models" in change["what"] for change in ended("compare", *runs[:2], "--lake", lake, "--json").document["differences"]
    )


def test_models_are_described_by_option_or_configuration(tmp_path: Path) -> None:
    model = {"name": "m", "base_url": "http://127.0.0.1:9/v1"}
    config = tmp_path / "plan.json"
    config.write_text(json.dumps({"models": [model | {"about": SAID | {"parameters": "7-8B (estimated)"}}]}), encoding="utf-8")
    by_option = PlanOptions(model=["m"], base_url=model["base_url"], about=written(tmp_path, ABOUT))
    plans = [read_plan("moodbench-mini", options) for options in (by_option, PlanOptions(config=[str(config)]))]
    assert [plan.model_dump(mode="json")["models"][0]["about"] for plan in plans] == [SAID, SAID]
    assert plans[0] == plans[1]


def test_a_past_run_is_described_and_verified(runs: PastRuns, tmp_path: Path) -> None:
    runs = runs.copied(tmp_path)
    path = runs.lake / "runs" / runs.after / "manifest.json"
    describe = ("runs", "describe", runs.after, "--lake", runs.lake, "--json", "--about")
    before = path.read_bytes()

    def earlier() -> list[str]:
        hashes: list[str] = json.loads(path.read_bytes())["earlier_sha256"]
        return hashes

    first = ended(*describe, written(tmp_path, ABOUT)).document
    hashes = [sha256(before).hexdigest()]
    assert ([row["about"] for row in first["models"]], earlier()) == ([SAID], hashes)
    checked = ended("verify", runs.after, "--lake", runs.lake, "--json").document
    assert (checked["verified"], next(note for note in checked["notes"] if hashes[0] in note)[:26]) == (
        True,
        "what is said of its models",
    )
    board = ended("leaderboard", "moodbench-mini", "--run", runs.after, "--lake", runs.lake, "--json").document
    assert [row["about"] for row in board["models"]] == [SAID]
    # A process that was stopped between manifest and seal is no obstacle; the description is taken away again.
    seal = path.with_name("SHA256SUMS")
    sealed, hashes = seal.read_bytes(), [*hashes, sha256(path.read_bytes()).hexdigest()]
    assert (ended(*describe, written(tmp_path, "m: null\n")).status, earlier()) == (0, hashes)
    seal.write_bytes(sealed)
    assert ended(*describe, written(tmp_path, "m: null\n")).document["models"][0]["about"] is None
    assert ended("verify", runs.after, "--lake", runs.lake).status == 0
    # But for that and the hashes of those before, the manifest is the one that the run wrote.
    now: dict[str, Any] = json.loads(path.read_bytes())
    assert now["plan"]["models"][0].pop("about") is None
    assert (len(now.pop("earlier_sha256")), now) == (3, json.loads(before))


def test_a_changed_run_is_not_described(runs: PastRuns, tmp_path: Path) -> None:
    runs = runs.copied(tmp_path, started_at="2020-01-01T00:00:00+00:00")
    path = runs.lake / "runs" / runs.after / "manifest.json"
    before = path.read_bytes()
    done = ended("runs", "describe", runs.after, "--about", written(tmp_path, ABOUT), "--lake", runs.lake)
    assert_one_message(done, "do not match their seal", "changed or gone: manifest.json", f"moodflow verify {runs.after}")
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("n: {series: Em}", ("there is no model n", "--about", "expected: one of m", "next step: describe models of the run")),
        ("m: {licence: MIT}", ("Extra inputs are not permitted", "m.licence", "said of a model: institution")),
        ("m: {parameters: {text: 7B, low: 8}}", ("the size does not match its text", "m.parameters")),
        ("[m]", ("the configuration file cannot be read", "expected: a YAML or JSON file with descriptions", "got: list")),
    ],
)
def test_a_wrong_description_is_refused(runs: PastRuns, tmp_path: Path, text: str, parts: tuple[str, ...]) -> None:
    about = written(tmp_path, text)
    assert_one_message(ended("runs", "describe", runs.after, "--about", about, "--lake", runs.lake), *parts)
    models = ("--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    assert_one_message(ended("run", "moodbench-mini", *models, "--about", about, "--lake", tmp_path), *parts)


DESCRIBED = {
    "alpha": {"institution": "Lab", "openness": "open", "parameters": "7B"},
    "beta": {"institution": "Lab", "openness": "open", "parameters": "50-60B"},
    "gamma": {"institution": "Firm", "openness": "closed"},
    "delta": None,
}


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """Four runs of one model each: alpha 50, beta 60, gamma 90, delta, of which nothing is said, 80."""
    counts = {"datasets_scored": 4, "coverage": 1.0, "ci_low": None, "ci_high": None}
    for number, (model, total) in enumerate(zip(DESCRIBED, (50.0, 60.0, 90.0, 80.0), strict=True), start=1):
        row = totals_row(model=model, total=total, total_before_veto=total, **counts)
        store(tmp_path, f"20260101T000000000000Z.{number}-m", row, about=DESCRIBED[model])
    return tmp_path


def test_described_models_are_chosen_and_grouped(lake: Path) -> None:
    board = ("leaderboard", "moodbench-mini", "--lake", lake)
    some = ended(*board, "--where", "openness = 'open' AND billions < 55.5", "--json").document
    # Beta stands at the middle of its range, 55. Of delta nothing is said, of gamma it is said that it is closed.
    assert [(row["model"], row["rank"]) for row in some["models"]] == [("beta", 1), ("alpha", 2)]
    assert some["chosen"] == {"where": "openness = 'open' AND billions < 55.5", "unknown": 1, "group_by": None}
    groups = ended(*board, "--group-by", "institution", "--json").document
    assert [(row["model"], row["rank"]) for row in groups["models"]] == [("gamma", 1), ("beta", 3), ("alpha", 4), ("delta", 2)]
    assert groups["chosen"]["group_by"] == "institution"
    none = ended(*board, "--where", "openness = 'domain'", "--html", lake / "none.html", "--json").document
    assert (none["models"], none["chosen"]["unknown"]) == ([], 1)
    plain = ended(*board, "--json").document
    assert ("chosen" in plain, len(plain["models"])) == (False, 4)


def test_chosen_models_are_on_all_pages(lake: Path, tmp_path: Path) -> None:
    html, csv, tex = (tmp_path / f"board.{ending}" for ending in ("html", "csv", "tex"))
    files = ("--html", html, "--csv", csv, "--latex", tex)
    done = ended(
        "leaderboard", "moodbench-mini", "--lake", lake, "--where", "institution IS NOT NULL", "--group-by", "openness", *files
    )
    assert done.status == 0, done.err
    told = "Only models with institution IS NOT NULL, ranked among themselves."
    for text in (done.out, html.read_text(encoding="utf-8")):
        assert [part for part in (told, "penness", "gamma", "closed") if part not in " ".join(text.split())] == []
        assert "delta" not in text
    cells = list(DictReader(csv.read_text(encoding="utf-8").splitlines()))
    assert [(row["model"], row["openness"], row["parameters"], row["billions"]) for row in cells] == [
        ("gamma", "closed", "", ""),
        ("beta", "open", "50-60B", "55.0"),
        ("alpha", "open", "7B", "7.0"),
    ]
    assert tex.read_text(encoding="utf-8").count(r"\begin{table}") >= 2


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (("--where", "openness=open"), ("the condition cannot be read", "texts in single quotes", "got: open")),
        (("--group-by", "maker"), ("there is no field maker", "institution, series, openness")),
    ],
)
def test_a_choice_that_cannot_be_is_refused(lake: Path, options: tuple[str, ...], parts: tuple[str, ...]) -> None:
    assert_one_message(ended("leaderboard", "moodbench-mini", "--lake", lake, *options), *parts)


def test_published_models_are_chosen_by_their_tables_words() -> None:
    board = ("leaderboard", "moodbench", "--published", "--json")
    large = ended(*board, "--where", "openness = 'open' AND billions > 100").document
    # Of Table 4's open models three have more than 100 billions: 671, 109 and 400.
    assert [(row["model"], row["rank"]) for row in large["models"]] == [
        ("deepseek-v3.1", 1),
        ("llama-4-scout", 2),
        ("llama-4-maverick", 3),
    ]
    # The words for the size of qwen-max and qwen-plus are no number; both are closed.
    assert large["chosen"]["unknown"] == 0
    assert ended(*board, "--where", "billions > 100").document["chosen"]["unknown"] == 2
    rows = ended("leaderboard", "esc-eval", "--published", "--group-by", "openness", "--json").document["models"]
    # Of the English models two are closed, six of the field and six open; of the Chinese ones two, five and five.
    kinds = [(row["group"], row["about"]["openness"]) for row in rows]
    assert [(kind, kinds.count(kind)) for kind in dict.fromkeys(kinds)] == [
        *(((1, "closed"), 2), ((1, "domain"), 6), ((1, "open"), 6)),
        *(((2, "closed"), 2), ((2, "domain"), 5), ((2, "open"), 5)),
    ]


def test_a_description_changes_no_call() -> None:
    plain, described = (ModelEntry(name="m", base_url="http://x/v1", **more) for more in ({}, {"about": {"series": "Em"}}))
    assert described.meaning == plain.meaning
