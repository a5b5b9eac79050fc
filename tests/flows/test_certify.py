"""`moodflow judges certify` over HTTP: a fair judge, a constant one, dry run, checks, failed calls, wrong input."""

import json
from hashlib import sha256
from pathlib import Path

import polars as pl

from tests.flows.certifying import REPLIES, arguments, certify, fair, rate, rows, write_source
from tests.flows.command import assert_one_message, ended
from tests.model_server import ModelServer

OTHER = sha256(b"another text").hexdigest()


def test_fair_judge_beside_people(tmp_path: Path) -> None:
    with ModelServer(fair) as server:
        dry = certify(tmp_path, server, "--checks", "none", "--dry-run")
        assert (dry.status, dry.document["total"]["calls"], server.calls) == (0, REPLIES, 0), dry.err
        done = certify(tmp_path, server, "--checks", "none")
        assert (done.status, server.calls) == (0, REPLIES), done.err
        again = certify(tmp_path, server, "--checks", "none")
        assert (again.status, again.document, server.calls) == (0, done.document, REPLIES), again.err
        shown = ended(
            *[word for word in arguments(tmp_path, tmp_path / "replies.jsonl", server, "--checks", "none") if word != "--json"]
        )
        assert shown.out.splitlines()[1].startswith("Up to date"), shown.out
        assert "Undefined: " in shown.out
    document = done.document
    assert (document["texts"], document["ratings"], document["unread"], document["refused"]) == (30, 90, 0, 0)
    (warmth,) = document["dimensions"]
    # It gives the mean of the people, which is the first one's rating.
    assert (warmth["spearman"], warmth["mae"], warmth["bias_steps"]) == (1.0, 0.0, 0.0)
    # Always 3: the distances from 1 to 5 are 2, 1, 0, 1, 2.
    assert (warmth["constant_mae"], warmth["n_units"], warmth["n_clusters"]) == (1.2, 30, 15)
    # As good as can be, but nothing is known of what else moves it.
    assert (warmth["verdict"], "repeat" in warmth["missing_checks"]) == ("not usable", True), warmth["rule"]
    parquet, stored, page = (tmp_path / "lake" / file for file in document["files"])
    assert json.loads(stored.read_text(encoding="utf-8"))["identity"] == document["identity"]
    own = pl.read_parquet(parquet).filter(judge="j", level="pooled")
    assert own.filter(statistic="spearman")["value"].to_list() == [1.0]
    held = {row["statistic"]: (row["margin"], row["passed"]) for row in own.to_dicts()}
    assert (held["spearman"], held["bias"], held["mae"]) == ((0.05, True), (0.25, True), (0.0, True))
    assert held["kappa_quadratic"] == (None, None)
    text = page.read_text(encoding="utf-8")
    assert "<script" not in text
    assert text.index("Rule that decided") < text.index("People with each other") < text.index("Counts and cost</h2>")
    listed = ended("judges", "certificates", "--lake", tmp_path / "lake", "--json")
    assert [row["identity"] for row in listed.document["certificates"]] == [document["identity"]]


def test_dry_run_counts_calls_of_checks(tmp_path: Path) -> None:
    with ModelServer(fair) as server:
        dry = certify(tmp_path, server, "--checks-sample", "5", "--dry-run")
        done = certify(tmp_path, server, "--checks-sample", "5")
        assert dry.document["total"]["calls"] == server.calls > REPLIES
    assert (done.status, done.document["calls"]["sent"]) == (0, server.calls), done.err
    assert {figure["check"] for figure in done.document["checks"]} >= {"repeat", "format", "injection", "length"}


def test_constant_judge_is_no_better(tmp_path: Path) -> None:
    with ModelServer(lambda messages: rate(messages, lambda _: 3)) as server:
        done = certify(tmp_path, server, "--checks", "none")
    (warmth,) = done.document["dimensions"]
    assert (done.status, warmth["verdict"], warmth["mae"]) == (0, "no better than a constant", 1.2), done.err


def test_one_person_is_no_ceiling(tmp_path: Path) -> None:
    source = write_source(tmp_path, [row for row in rows() if row["rater"] == "ann"])
    with ModelServer(fair) as server:
        done = certify(tmp_path, server, "--checks", "none", source=source)
    assert (done.status, done.document["verdict"]) == (0, "no ceiling"), done.err


def test_ratings_of_other_texts_are_left_out(tmp_path: Path) -> None:
    ratings = rows()
    ratings[1] |= {"text": None, "text_sha256": OTHER}
    ratings[2] |= {"rating": 7}
    source = write_source(tmp_path, [*ratings, {**ratings[3], "dimension": "wit"}])
    with ModelServer(fair) as server:
        done = certify(tmp_path, server, "--checks", "none", source=source)
    assert (done.status, done.document["refused"], done.document["ratings"]) == (1, 1, 88), done.err
    (refused,) = done.document["refused_rows"]
    assert (refused["line"], "scale" in refused["rule"]) == (3, True), refused
    page = next(tmp_path / "lake" / file for file in done.document["files"] if file.endswith(".html"))
    assert f"Refused: line 3, {refused['rule']}" in page.read_text(encoding="utf-8")
    assert done.document["left_out"] == {"of another text": 1, "of a dimension that the rubric does not have": 1}
    assert (done.document["not_asked"], done.document["not_rated"]) == (["wit"], [])


def test_sample_asks_about_fewer_texts(tmp_path: Path) -> None:
    with ModelServer(fair) as server:
        done = certify(tmp_path, server, "--checks", "none", "--sample", "10")
    assert (done.document["texts"], done.document["ratings"], server.calls) == (10, 30, 10), done.err
    assert done.document["left_out"] == {"of a text that was not drawn": 60}


def test_failed_calls_write_no_certificate(tmp_path: Path) -> None:
    with ModelServer(fair, fault=lambda number: "content_filter" if number == 4 else None) as server:
        failed = certify(tmp_path, server, "--checks", "none")
        assert (failed.status, failed.document["unread"], failed.document["files"]) == (1, 1, []), failed.err
        done = certify(tmp_path, server, "--checks", "none")
    assert (done.status, done.document["calls"]["sent"], len(done.document["files"])) == (0, 1, 3), done.err


def test_spent_budget_ends_with_status_one(tmp_path: Path) -> None:
    with ModelServer(fair) as server:
        done = certify(tmp_path, server, "--checks", "none", "--budget-tokens", "350")
    assert done.status == 1, done.err
    assert 0 < done.document["calls"]["unsent"] < REPLIES


def test_judge_without_ratings_is_told_by_cause(tmp_path: Path) -> None:
    with ModelServer(lambda _: "No idea.") as server:
        unread = certify(tmp_path, server, "--checks", "none", "--sample", "3")
        assert_one_message(unread, "its replies could not be read", "ask another model")
        assert "raise the budget" not in unread.err
    with ModelServer(fair, fault=lambda _: "content_filter") as server:
        assert_one_message(certify(tmp_path, server, "--checks", "none", "--sample", "3"), "its calls failed", "server")
    with ModelServer(fair) as server:
        assert_one_message(certify(tmp_path, server, "--checks", "none", "--budget-tokens", "1"), "budget", "raise")


def test_ratings_are_mapped_by_place(tmp_path: Path) -> None:
    uneven = {1: -1.0, 2: -0.5, 3: 0.5, 4: 1.0}
    ratings = [{**row, "rating": uneven.get(row["rating"], 1.0), "scale": [*uneven.values()]} for row in rows()]
    four = {"scale": {"lowest": 1, "highest": 4}, "anchors": {language: ["a", "b", "c", "d"] for language in ("en", "zh")}}
    with ModelServer(lambda messages: rate(messages, lambda number: min(number % 5 + 1, 4))) as server:
        done = certify(tmp_path, server, "--checks", "none", source=write_source(tmp_path, ratings, **four))
    own = {(row["statistic"], row["level"]): row["value"] for row in done.document["agreements"] if row["judge"] == "j"}
    # The judge says what the first of the people says: exact with her 30 times, with the two others where they agree with her.
    assert own["exact", "pooled"] > 0.8, done.err


def test_wrong_input_is_one_message(tmp_path: Path) -> None:
    with ModelServer(fair) as server:
        no_texts = write_source(tmp_path, rows(text=None))
        assert_one_message(certify(tmp_path, server, source=no_texts), "without the texts that were rated")
        other = write_source(tmp_path, rows(dimension="wit"))
        assert_one_message(certify(tmp_path, server, source=other), "no dimension in common", "wit", "warmth")
        longer = write_source(tmp_path, rows(scale=[1, 2, 3, 4, 5, 6, 7]))
        assert_one_message(certify(tmp_path, server, source=longer), "scales of different lengths", "1, 2, 3, 4, 5, 6, 7")
        assert_one_message(certify(tmp_path, server, "--checks", "repeet"), "repeet", "repeat")
        assert_one_message(certify(tmp_path, server, "--checks", ""), "--checks", "give all, none or names")
        assert_one_message(certify(tmp_path, server, "--role", f"panel=p@{server.base_url}"), "does not use panel")
        where = ("--ratings", write_source(tmp_path), "--rubric", tmp_path / "kind.yaml")
        assert_one_message(ended("judges", "certify", *where), "no judge given")
        assert server.calls == 0
