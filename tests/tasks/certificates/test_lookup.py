"""What a certificate is of, which one covers the judge of a run, and what is said of judges with one and without."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.api_capabilities import ApiCapabilities, Sampling
from schemas.certificates import CertificateSummary, CoveredDataset
from schemas.chat import ModelEntry
from schemas.documents.certificates import Certificate, CertifiedDimension
from schemas.documents.run import Cost
from schemas.lineage import CallCounts, CodeVersion
from schemas.roles import PEOPLE
from schemas.tables.ratings import CertificateVerdict
from schemas.tables.responses import Judgements
from schemas.tables.scores import DimensionScores
from schemas.usage import total
from tasks.certificates.lookup import (
    certify_command,
    covered_datasets,
    covering,
    find_certificates,
    marked,
    say_judges,
    subject_of,
)
from tasks.judging.executor import judgements_key
from tasks.lake.lake import Lake
from tasks.lake.partitions import partition_key
from tasks.runs.past_run import PastRun
from tests.tasks.certificates.rated import rubric
from tests.tasks.lake.test_manifest import bare_manifest
from tests.tasks.rows import frame, judgement, judgements, partition
from tests.tasks.scoring.samples import ability, blueprint, task

JUDGE = ModelEntry(name="j", base_url="http://localhost/v1")
RUBRIC = rubric("warmth", "depth")
DAYS = ("2026-01-01T00:00:00+00:00", "2026-01-02T00:00:00+00:00", "2026-01-03T00:00:00+00:00")


def summary(verdict: CertificateVerdict = "items", identity: str = "same", **more: Any) -> CertificateSummary:
    of = {"judge": "j", "rubric": "r", "rubric_sha256": RUBRIC.sha256, "identity": identity, "source": "s", "texts": 9}
    return CertificateSummary(**{**of, "verdict": verdict, "certified_at": DAYS[0], "verdicts": {}, "file": "f"} | more)


def write_certificate(lake: Lake, name: str, **more: Any) -> Path:
    """Leave the document of a certificate, `items` in warmth and `systems only` in depth, in the lake."""
    rows = [{"dimension": "warmth", "verdict": "items"}, {"dimension": "depth", "verdict": "systems only"}]
    nothing = dict.fromkeys(CertifiedDimension.model_fields) | {"failed_checks": (), "missing_checks": (), "rule": "r"}
    dimensions = [nothing | {"n_units": 9, "n_clusters": 9} | row for row in rows]
    cost = Cost(currency=None, models=(), total=total(()), unpriced=(), notes=())
    counts = {"ratings": 27, "refused": 0, "left_out": {}, "unread": 0, "calls": CallCounts(), "cost": cost}
    head = summary("systems only", **more).model_dump(exclude={"verdicts", "file"})
    whole = Certificate(**head | counts | {"dimensions": dimensions, "checks": (), "agreements": ()})
    path = Path(str(lake.root)) / "certificates/source=s/judge=j/rubric=r" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(whole.model_dump_json(), encoding="utf-8")
    return path


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path, CodeVersion("1", None))


def test_certificate_is_of_judge_rubric_and_prompt() -> None:
    subject = subject_of(JUDGE, RUBRIC)
    assert (subject.judge, subject.rubric, subject.rubric_sha256) == ("j", "r", RUBRIC.sha256)
    sampling = {"temperature": 0.0, "top_p": 1.0, "max_tokens": 512, "seed": None}
    settings = {"judge": "j", "identity": "http://localhost/v1", "sampling": sampling, "rubric_sha256": RUBRIC.sha256}
    text = json.dumps(settings | {"evaluation_version": "5"}, sort_keys=True, separators=(",", ":"))
    assert subject.identity == sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"name": "other"}, False),
        ({"identity": "http://localhost/v2"}, False),
        ({"sampling": Sampling(temperature=0.5)}, False),
        ({"dialect": ApiCapabilities(unsent=("json_schema",))}, False),
        ({"dialect": ApiCapabilities()}, True),
        ({"concurrency": 1}, True),
    ],
    ids=str,
)
def test_other_judge_is_another_subject(change: dict[str, Any], same: bool) -> None:
    assert (subject_of(JUDGE.model_copy(update=change), RUBRIC).identity == subject_of(JUDGE, RUBRIC).identity) == same


def test_other_words_of_rubric_are_another_subject() -> None:
    assert subject_of(JUDGE, rubric("warmth", "depth", version="2")).identity != subject_of(JUDGE, RUBRIC).identity


def test_certificates_come_newest_first(lake: Lake) -> None:
    assert find_certificates(lake) == []
    for name, day in (("b", DAYS[0]), ("a", DAYS[2]), ("c", DAYS[0]), ("d", DAYS[1])):
        write_certificate(lake, name, certified_at=day)
    found = find_certificates(lake)
    # Two are of one day: by the name of the file, as the days backwards.
    assert [Path(each.file).stem for each in found] == ["a", "d", "c", "b"]
    assert found[0].file == "certificates/source=s/judge=j/rubric=r/a.json"
    assert found[0].verdicts == {"warmth": "items", "depth": "systems only"}
    assert (found[0].verdict, found[0].texts, found[0].certified_at) == ("systems only", 9, DAYS[2])


def test_unreadable_certificate_is_named_and_passed_over(lake: Lake, capsys: pytest.CaptureFixture[str]) -> None:
    write_certificate(lake, "a")
    damaged = write_certificate(lake, "b", certified_at=DAYS[1])
    damaged.write_text("{", encoding="utf-8")
    assert [Path(each.file).stem for each in find_certificates(lake)] == ["a"]
    told = capsys.readouterr().err
    assert "a certificate is passed over: a certificate of a judge cannot be read" in told
    assert str(damaged) in told


def test_certificate_on_most_texts_covers() -> None:
    subject = subject_of(JUDGE, RUBRIC)
    newest, most, other = (
        summary(identity=subject.identity, texts=9, file="newest"),
        summary(identity=subject.identity, texts=40, file="most"),
        summary(identity="0" * 64, texts=90, file="other"),
    )
    older = summary(identity=subject.identity, texts=40, file="older")
    assert covering(subject, [newest, other, most, older]) == most
    assert covering(subject, [newest, other]) == newest
    assert covering(subject, [other]) is None


def mean(dataset: str, judge: str, **more: Any) -> dict[str, Any]:
    row = {"model": "m", "dataset": dataset, "setting": "base", "rubric": "r", "dimension": "warmth", "judge": judge, "mean": 3.0}
    return {**row, "scale_min": 1, "scale_max": 5, "n_answers": 1, "n_total": 1, "n_clusters": 1, **more}


def judged_run(lake: Lake, by: dict[str, ModelEntry], *scores: dict[str, Any], **rated: Any) -> PastRun:
    """A run whose datasets were each rated by a judge; `rated`: how often."""
    refs = []
    for dataset, judge in by.items():
        answers = partition("answers", place=(("dataset", dataset), ("model", "m"), ("setting", "base")))
        rows = judgements(judgement("a", "warmth", 3, dataset=dataset, judge=judge.name, rubric="r"))
        refs.append(lake.write(judgements_key(answers, judge, "r", RUBRIC.sha256, **rated), rows, Judgements))
    means: pl.DataFrame = frame(DimensionScores, scores)
    refs.append(lake.write(partition_key("dimension_scores", {"benchmark": "b"}, {}, [], "1"), means, DimensionScores))
    return PastRun(bare_manifest(partitions=tuple(refs)), blueprint(ability("able", task("d"))), lake)


def test_run_is_covered_by_its_judge(lake: Lake) -> None:
    identity = subject_of(JUDGE, RUBRIC).identity
    warmer = JUDGE.model_copy(update={"sampling": Sampling(temperature=0.5)})
    scores = [mean("e", "j"), mean("d", "j"), mean("d", PEOPLE), mean("f", PEOPLE)]
    run = judged_run(lake, {"d": JUDGE, "e": warmer}, *scores, repetitions=3)
    assert {(each.dataset, each.certificate) for each in covered_datasets(run)} == {("d", None), ("e", None)}
    write_certificate(lake, "a", identity=identity)
    # The judge of d as it was certified, only asked more often; that of e is warmer; people need no certificate.
    first, second = covered_datasets(run)
    assert (first.dataset, first.judge, first.rubric, second.dataset, second.certificate) == ("d", "j", "r", "e", None)
    assert first.certificate is not None
    assert first.certificate.file.endswith("/a.json")
    # Those that are given are taken, and none is read.
    assert [each.certificate for each in covered_datasets(run, [])] == [None, None]
    given = summary(identity=identity, file="given")
    assert [each.certificate for each in covered_datasets(run, [given])] == [given, None]


def test_ratings_by_people_need_no_certificate(lake: Lake) -> None:
    write_certificate(lake, "a")
    assert covered_datasets(judged_run(lake, {}, mean("d", PEOPLE))) == ()


def covered(dataset: str, certificate: CertificateSummary | None, **more: Any) -> CoveredDataset:
    return CoveredDataset(**{"dataset": dataset, "judge": "j", "rubric": "r", "certificate": certificate} | more)


@pytest.mark.parametrize(
    ("verdict", "is_marked"), [("items", False), ("systems only", False), ("no ceiling", True), ("not usable", True)]
)
def test_mark_says_that_judge_may_not_rank(verdict: CertificateVerdict, is_marked: bool) -> None:
    assert marked("Warmth", [covered("d", summary(verdict))]) == ("Warmth †" if is_marked else "Warmth")


def test_mark_is_that_of_the_datasets() -> None:
    judged = [covered("d", summary()), covered("e", None)]
    assert [marked("T", judged, datasets) for datasets in (None, ["d", "e"], ["e"], ["d"], ["f"], [])] == [
        *["T †"] * 3,
        *["T"] * 3,
    ]
    assert marked("T", []) == "T"


def test_each_judge_and_verdict_is_said_once() -> None:
    usable, ranking = summary("items", texts=1200, source="people"), summary("systems only", texts=1)
    said = say_judges(
        [
            covered("a", usable),
            covered("b", usable),
            covered("c", usable, rubric="q"),
            covered("d", usable, rubric="p"),
            covered("e", ranking),
            covered("f", summary("no ceiling")),
            covered("g", None, judge="k"),
            covered("h", None, judge="k", rubric="q"),
        ]
    )
    assert [*said] == [
        "Judge j is certified to score single answers by rubric r and 2 more (1,200 texts of people)",
        "Judge j is certified to rank systems, not to score single answers, by rubric r (1 text of s)",
        "† judged by j; its certificate for rubric r says: no ceiling (9 texts of s)",
        f"† judged by k, which has no certificate for rubric r and 1 more: {certify_command('k', 'r')}",
    ]
    assert [*say_judges([])] == []


def test_command_names_judge_and_rubric() -> None:
    assert certify_command("k", "q") == "moodflow judges certify --judge k --rubric q --ratings SOURCE"
