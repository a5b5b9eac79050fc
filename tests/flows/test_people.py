"""People beside a judge: what they say of the same answers, what is drawn and withheld, and what the lake makes of it."""

import json
from pathlib import Path
from shutil import copytree
from typing import Any

import krippendorff
import polars as pl
import pytest

from schemas.folders import parse_folder
from schemas.tables.layers import LAYERS
from tasks.judging.rubrics import load_rubric
from tasks.runs.past_run import reopen
from tasks.runs.rating_sheets import draw_answers
from tests.flows.command import Ended, assert_one_message, ended
from tests.flows.rating import ITEMS, PEOPLE, filled, judge, rating, rows_of, run, warmth, write_benchmark, written
from tests.model_server import ModelServer

JUDGED = ("--judge", "judge", "--judge-base-url")


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "lake"


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The benchmark that people alone rate, with a run whose answers nobody rated yet, not to be changed; and the run's name."""
    folder = tmp_path_factory.mktemp("answered")
    write_benchmark(folder, "people")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return folder, str(run(folder / "lake")["run"])


@pytest.fixture
def first(answered: tuple[Path, str], lake: Path) -> str:
    """The name of that run, in a copy of all that is in its folder."""
    folder, name = answered
    copytree(folder, lake.parent, dirs_exist_ok=True)
    return name


def sheet(name: str, lake: Path, *more: str) -> tuple[Ended, Path]:
    """Each in a folder of its own: none is written over another, which may be filled in."""
    folder = Path(f"sheet-{len(list(Path.cwd().glob('sheet-*')))}")
    done = ended("judges", "sheet", name, "--to", folder, "--lake", lake, "--json", *more)
    return done, folder / "sheet.csv"


def imported(name: str, lake: Path, *files: Path) -> dict[str, Any]:
    done = ended("judges", "sheet", name, "--import", *files, "--lake", lake, "--json")
    assert done.status == 0, done.err
    return done.document


def shown(name: str, lake: Path) -> dict[str, Any]:
    return ended("runs", "show", name, "--lake", lake, "--json").document


def scores(document: dict[str, Any]) -> list[tuple[str, str, float]]:
    return [(row["judge"], row["dimension"], row["mean"]) for row in document["dimension_scores"]]


def test_people_stand_beside_the_judge(lake: Path, tmp_path: Path) -> None:
    write_benchmark(tmp_path, "both")
    with ModelServer(judge) as server:
        first = run(lake, *JUDGED, server.base_url)
    # The judge says of every reply what most say: 1 of ten, 0.75 of ten.
    assert first["raw_scores"][0]["value"] == pytest.approx(0.875)
    assert [gap["reason"] for gap in first["missing"]] == ["was rated by nobody yet by rubric kindness"]
    files = [filled(tmp_path / f"{rater}.csv", sheet(first["run"], lake)[1], rater) for rater in PEOPLE]
    name = imported(first["run"], lake, *files)["scored_run"]
    scored = shown(name, lake)
    assert (scored["raw_scores"][0]["value"], scored["missing"]) == (pytest.approx(0.875), [])
    assert scores(scored) == [
        *(("judge", "asks", 1.0), ("people", "asks", pytest.approx(59 / 60))),
        *(("judge", "warmth", 3.0), ("people", "warmth", pytest.approx(2.9))),
    ]
    of = {(row["dimension"], *row["judges"]): row["alpha"] for row in scored["agreements"]}
    people = [[float(rating(rater, item, "warmth") or "nan") for item in ITEMS] for rater in PEOPLE]
    beside = [*people, [float(warmth(item)) for item in ITEMS]]
    for judges, table in ((("people",), people), (("judge", "people"), beside)):
        alpha = krippendorff.alpha(reliability_data=table, level_of_measurement="interval")
        assert of["warmth", *judges] == pytest.approx(alpha)
    assert_kept(first["run"], name, lake)


def assert_kept(first: str, name: str, lake: Path) -> None:
    """Comparisons and boards take the judge's ratings; every command about the lake knows those by people."""
    checked = ended("verify", name, "--lake", lake, "--json")
    assert (checked.status, checked.document["differences"]) == (0, [])
    (model,) = ended("compare", first, name, "--lake", lake, "--json").document["models"]
    assert [row["difference"] for row in model["dimension_scores"]] == [0, 0]
    board = ended("leaderboard", "own.yaml", "--lake", lake, "--json").document
    assert {row["judge"] for row in board["dimension_scores"]} == {"judge"}
    rows = ended("explain", name, "--dataset", "days", "--item", "a1", "--lake", lake, "--json").document["asked"][0]["ratings"]
    said = [json.loads(row["raw_reply"]) for row in rows if (row["judge"], row["dimension"]) == ("people", "warmth")]
    assert said == [{"rater": rater, "rating": value} for rater, value in (("ann", 4), ("bob", 0), ("cyd", 4))]
    assert "/judge=people/" in ended("lineage", name, "--lake", lake, "--json").out
    page = Path(shown(name, lake)["report"]).read_text(encoding="utf-8")
    assert "ann, bob and cyd rated 20 of 20 answers of m to Bad days by rubric kindness" in page
    for run_folder in (lake / "runs").iterdir():
        run_folder.rename(lake / f"gone-{run_folder.name}")
    assert ended("gc", "--yes", "--older-than", "0", "--lake", lake).status == 0
    left = [path.relative_to(lake).parts for path in lake.rglob("*.parquet")]
    assert {parts[4] for parts in left if parts[0] in LAYERS} == {"judge=people"}


def test_a_changed_rating_changes_the_scores_below(lake: Path, first: str, tmp_path: Path) -> None:
    ann = filled(tmp_path / "ann.csv", sheet(first, lake)[1], "ann")
    one = imported(first, lake, ann)["scored_run"]
    assert imported(first, lake, ann)["scored_run"] == one
    rows = rows_of(ann.read_text(encoding="utf-8"))
    changed = [{**row, "rating": "0"} if row["dimension"] == "warmth" and row["said"].endswith("a1") else row for row in rows]
    other = imported(first, lake, written(ann, changed))["scored_run"]
    before, after = (shown(name, lake) for name in (one, other))
    # Warmth of a1 falls from 4 to 0: 60 less 4 of 20; its value from 1 to 0.5.
    assert [scores(each)[1] for each in (before, after)] == [("people", "warmth", 3.0), ("people", "warmth", 2.8)]
    assert [each["raw_scores"][0]["value"] for each in (before, after)] == [pytest.approx(0.875), pytest.approx(0.85)]
    paths = [{ref.path for ref in reopen(parse_folder(str(lake)), name).partitions("item_scores")} for name in (one, other)]
    assert not paths[0] & paths[1]


def test_ratings_count_as_the_run_was_made(lake: Path, first: str, tmp_path: Path) -> None:
    ann = filled(tmp_path / "ann.csv", sheet(first, lake)[1], "ann")
    # Another rubric and another metric by now: what was asked and is scored stays as it was.
    text = (tmp_path / "own.yaml").read_text(encoding="utf-8")
    later = text.replace("Rate the reply.", "Judge the reply.").replace("metric: judged_rating", "metric: rouge_l")
    (tmp_path / "own.yaml").write_text(later, encoding="utf-8")
    name = imported(first, lake, ann)["scored_run"]
    before, after = (reopen(parse_folder(str(lake)), each).manifest.blueprint_sha256 for each in (first, name))
    assert (after, shown(name, lake)["raw_scores"][0]["n_scored"]) == (before, 20)


def test_ratings_of_changed_items_are_refused(lake: Path, first: str, tmp_path: Path) -> None:
    ann, items = filled(tmp_path / "ann.csv", sheet(first, lake)[1], "ann"), tmp_path / "days.jsonl"
    kept = items.read_text(encoding="utf-8")
    items.write_text(kept.replace("a1 was bad.", "a1 was good."), encoding="utf-8")
    done = ended("judges", "sheet", first, "--import", ann, "--lake", lake, "--json")
    assert_one_message(done, "the run can no longer be scored", "got: other files or newer answers of days")
    assert not list(lake.rglob("judge=people"))
    items.write_text(kept, encoding="utf-8")
    assert shown(imported(first, lake, ann)["scored_run"], lake)["raw_scores"][0]["n_scored"] == 20


def test_an_absent_row_is_refused_by_its_line(lake: Path, first: str, tmp_path: Path) -> None:
    ann, bob = (rows_of(filled(tmp_path / "f.csv", sheet(first, lake)[1], name).read_text("utf-8")) for name in ("ann", "bob"))
    # Two persons in one file. Of ann row 3 is gone, and rows 5 and 6, a whole answer; of bob row 40; row 8 says not whose it is.
    left = [*(row for number, row in enumerate(ann, 1) if number not in (3, 5, 6, 8)), *bob[:-1]]
    file = written(tmp_path / "both.csv", [*left, {**ann[7], "rater": "", "rating": ""}])
    done = ended("judges", "sheet", first, "--import", file, "--lake", lake, "--json")
    refused = [(row["line"], row["rule"]) for row in done.document["refused"]]
    assert refused == [(4, "row_is_there"), (6, "row_is_there"), (7, "row_is_there"), (41, "row_is_there")]
    counts = {"read": 36 + 39 + 1, "taken": 36 + 39, "empty": 1}
    assert (done.status, done.document | counts) == (1, done.document)


def test_a_draw_is_the_same_for_all_raters(lake: Path, first: str, tmp_path: Path) -> None:
    done, file = sheet(first, lake, "--n", "5")
    rows = rows_of(file.read_text(encoding="utf-8"))
    drawn = [row["answer"] for row in rows][::2]
    # Hex digits alone may be a number to a spreadsheet.
    assert {row[column][0] for row in rows for column in ("run", "answer")} == {"a"}
    assert (done.document["answers"], len(set(drawn))) == (5, 5)
    assert_one_message(
        ended("judges", "sheet", first, "--to", file.parent, "--lake", lake), "the folder already has a sheet", str(file)
    )
    again = [row["answer"] for row in rows_of(sheet(first, lake, "--n", "5")[1].read_text(encoding="utf-8"))][::2]
    other = [row["answer"] for row in rows_of(sheet(first, lake, "--n", "5", "--seed", "1")[1].read_text(encoding="utf-8"))]
    assert (again, set(other) == set(drawn)) == (drawn, False)
    scored = shown(
        imported(first, lake, filled(tmp_path / "ann.csv", sheet(first, lake, "--n", "5")[1], "ann"))["scored_run"], lake
    )
    assert (scored["raw_scores"][0]["n_scored"], scored["raw_scores"][0]["n_total"]) == (5, 20)
    assert [(row["n_answers"], row["n_total"]) for row in (*scored["people"], *scored["dimension_scores"])] == [(5, 20)] * 3


def test_sheet_draws_answers_of_all_models(lake: Path, tmp_path: Path) -> None:
    write_benchmark(tmp_path, "people")
    name = run(lake, "--model", "n")["run"]
    done = ended("judges", "sheet", name, "--n", "20", "--lake", lake, "--json")
    # The first run of a lake has number 1. Of 40 answers to 20 items, 20 are drawn: of which model, the lake says alone.
    assert done.document["files"] == ["sheet-1/sheet.csv", "sheet-1/sheet.html"]
    past = reopen(parse_folder(str(lake)), name)
    drawn = {answer.id: answer.row["model"] for answer in draw_answers(past, None, None, 20, 0)}
    rows = rows_of(Path("sheet-1/sheet.csv").read_text(encoding="utf-8"))
    assert {row["answer"] for row in rows} == drawn.keys()
    assert sorted(set(drawn.values())) == ["m", "n"]
    assert_one_message(ended("judges", "sheet", name, "--lake", lake), "the folder already has a sheet", "sheet-1/sheet.csv")


def test_a_named_rubric_rates_any_free_text(lake: Path, first: str, tmp_path: Path) -> None:
    done, file = sheet(first, lake, "--rubric", "summary", "--method", "judge")
    rows = rows_of(file.read_text(encoding="utf-8"))
    assert (done.document["answers"], len(rows)) == (20, 80)
    scored = shown(
        imported(first, lake, written(tmp_path / "s.csv", [{**row, "rater": "ann", "rating": "5"} for row in rows]))[
            "scored_run"
        ],
        lake,
    )
    assert {(row["rubric"], row["mean"]) for row in scored["dimension_scores"]} == {("summary", 5.0)}
    # A rubric by which these items cannot be shown is no reason to end.
    row = {**rows[0], "row": "1 of 1", "rater": "ann", "rating": "5", "rubric_sha256": load_rubric("es_aspects").sha256}
    other = written(tmp_path / "o.csv", [row])
    refused = ended("judges", "sheet", first, "--import", other, "--lake", lake, "--json")
    assert [row["rule"] for row in refused.document["refused"]] == ["answer_is_of_the_run"]
    # They count in no method: of kindness nothing was rated.
    assert scored["raw_scores"][0]["n_scored"] == 0


def test_withheld_answers_are_left_out(lake: Path, first: str) -> None:
    past = reopen(parse_folder(str(lake)), first)
    notices = [notice.model_copy(update={"redistributable": False}) for notice in past.manifest.datasets]
    manifest = past.manifest.model_copy(update={"datasets": tuple(notices), "redacted": True})
    with pytest.raises(Exception, match="the run has no answers for people to rate"):
        draw_answers(type(past)(manifest, past.blueprint, past.lake), None, None, None, 0)


def test_wrong_options_are_refused(lake: Path, first: str) -> None:
    assert_one_message(ended("judges", "sheet", first, "a.csv", "--lake", lake), "give --to, or --import with all filled sheets")
    both = ended("judges", "sheet", first, "--to", "sheet", "--import", "a.csv", "--lake", lake)
    assert_one_message(both, "give --to, or --import", "--import FILE... reads filled ones")
    assert_one_message(sheet(first, lake, "--method", "none")[0], "no answers for people to rate", "got: methods judge")
    assert_one_message(sheet(first, lake, "--rubric", "kindnes")[0], "there is no rubric kindnes")
    named = ended("run", "own.yaml", "--model", "smollm2", "--judge", "people", "--judge-base-url", "http://localhost:1/v1")
    assert_one_message(named, "a judge cannot be named people")


def test_ratings_with_other_columns_are_imported_again(lake: Path, first: str, tmp_path: Path) -> None:
    """No journal has what people said: only their sheets."""
    ann, bob = (filled(tmp_path / f"{rater}.csv", sheet(first, lake)[1], rater) for rater in ("ann", "bob"))
    imported(first, lake, ann)
    (path,) = lake.glob("judgements/**/judge=people/**/*.parquet")
    footer, rows = pl.read_parquet_metadata(path)["moodflow"], pl.read_parquet(path, hive_partitioning=False)
    rows.drop("error").write_parquet(path, metadata={"moodflow": footer})
    done = ended("judges", "sheet", first, "--import", bob, "--lake", lake)
    assert_one_message(done, str(path), "move the file away, and import the filled-in sheets again")
    path.unlink()
    assert shown(imported(first, lake, ann, bob)["scored_run"], lake)["raw_scores"][0]["n_scored"] == 20
