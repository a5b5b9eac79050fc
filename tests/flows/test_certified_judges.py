"""Runs and leaderboards with a certified judge and one without a certificate, as a user meets them."""

import json
import re
import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from schemas.documents.certificates import Certificate, CertifiedDimension
from schemas.documents.run import Cost
from schemas.lineage import CallCounts, CodeVersion, PartitionRef
from schemas.tables.ratings import CertificateVerdict
from schemas.usage import total
from tasks.lake.lake import Lake
from tests.flows.command import Ended, assert_one_message, ended
from tests.flows.test_judged_dimensions import judge, write_files
from tests.model_server import ModelServer

NONE = "† judged by other, which has no certificate for rubric kindness: moodflow judges certify --judge other --rubric kindness"


class Servers(NamedTuple):
    """Of the judge, and of the model under test."""

    rating: ModelServer
    tested: ModelServer


def run(servers: Servers, lake: Path, *more: str, by: str = "judge", stage: str = "run") -> Ended:
    judged = ("--judge", by, "--judge-base-url", servers.rating.base_url)
    return ended(stage, "own.yaml", "--model", "kind", "--base-url", servers.tested.base_url, *judged, "--lake", lake, *more)


def answer(messages: list[dict[str, str]]) -> str:
    (item,) = re.findall(r"(\w+) was bad", messages[-1]["content"])
    return f"kind reply to {item}"


def identity_of(folder: Path, asked: Ended) -> str:
    """The hash of what the ratings of a stage were asked with, however often."""
    (ref,) = (PartitionRef.model_validate(each) for each in asked.document["partitions"] if each["layer"] == "judgements")
    settings = Lake(folder, CodeVersion("1", None)).read_footer(ref).settings
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


class Judged(NamedTuple):
    """Answers that a judge rated, in a lake of the test's own, and the identity of the judge."""

    servers: Servers
    lake: Path
    identity: str


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Servers, Path, str]]:
    """The servers, a folder with the benchmark and the lake, in which answers are rated and nothing is scored; the identity."""
    folder = tmp_path_factory.mktemp("rated")
    write_files(folder)
    with pytest.MonkeyPatch.context() as patch, ModelServer(judge) as rating, ModelServer(answer) as tested:
        patch.chdir(folder)
        servers = Servers(rating, tested)
        _, asked = (run(servers, folder / "lake", "--json", stage=stage) for stage in ("build", "infer"))
        yield servers, folder, identity_of(folder / "lake", asked)


@pytest.fixture
def judged(rated: tuple[Servers, Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Judged:
    servers, folder, identity = rated
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return Judged(servers, tmp_path / "lake", identity)


def test_each_surface_names_the_certificate(judged: Judged) -> None:
    servers, lake, identity = judged
    certify(lake, identity, "items")
    done, other = (run(servers, lake, "--json", by=by).document for by in ("judge", "other"))
    assert other["judges"] == [{"dataset": "days", "judge": "other", "rubric": "kindness", "certificate": None}]
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


def test_other_settings_void_a_certificate(judged: Judged) -> None:
    servers, lake, identity = judged
    certify(lake, identity, "systems only")
    warmer = run(servers, lake, "--json", "--set", "judge.sampling.temperature=0.5").document
    often = run(servers, lake, "--json", "--set", "judge_repeat=2").document
    verdicts = [(row["judges"][0]["certificate"] or {}).get("verdict") for row in (warmer, often)]
    assert verdicts == [None, "systems only"]
    # The newest of several counts.
    certify(lake, identity, "no ceiling", at="2026-02-01T00:00:00+00:00")
    certify(lake, identity, "items", at="2025-02-01T00:00:00+00:00")
    out = " ".join(ended("runs", "show", often["run"], "--lake", lake).out.split())
    assert "† judged by judge; its certificate for rubric kindness says: no ceiling (9 texts of people)" in out
    # Unless another rests on more texts.
    certify(lake, identity, "systems only", at="2024-02-01T00:00:00+00:00", texts=1200)
    out = " ".join(ended("runs", "show", often["run"], "--lake", lake).out.split())
    assert "not to score single answers, by rubric kindness (1,200 texts of people)" in out


def test_a_required_certificate_stops_before_calls(judged: Judged) -> None:
    servers, lake, identity = judged
    calls = servers.rating.calls, servers.tested.calls
    done = run(servers, lake.with_name("empty"), "--require-certificate")
    command = "moodflow judges certify --judge judge --rubric kindness --ratings SOURCE"
    assert_one_message(done, "a judge is not certified", "judge with rubric kindness: no certificate", command)
    assert (servers.rating.calls, servers.tested.calls) == calls
    certify(lake, identity, "not usable")
    assert_one_message(run(servers, lake, "--require-certificate"), "its certificate says not usable")
    certify(lake, identity, "systems only", at="2026-03-01T00:00:00+00:00")
    assert run(servers, lake, "--require-certificate", stage="infer").status == 0
