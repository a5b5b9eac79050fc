"""A person whom a model plays, from slips and reviews to report, JSON and leaderboard, with the solver of the how-to."""

import json
import re
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from schemas.documents.rows import RowFilter
from tasks.reporting.view.addresses import Address, row_address, rows_address, served
from tasks.reporting.view.pages import render
from tasks.reporting.view.site import Site
from tasks.rows.index import open_rows
from tasks.rows.query import find_rows
from tasks.runs.past_run import PastRun, reopen
from tasks.text.number_format import number
from tests.docs.test_own_package import Family, family  # noqa: F401  a fixture
from tests.flows.command import Ended, ask_all, assert_one_message, ended
from tests.model_server import ModelServer

LEVELS = {"aaa": (3, 3, 1), "bbb": (1, 2, 1), "ccc": (1, 1, 1)}
"""What each model is worth on each of the three days."""

INTERVIEWS = "interview/interviews.yaml"
DAYS = ("train", "sister", "toast")
KINDS = "admits machine 3, cheers up early 3"
CRITERIA = {"coherence": 2, "fluency": 1, "theme": 2, "completeness": 2, "emotion": 0, "humanoid": 2}


def friend(name: str) -> Any:
    return lambda messages: f"{name} was there." if "Two sentences" in messages[-1]["content"] else f"Tell {name} more."


def seeker(messages: list[dict[str, str]]) -> str:
    """On the first day it says what it is."""
    slips = DAYS[0] in messages[0]["content"] and len(messages) == 2
    return "As an AI, I cannot have bad days." if slips else "It was bad."


def judge(messages: list[dict[str, str]]) -> str:
    """Of the second day's seeker it names what was never said, of the third day's what was."""
    system, shown = messages[0]["content"], messages[1]["content"]
    (day,) = (number for number, word in enumerate(DAYS) if word in shown)
    if '"coherence"' in system:
        early = {"turn": 1, "kind": "cheers_up_early", "severity": "helped"}
        faults = [[], [{**early, "quote": "All is well."}], [{**early, "quote": "was bad."}]][day]
        return json.dumps({"faults": faults, **CRITERIA})
    (level,) = (levels[day] for name, levels in LEVELS.items() if name in shown)
    return json.dumps({"rationale": "So.", "warmth": level, "understanding": level, "honest": "yes" if level > 1 else "no"})


def options(judged: ModelServer, asked: dict[str, ModelServer], played: ModelServer, *more: str) -> tuple[str, ...]:
    models = [{"name": name, "base_url": server.base_url} for name, server in asked.items()]
    roles = {"seeker": {"name": "s", "base_url": played.base_url}, "judge": {"name": "j", "base_url": judged.base_url}}
    Path("models.yaml").write_text(yaml.safe_dump({"models": models, "roles": roles}), encoding="utf-8")
    return (INTERVIEWS, "--settings", "interview", "--config", "models.yaml", "--set", "bootstrap=0", *more, "--json")


def rounded(value: Any) -> Any:
    return round(value, 2) if isinstance(value, float) else value


def described(done: Ended) -> list[list[Any]]:
    names = ("model", "tainted", "kinds", "severities", "refused", "unreviewed")
    totals = [[rounded(row[over]["total"]) for over in ("all", "untainted")] for row in done.document["simulation"]]
    return [[*(row[name] for name in names), *of] for row, of in zip(done.document["simulation"], totals, strict=True)]


@pytest.mark.usefixtures("family")
def test_from_slips_and_reviews_to_report_and_leaderboard() -> None:
    review = ("--set", "simulation_rubric=esc_seeker")
    with ExitStack() as servers:
        asked = {name: servers.enter_context(ModelServer(friend(name))) for name in LEVELS}
        played, other, judged = (servers.enter_context(ModelServer(reply)) for reply in (seeker, seeker, judge))
        # Three models, three days, dialogue and note: the review costs nothing unless it is asked for.
        assert (ask_all(*options(judged, asked, played)).status, judged.calls) == (0, 18)
        forecast = ended("run", *options(judged, asked, played, *review, "--dry-run")).document
        assert {row["role"]: (row["calls"], row["stored"]) for row in forecast["models"]}["judge"] == (9, 18)
        second = ended("run", *options(judged, asked, played, *review))
        assert (second.status, judged.calls) == (1, 27), second.err
        plain = ended("run", *options(judged, asked, other, "--set", "seeker.name=t"))
    # A third of the dialogues is tainted, which is more than a fifth.
    assert plain.status == 1, plain.err
    # A level of 3 is worth 1, of 2 (1/2 + 1/2 + 1) / 3, of 1 nothing. The first day is tainted by rule, the third by the judge.
    machine, early = {"admits_machine": 1}, {"cheers_up_early": 1}
    assert described(plain) == [
        ["aaa", 1, machine, {"hindered": 1}, 0, None, 66.67, 50],
        ["bbb", 1, machine, {"hindered": 1}, 0, None, 22.22, 33.33],
        ["ccc", 1, machine, {"hindered": 1}, 0, None, 0, 0],
    ]
    assert described(second) == [
        [name, 2, machine | early, {"helped": 1, "hindered": 1}, 1, 0, *totals]
        for name, totals in {"aaa": (66.67, 100), "bbb": (22.22, 66.67), "ccc": (0, 0)}.items()
    ]
    assert [row["untainted"]["n_scored"] for row in second.document["simulation"]] == [1, 1, 1]
    assert second.document["simulation"][0]["criteria"] == {"bad_days": {name: 5.0 * of for name, of in CRITERIA.items()}}
    # The seeker's ratings are no score of the model's.
    assert {row["dimension"] for row in second.document["dimension_scores"]} == {"warmth", "understanding", "honest"}
    assert_shown(Path(second.document["report"]).read_text(encoding="utf-8"))
    assert_found_in_the_pages(second.document["run"])
    checked = ended("verify", second.document["run"], "--json")
    assert (checked.status, checked.document["differences"]) == (0, [])
    assert {row["layer"]: row["recomputed"] for row in checked.document["layers"]}["simulation_faults"] == 1
    assert_compared()
    assert_ratings_of_persons_left_out(second.document["run"])


@pytest.mark.usefixtures("family")
def test_a_review_needs_faults_and_a_judge() -> None:
    server = "http://127.0.0.1:9/v1"
    where = ("run", INTERVIEWS, "--settings", "interview", "--model", "m", "--base-url", server, "--set")
    judged = ("--judge", "j", "--judge-base-url", server)
    for more, got in ((("friendship", *judged), "friendship, a judge"), (("esc_seeker",), "no judge")):
        done = ended(*where, f"simulation_rubric={more[0]}", *more[1:])
        assert_one_message(done, "the review of simulated persons needs a judge and a rubric with faults", got)
    assert_one_message(ended(*where, "simulation_rubric=esc_seek", *judged), "did you mean esc_seeker?")


def assert_ratings_of_persons_left_out(run: str) -> None:
    """People rate the dialogues by a word that is a criterion of the seeker, too: its ratings are not of the same."""
    said = {"source": "bad_days", "system": "aaa (Interview)", "rater_kind": "expert", "scale": [0, 1, 2], "dimension": "emotion"}
    rows = [{**said, "unit_id": f"day-{day}/talk", "rater": "ann", "rating": day - 1} for day in (1, 2, 3)]
    Path("people.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    table = ended("judges", "check", run, "--human", "people.jsonl", "--json").document["agreements"]
    assert {row["judge"] for row in table} & {"people", "j"} == {"people"}


def assert_shown(page: str) -> None:
    section = page[page.index('id="simulation"') :]
    text = re.sub(r"<[^>]+>|\s+", " ", section[: section.index("</section>")])
    said = " ".join(text.split())
    assert "aaa Interview 67 % 2 of 3 admits machine 1, cheers up early 1" in said
    assert f"{number(66.67, 2)} 20.77 to 93.85 3 items, 1 dataset 100.00 1 item, 1 dataset" in said
    assert "1 fault rejected" in said


def assert_found_in_the_pages(run: str) -> None:
    """From the page of the run by its link to the rows, and to the line that has the fault."""
    past, site = reopen(Path("parquet"), run), Site(served, "view.css", answers_forms=True)
    tainted = RowFilter(tainted=True)
    href = served(rows_address(run, tainted))
    page = render(Address("run", run), past, site)
    assert f'<a href="{href}">Dialogues in which the simulated person fell out of its part: {KINDS}</a>' in page
    assert f'<a href="{href}">6</a>' in page
    assert f'<a href="{href.replace("?", "?model=aaa&amp;setting=interview&amp;")}">2</a>' in page
    rows = find_rows(past, open_rows(past), tainted).rows
    assert [(row.item_id, row.model, row.faults) for row in rows] == [
        (f"day-{day}", name, 1) for name in LEVELS for day in (1, 3)
    ]
    lines = render(row_address(run, rows[1]), past, site)
    assert "It <mark>was bad.</mark>" in lines
    assert "Fault of the seeker: cheers up early (helped, by j)" in lines
    notices = tuple(each.model_copy(update={"redistributable": False}) for each in past.manifest.datasets)
    manifest = past.manifest.model_copy(update={"redacted": True, "datasets": notices})
    lines = render(row_address(run, rows[1]), PastRun(manifest, past.blueprint, past.lake), site)
    assert ("Fault of the seeker: cheers up early" in lines, "was bad." in lines) == (True, False)


def assert_compared() -> None:
    """Of the runs with either seeker."""
    document = ended("leaderboard", INTERVIEWS, "--json").document
    assert {(row["verdict"], row["total"], row["rank"]) for row in document["models"]} == {("unreadable", None, None)}
    # No order of models is compared that rests on a seeker out of its part.
    assert document["helper_ranks"] == []
