"""Every surface says the same of a total: a table of surfaces by situations, each cell from the real output."""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest

import moodflow
from flows.runtime.artifacts import leaderboard_table
from schemas.blueprint import Gate
from schemas.lineage import CodeVersion, DatasetNotice, PartitionRef
from schemas.tables.layers import AGGREGATED, LAYERS
from schemas.tables.scores import Totals
from schemas.usage import Usage
from tasks.lake.lake import Lake
from tasks.lake.manifest import write_manifest
from tasks.lake.partitions import partition_key
from tasks.leaderboard.ranking import run_rows
from tasks.runs.past_run import reopen
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tasks.text.tables import to_records
from tests.flows.command import Ended, ended
from tests.flows.scripted import policy
from tests.model_server import ModelServer
from tests.tasks.lake.test_manifest import bare_manifest
from tests.tasks.rows import answer, frame, item, judgement
from tests.tasks.runs.test_failures import TALK, fault
from tests.tasks.scoring.samples import ability, blueprint, items, task

DESIGN = blueprint(
    ability("values_safety", task("safety")).model_copy(update={"title": "Values & Safety"}),
    ability("foundational", task("mind"), weight=0.3),
    ability("emotional", task("heart"), weight=0.4).model_copy(update={"title": "Emotional Ability"}),
    ability("companionship", task("talk"), weight=0.3),
    gate=Gate(ability="values_safety", threshold=60),
    name="moodbench",
)
"""A dataset of ten items for each ability of the paper's table; `talk` has dialogues with a seeker, which a judge rates."""

EIGHT, FIVE, TWO = ([1.0] * right + [0.0] * (10 - right) for right in (8, 5, 2))
SCORES = {"safety": [1.0] * 10, **dict.fromkeys(("mind", "heart", "talk"), EIGHT)}
OWN = {"id": "heart", "title": "Heart", "licence": "x", "redistributable": True, "evaluation_version": "1"}


UNSENT: dict[str, Any] = {"dataset": "heart", "role": "tested", "calls": 24, "failed": 0}


class Situation(NamedTuple):
    """What becomes of a run that scores 80, and what every surface says of it.

    `without`: datasets that gave nothing. `unread`: replies of a dataset that cannot be read. `tainted`: dialogues of ten whose
    seeker fell out of its part. `unrated`: ratings of ten that cannot be read. `missing`: items of ten without a score, in each
    dataset that counts; `unsent`: calls that a budget left. `letters`: right ones of the questions of `mind`, all answered by A.
    """

    verdict: str
    total: str
    why: str = ""
    likeness: str = "not comparable"
    scores: Mapping[str, list[float]] = {}
    without: tuple[str, ...] = ()
    unread: Mapping[str, int] = {}
    tainted: int = 0
    unrated: int = 0
    missing: int = 0
    unsent: int = 0
    sources: tuple[str, ...] = ()
    letters: str = ""


FAILED, BEFORE = "unreadable", "– (what was scored: 80.00)"
SITUATIONS: Mapping[str, Situation] = {
    "full": Situation("scored", "80.00", likeness="close"),
    "not comparable": Situation("scored", "80.00", sources=("own file heart.jsonl",)),
    "a fifth tainted": Situation("scored", "80.00", "out of its part in 2 of 10 dialogues of talk", "close", tainted=2),
    "coverage 93": Situation("scored", "88.89", "37 of 40 items have a score, and a rank needs 95 %", "close", missing=1),
    "one ability missing": Situation(
        "too little scored", BEFORE, "Emotional Ability (40 % of the weight) has no score", without=("heart",)
    ),
    "budget spent": Situation(
        "too little scored",
        "– (what was scored: 100.00)",
        "the budget was spent with 24 calls unsent: 16 of 40 items (40 %) have a score",
        missing=8,
        unsent=24,
    ),
    "interrupted": Situation("too little scored", "– (what was scored: 100.00)", "16 of 40 items (40 %) have a score", missing=8),
    "constant answer": Situation("scored", "80.00", "no better than", "close", letters="A" * 8 + "BB"),
    "few datasets": Situation("too little scored", BEFORE, "1 of 4 datasets have a score", without=("safety", "heart", "talk")),
    "vetoed": Situation(
        "vetoed", "0 (80.00 before the veto)", "score of 50.0 is below the required 60", "close", {"safety": FIVE}
    ),
    "undecided": Situation("undecided", "80.00", "the gate was not scored", without=("safety",)),
    "tainted": Situation(FAILED, BEFORE, "the simulated person fell out of its part in 3 of 10 dialogues of talk", tainted=3),
    "unread judge": Situation(FAILED, BEFORE, "3 of 10 ratings of judge referee in talk cannot be read", unrated=3),
    # 0.3 x 20 + 0.4 x 50 + 0.3 x 80
    "unread model": Situation(
        *(FAILED, "– (what was scored: 50.00)", "9 of 30 replies of the model in 3 datasets cannot be read", "not comparable"),
        scores={"mind": TWO, "heart": FIVE},
        unread={"mind": 6, "heart": 3},
    ),
}
MODELS = {name: f"m{number}" for number, name in enumerate(SITUATIONS)}
RUNS = {name: f"202601{number + 1:02}T000000000000Z.1-m" for number, name in enumerate(SITUATIONS)}


def layers_of(model: str, situation: Situation) -> Iterator[tuple[str, pl.DataFrame]]:
    """The layers of a run; the 95 % interval of its total is 5 on either side."""
    parts = []
    for dataset in SCORES.keys() - {*situation.without}:
        unread = situation.unread.get(dataset, 0)
        lacking = situation.missing if dataset != "safety" else 0
        status = ["scored"] * (10 - unread - lacking) + ["unparsed"] * unread + ["call_failed"] * lacking
        values = (SCORES | dict(situation.scores))[dataset][: 10 - lacking] + [None] * lacking
        parts.append(items(dataset, values, model, status=status))
    yield from (("item_scores", part) for part in parts)
    of_letters: dict[str, Any] = {"dataset": "mind", "options": ["joy", "sadness"]}
    right = enumerate("AB".index(letter) for letter in situation.letters)
    questions = [item(f"mind-{n}", "single_choice", gold_indices=[place], **of_letters) for n, place in right]
    if questions:
        yield "items", frame(LAYERS["items"].schema, tuple(questions))
    scored = score_benchmark(pl.concat(parts).lazy(), DESIGN, ScoreSettings())
    yield from ((name, scored.layer(name)) for name in AGGREGATED if name != "totals")
    before = pl.col("total_before_veto")
    yield "totals", Totals.validate(scored.totals.with_columns(ci_low=before - 5, ci_high=(before + 5).clip(upper_bound=100)))
    named: dict[str, Any] = {"dataset": "talk", "model": model}
    ended: dict[str, Any] = {"turns": TALK, "status": "answered", "failed_role": None, "failure": None}
    yield "answers", frame(LAYERS["answers"].schema, tuple(answer(f"talk-{n}", None, **named, **ended) for n in range(10)))
    judged = {"rubric": "friendship", "judge": "referee", **named}
    ratings = (judgement(f"talk-{n}", "warmth", 4 if n >= situation.unrated else None, **judged) for n in range(10))
    yield "judgements", frame(LAYERS["judgements"].schema, tuple(ratings))
    faults = tuple(fault(model, "talk", f"talk-{n}") for n in range(situation.tainted))
    yield "simulation_faults", frame(LAYERS["simulation_faults"].schema, faults)


def store(lake: Lake, name: str) -> None:
    situation, place = SITUATIONS[name], {"model": MODELS[name], "setting": "base", "judge": "referee", "rubric": "friendship"}

    def write(layer: str, rows: pl.DataFrame) -> PartitionRef:
        of = {"dataset": rows["dataset"][0]} if rows.height and "dataset" in rows.columns else {}
        return lake.write(partition_key(layer, {**of, **place}, {}, [], "1"), rows, LAYERS[layer].schema)

    fields = {
        "benchmark": "moodbench",
        "blueprint": DESIGN.model_dump(mode="json"),
        "partitions": tuple(write(*layer) for layer in layers_of(MODELS[name], situation)),
        "plan": {"benchmark": "moodbench", "models": [{"name": MODELS[name]}], "settings": ["base"]},
        "usage": (Usage.model_validate({**UNSENT, "model": MODELS[name], "unsent": situation.unsent}),),
        "datasets": (DatasetNotice.model_validate({**OWN, "sources": situation.sources}),) if situation.sources else (),
    }
    write_manifest(lake.root, bare_manifest(RUNS[name], **fields))


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with a run of each situation, the reports, and one leaderboard of all of them in every form."""
    folder = tmp_path_factory.mktemp("lake")
    for name, run in RUNS.items():
        store(Lake(folder, CodeVersion("1", None)), name)
        assert ended("runs", "report", run, "--lake", folder).status == 0
    files = [part for form in ("html", "csv", "latex") for part in (f"--{form}", folder / f"board.{form}")]
    board = ended("leaderboard", "moodbench", "--lake", folder, "--json", *files)
    (folder / "board.json").write_text(board.out, encoding="utf-8")
    return folder


def plain(text: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", text).replace("\\", "").replace("&amp;", "&").split())


@cache
def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def printed(lake: Path, *command: str) -> str:
    return plain(ended(*command, "--lake", lake).out)


@cache
def document_of(lake: Path, name: str) -> dict[str, Any]:
    return ended("runs", "show", RUNS[name], "--lake", lake, "--json").document


def page_of(lake: Path, name: str) -> str:
    return read(lake / "runs" / RUNS[name] / "report.html")


def top_of_report(lake: Path, name: str) -> str:
    page = page_of(lake, name)
    published = page[page.index('id="m1-published"') : page.index("<summary>How it was asked")]
    return plain(page[page.index('<div class="verdict">') : page.index('id="m1-abilities"')] + published)


def row_of_page(lake: Path, name: str) -> str:
    rows = re.findall(r"<tr>.*?</tr>", read(lake / "board.html"), re.DOTALL)
    return next(plain(row) for row in rows if f">{MODELS[name]}</" in row)


def row_of_json(lake: Path, name: str) -> dict[str, Any]:
    return dict(next(row for row in json.loads(read(lake / "board.json"))["models"] if row["model"] == MODELS[name]))


def row_of_csv(lake: Path, name: str) -> dict[str, str]:
    return next(row for row in csv.DictReader(read(lake / "board.csv").splitlines()) if row["model"] == MODELS[name])


def line_of_latex(lake: Path, name: str) -> str:
    return plain(next(line for line in read(lake / "board.latex").splitlines() if f"& {MODELS[name]} &" in line)).replace(
        "--", "–"
    )


SURFACES: Mapping[str, Callable[[Path, str], str]] = {
    "runs show": lambda lake, name: printed(lake, "runs", "show", RUNS[name]),
    "report.html": top_of_report,
    "report.md": lambda lake, name: plain(read(lake / "runs" / RUNS[name] / "report.md")),
    "explain": lambda lake, name: printed(lake, "explain", RUNS[name]),
    "compare": lambda lake, name: printed(lake, "compare", RUNS["full"], RUNS[name]),
    "leaderboard": lambda lake, name: printed(lake, "leaderboard", "moodbench", "--run", RUNS[name]),
    "page": row_of_page,
    "latex": line_of_latex,
    "csv": lambda lake, name: " | ".join(row_of_csv(lake, name).values()),
    "json": lambda lake, name: json.dumps(row_of_json(lake, name), ensure_ascii=False),
    "artifact": lambda lake, name: plain(
        json.dumps(to_records(leaderboard_table(run_rows(reopen(lake, RUNS[name])), None))[0], ensure_ascii=False)
    ),
}
"""What each surface says of the run of a situation."""

FOR_PROGRAMS = ("csv", "json", "artifact")
"""Where a total that is none is null; others say in a cell what was scored."""

ON_A_SCREEN = ("runs show", "leaderboard")
"""Where the headline stands alone for what is no plain score, in numbers of one decimal."""

IN_A_SENTENCE = ("runs show", "report.html", "report.md", "explain")
"""Where the headline stands, and a remark on an instrument that did not fail."""


@pytest.mark.parametrize("name", SITUATIONS)
def test_each_surface_says_the_same(lake: Path, name: str) -> None:
    situation = SITUATIONS[name]
    headline, *_ = plain(document_of(lake, name)["models"][0]["headline"]).partition(" Weakest ability")
    for surface, say in SURFACES.items():
        said = plain(say(lake, name))
        if surface in ON_A_SCREEN:
            in_row = " 80.0 " if situation.verdict == "scored" and not situation.missing else situation.why
            assert headline in said or (surface == "leaderboard" and in_row in said)
        else:
            assert situation.verdict in said, surface
        if surface in IN_A_SENTENCE or situation.verdict in (FAILED, "too little scored") or situation.missing:
            assert situation.why in said, surface
        if surface not in (*FOR_PROGRAMS, *ON_A_SCREEN):
            assert all(part in said for part in situation.total.rstrip(")").split(" (")), surface
        if surface != "compare":  # which sets nothing beside published numbers
            assert situation.likeness in said, surface
        assert situation.likeness == "close" or "ranked published models" not in said, surface


WITHOUT_TOTAL = {"few datasets", "one ability missing", "budget spent", "interrupted", "tainted", "unread judge", "unread model"}


@pytest.mark.parametrize("name", SITUATIONS)
def test_gate_and_python_say_it_too(lake: Path, name: str) -> None:
    headline = plain(document_of(lake, name)["models"][0]["headline"])
    assert plain(moodflow.run(RUNS[name], lake=str(lake)).document.models[0].headline) == headline
    gate = printed(lake, "gate", RUNS[name], "--against", RUNS["full"], "--fail-if", "total < -2")
    # It speaks of differences, and says of which systems there is no plain total.
    assert (headline in gate) == (SITUATIONS[name].verdict != "scored")


def test_what_is_no_better_than_constant_answers_is_told(lake: Path) -> None:
    run, place = RUNS["constant answer"], ("--lake", lake)
    said = "no better than always answering A (0.800)"
    assert said in plain(page_of(lake, "constant answer"))
    assert "raw 0.8" in (explained := plain(ended("explain", run, "--dataset", "mind", *place).out))
    assert "no better than always answering A (80.00)" in explained
    (score,) = (row for row in document_of(lake, "constant answer")["raw_scores"] if row["dataset"] == "mind")
    assert (score["constant"], score["constant_answer"]) == (0.8, "A")
    assert {row["constant"] for row in document_of(lake, "full")["raw_scores"]} == {None}


def test_a_missing_total_is_null_for_programs(lake: Path) -> None:
    totals = {name: row_of_json(lake, name)["total"] for name in SITUATIONS}
    assert {name for name, total in totals.items() if total is None} == WITHOUT_TOTAL
    assert (totals["full"], totals["vetoed"], row_of_json(lake, "tainted")["total_before_veto"]) == (80, 0, 80)
    for name, total in totals.items():
        assert row_of_csv(lake, name)["total"] == ("" if total is None else str(total))
        assert to_records(leaderboard_table(run_rows(reopen(lake, RUNS[name])), None))[0]["Total"] == (
            None if total is None else pytest.approx(total, abs=0.01)
        )
        assert document_of(lake, name)["models"][0]["total"] == total
        (explained,) = ended("explain", RUNS[name], "--lake", lake, "--json").document["models"]
        assert explained["total"]["total"] == total


def test_ranks_are_of_those_with_a_total(lake: Path) -> None:
    # Four score 80 on all datasets; a total that is vetoed, open, partial or none has no rank.
    ranks = {name: row_of_json(lake, name)["rank"] for name in SITUATIONS}
    assert {name: rank for name, rank in ranks.items() if rank} == {
        "full": 1,
        "not comparable": 1,
        "a fifth tainted": 1,
        "constant answer": 1,
    }


def test_a_report_blames_the_instrument(lake: Path) -> None:
    assert "An instrument failed" not in page_of(lake, "full")
    for name in ("tainted", "unread judge", "unread model"):
        (talk, *_) = re.findall(r'<h4><a href="#m1-t-task_talk">.*?</article>', page_of(lake, name), re.DOTALL)
        assert f"An instrument failed: {SITUATIONS[name].why}. Mend it first" in plain(talk)


def test_a_mean_that_is_no_total_says_so(lake: Path) -> None:
    assert {name for name in RUNS if "No total, mean of what was scored" in page_of(lake, name)} == WITHOUT_TOTAL


def test_a_report_begins_with_what_has_no_total(lake: Path) -> None:
    pages = {name: page_of(lake, name) for name in RUNS}
    tops = {name: plain(page[page.index("<main") : page.index('id="m1-abilities"')]) for name, page in pages.items()}
    assert {name for name, top in tops.items() if "has no total" in top} == WITHOUT_TOTAL
    assert "so its total is 0" in tops["vetoed"]
    assert "the veto is undecided" in tops["undecided"]


def judged_run(lake: Path, *options: str, judge: str, panel: str | None = None) -> Ended:
    """A run with a good model, whose judge or panel answers nothing but this."""
    names = ("mini_summarization", "mini_irony_detection")
    with ModelServer(policy(names, "gold")) as server, ModelServer(lambda _messages: "Rather good.") as other:
        urls = {"model": server.base_url, "other": other.base_url}
        models = ("--model", "m", "--base-url", server.base_url, "--judge", "j", "--judge-base-url", urls[judge])
        panels = ("--role", f"panel=k@{urls[panel]}") if panel else ()
        return ended("run", "moodbench-mini", *models, *panels, "--datasets", ",".join(names), "--lake", lake, *options)


def test_an_unread_judge_ends_with_1(tmp_path: Path) -> None:
    done = judged_run(tmp_path, judge="other")
    said = " ".join(done.out.split())
    (n,) = re.findall(r"has no total: (\d+) of \1 ratings of judge j in mini_summarization cannot be read\.", said)
    assert (done.status, int(n) > 0) == (1, True)


def test_an_unread_panel_takes_no_total(tmp_path: Path) -> None:
    assert judged_run(tmp_path, "--json", judge="model", panel="other").document["instruments"] == []
    ratings = pl.read_parquet(tmp_path / "judgements/**/*.parquet", hive_partitioning=False)
    assert "unparsed" in ratings.filter(judge="k")["parse_status"]
