"""Runs and leaderboards with a certified judge and one without a certificate, as a user meets them."""

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from schemas.documents.certificates import Certificate, CertifiedDimension
from schemas.documents.run import Cost
from schemas.lineage import CallCounts
from schemas.tables.ratings import CertificateVerdict
from schemas.usage import total
from tasks.runs.past_run import reopen
from tests.flows.command import Ended, assert_one_message, ended
from tests.flows.test_judged_dimensions import judge, write_files
from tests.model_server import ModelServer

NONE = "† judged by other, which has no certificate for rubric kindness: moodflow judges certify --judge other --rubric kindness"


def run(url: str, tested: str, lake: Path, *more: str, by: str = "judge") -> Ended:
    models = ("--model", "kind", "--base-url", tested, "--judge", by, "--judge-base-url", url)
    return ended("run", "own.yaml", *models, "--lake", lake, *more)


def answer(messages: list[dict[str, str]]) -> str:
    (item,) = re.findall(r"(\w+) was bad", messages[-1]["content"])
    return f"kind reply to {item}"


def identity_of(lake: Path, run: str) -> str:
    """The hash of what the ratings of a run were asked with, however often."""
    past = reopen(lake, run)
    settings = past.lake.read_footer(past.partitions("judgements")[0]).settings
    assert settings.keys() >= {"judge", "rubric_sha256", "evaluation_version"}
    text = json.dumps(settings, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()


def certify(
    lake: Path, identity: str, verdict: CertificateVerdict, at: str = "2026-01-01T00:00:00+00:00", texts: int = 9
) -> None:
    numbers: dict[str, Any] = dict.fromkeys(CertifiedDimension.model_fields)
    rated = numbers | {"dimension": "warmth", "verdict": verdict, "rule": "r", "n_units": 9, "n_clusters": 9, "ceiling": 0.8}
    of = {"judge": "judge", "rubric": "kindness", "rubric_sha256": "0" * 64, "identity": identity, "source": "people"}
    counts = {"texts": texts, "ratings": 27, "refused": 0, "left_out": {}, "unread": 0, "calls": CallCounts()}
    cost = Cost(currency=None, models=(), total=total(()), unpriced=(), notes=())
    dimension = CertifiedDimension(**rated | {"failed_checks": (), "missing_checks": ()})
    own = {"dimensions": (dimension,), "checks": (), "agreements": (), "cost": cost, "verdict": verdict, "certified_at": at}
    folder = lake / "certificates/source=people/judge=judge/rubric=kindness"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{sha256(at.encode()).hexdigest()}.json").write_text(Certificate(**of | counts | own).model_dump_json())


def scoring_of(lake: Path, run: str) -> dict[str, Any]:
    """How a record of Every Eval Ever says that the answers of a run were judged."""
    (file,) = ended("export", run, "--to", "every-eval-ever", "--out", run, "--lake", lake, "--json").document["files"]
    results = json.loads((Path(run) / file).read_text(encoding="utf-8"))["evaluation_results"]
    (scoring,) = [each["metric_config"]["llm_scoring"] for each in results if "llm_scoring" in each["metric_config"]]
    return dict(scoring)


@pytest.fixture
def servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, str]]:
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    with ModelServer(judge) as rating, ModelServer(answer) as tested:
        yield rating.base_url, tested.base_url


def test_each_surface_names_the_certificate(servers: tuple[str, str], tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    first = run(*servers, lake, "--json").document
    assert first["judges"] == [{"dataset": "days", "judge": "judge", "rubric": "kindness", "certificate": None}]
    assert first["models"][0]["certified"] is False
    certify(lake, identity_of(lake, first["run"]), "items")
    done, other = run(*servers, lake, "--json").document, run(*servers, lake, "--json", by="other").document
    (covered,) = done["judges"]
    assert (covered["certificate"]["verdict"], covered["certificate"]["verdicts"]) == ("items", {"warmth": "items"})
    assert covered["certificate"]["file"].startswith("certificates/source=people/judge=judge/rubric=kindness/")
    assert [one["models"][0]["certified"] for one in (done, other)] == [True, False]
    shown = [" ".join(ended("runs", "show", one["run"], "--lake", lake).out.split()) for one in (done, other)]
    assert "Judge judge is certified to score single answers by rubric kindness (9 texts of people)" in shown[0]
    assert [NONE in out for out in shown] == ["†" in out for out in shown] == [False, True]
    pages = [Path(one["report"]).read_text(encoding="utf-8") for one in (done, other)]
    assert [NONE in page for page in pages] == ["†" in page for page in pages] == [False, True]
    assert "Read with care: a judge without a certificate" in pages[1]
    assert [page.count("rubric kindness (9 texts") + page.count(NONE) for page in pages] == [1, 1]
    assert "expert_baseline" not in scoring_of(lake, other["run"])
    assert scoring_of(lake, done["run"])["expert_baseline"] == 0.8
    board = ended("leaderboard", "own.yaml", "--lake", lake, "--html", "board.html")
    page, out = Path("board.html").read_text(encoding="utf-8"), " ".join(board.out.split())
    for text in (page, out):
        assert NONE in text
        assert text.count("kind †") == 1


def test_other_settings_void_a_certificate(servers: tuple[str, str], tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    first = run(*servers, lake, "--json").document
    certify(lake, identity_of(lake, first["run"]), "systems only")
    warmer = run(*servers, lake, "--json", "--set", "judge.sampling.temperature=0.5").document
    often = run(*servers, lake, "--json", "--set", "judge_repeat=2").document
    verdicts = [(row["judges"][0]["certificate"] or {}).get("verdict") for row in (warmer, often)]
    assert verdicts == [None, "systems only"]
    # The newest of several counts.
    certify(lake, identity_of(lake, first["run"]), "no ceiling", at="2026-02-01T00:00:00+00:00")
    certify(lake, identity_of(lake, first["run"]), "items", at="2025-02-01T00:00:00+00:00")
    out = " ".join(ended("runs", "show", often["run"], "--lake", lake).out.split())
    assert "† judged by judge; its certificate for rubric kindness says: no ceiling (9 texts of people)" in out
    # Unless another rests on more texts.
    certify(lake, identity_of(lake, first["run"]), "systems only", at="2024-02-01T00:00:00+00:00", texts=1200)
    out = " ".join(ended("runs", "show", often["run"], "--lake", lake).out.split())
    assert "not to score single answers, by rubric kindness (1,200 texts of people)" in out


def test_a_required_certificate_stops_before_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = tmp_path / "lake"
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    with ModelServer(judge) as rating, ModelServer(answer) as tested:
        urls = rating.base_url, tested.base_url
        done = run(*urls, lake, "--require-certificate")
        command = "moodflow judges certify --judge judge --rubric kindness --ratings SOURCE"
        assert_one_message(done, "a judge is not certified", "judge with rubric kindness: no certificate", command)
        assert (rating.calls, tested.calls) == (0, 0)
        first = run(*urls, lake, "--json").document
        certify(lake, identity_of(lake, first["run"]), "not usable")
        assert_one_message(run(*urls, lake, "--require-certificate"), "its certificate says not usable")
        certify(lake, identity_of(lake, first["run"]), "systems only", at="2026-03-01T00:00:00+00:00")
        assert run(*urls, lake, "--require-certificate").status == 0
