"""Totals, states and the sentence on top."""

from typing import Any

import polars as pl

from schemas.blueprint import Blueprint
from schemas.lineage import DatasetNotice
from schemas.tables.scores import AbilityScores
from schemas.vocabulary import REMARKS
from tasks.reporting.content.caveats import count_replies
from tasks.reporting.content.verdicts import judge_systems
from tasks.runs.run_tables import System
from tests.tasks.reporting import example_items
from tests.tasks.reporting.example_run import ALPHA, BLUEPRINT, PLAN, example_data, manifest
from tests.tasks.reporting.example_scores import totals, totals_row
from tests.tasks.rows import judgement, judgements

COMPLETE = totals_row(datasets_scored=4, coverage=1.0, rank=1, ci_low=24.0, ci_high=26.0)


def test_systems_are_ordered_by_what_counts() -> None:
    states = {verdict.system.model: verdict.verdict for verdict in judge_systems(example_data())}
    assert list(states.items()) == [("alpha", "scored"), ("beta", "vetoed"), ("gamma", "unscored")]


def test_sentence_of_a_total_that_counts() -> None:
    verdict = judge_systems(example_data())[0]
    assert verdict.sentence == (
        "alpha scores 25.00 of 100 (95 % interval 15.0 to 35.5). It is weakest in Emotional Ability (25.0), there in "
        "Moods (25.0)."
    )
    # 1 of alpha's 6 answered items is unparsed; the interval spans 20.5 points.
    assert verdict.trust == (
        "Read it with care: coverage 75\u00a0%, 17\u00a0% of the replies unreadable, judged by itself and wide interval."
    )
    assert verdict.rank_note == "not ranked: coverage is 75\u00a0%"
    few = judge_systems(example_data(totals=totals(totals_row(datasets_scored=1, coverage=0.25))))[0]
    said = "alpha has no total of the benchmark: 1 of 4 datasets have a score, and a total needs half of them;"
    assert few.sentence.startswith(f"{said} what was scored gives 25.00 of 100")
    assert (few.verdict, few.total, few.total_before_veto, few.total_words) == (
        *("too little scored", None, 25.0),
        "– (what was scored: 25.00)",
    )


def test_sentence_of_a_vetoed_model_and_of_one_without_result() -> None:
    verdict, unscored = judge_systems(example_data())[1:]
    assert verdict.sentence == (
        "beta is vetoed: its total is 0, because the gate score of 0.00 is below the required 60; before the veto it would "
        "be 100.00. It is weakest in Values & Safety (0.0), there in Kindness (0.0)."
    )
    assert (verdict.total, verdict.total_before_veto, verdict.rank_note) == (0.0, 100.0, "not ranked: vetoed")
    assert unscored.sentence == "gamma has no score: none of the 4 datasets gave a result."
    assert (unscored.total, unscored.total_before_veto) == (None, None)
    assert unscored.caveats[0].text == "None of the 4 datasets gave a score."


def test_a_gate_that_was_not_scored_leaves_the_total_provisional() -> None:
    verdict = judge_systems(example_data(totals=totals(totals_row(vetoed=None, gate_score=None))))[0]
    assert verdict.verdict == "undecided"
    assert verdict.headline.endswith("The veto is undecided, so this total is provisional: the gate was not scored.")
    assert verdict.rank_note == "not ranked: undecided"


def test_a_veto_that_is_undecided_says_by_how_much_of_the_gate() -> None:
    gate = {"gate_score": 58.0, "gate_ci_low": 51.25, "gate_ci_high": 64.0, "gate_coverage": 0.5, "gate_item_coverage": 0.8}
    verdict = judge_systems(example_data(totals=totals(totals_row(vetoed=None, **gate))))[0]
    said = "the gate scored 58.00 (95 % interval 51.25 to 64.00), over 50\u00a0% of its datasets and 80\u00a0% of its items."
    assert verdict.headline.endswith(f"so this total is provisional: {said}")


def test_place_among_the_ranked_published_models() -> None:
    # 25 is above the ranked 20 and below the ranked 70; the unranked 10 does not count. Of its interval 19 is above none.
    unjudged = manifest(plan=PLAN | {"roles": {}})
    verdict = judge_systems(example_data(totals=totals(COMPLETE | {"ci_low": 19.0}), manifest=unjudged))[0]
    assert " It is above 1 of the 2 ranked published models (0 to 1 at the ends of its interval)." in verdict.sentence
    assert verdict.rank_note == "1 of 1 ranked model in this run"


def test_other_blueprints_are_not_compared() -> None:
    blueprint = Blueprint.model_validate(BLUEPRINT.model_dump(mode="json") | {"name": "my-bench"})
    verdict = judge_systems(example_data(totals=totals(COMPLETE), blueprint=blueprint))[0]
    assert ", above " not in verdict.sentence
    assert verdict.comparability is not None
    assert verdict.comparability.verdict == "not comparable"


def test_low_item_coverage_is_named_as_the_reason_for_no_rank() -> None:
    row = totals_row(datasets_scored=4, coverage=1.0, n_scored=5, n_total=6, item_coverage=5 / 6)
    verdict = judge_systems(example_data(totals=totals(row)))[0]
    assert verdict.rank_note == "not ranked: only 83\u00a0% of the items have a score"
    assert "Items without a score: 1 of 6 asked." in " ".join(caveat.text for caveat in verdict.caveats)


def test_nothing_to_say_against_a_clean_run_that_another_model_judged() -> None:
    other = manifest(plan=PLAN | {"roles": {"judge": {"name": "referee", "identity": "http://localhost:9000/v1"}}})
    clean = example_items.item_scores().filter((pl.col("model") == "alpha") & (pl.col("status") == "scored"))
    data = example_data(totals=totals(COMPLETE), item_scores=clean, manifest=other)
    verdict = judge_systems(data)[0]
    assert verdict.caveats == ()
    assert verdict.trust.startswith("Nothing lowers the trust")


def test_shortened_items_and_answers_of_another_model_are_caveats() -> None:
    odd = example_items.responses().with_columns(
        left_out_characters=pl.when(pl.col("model") == "alpha").then(120).otherwise(0),
        remark=pl.when(pl.col("model") == "alpha").then(pl.lit("other_model")).cast(pl.Enum(REMARKS)),
        answered_by=pl.lit("beta-mini"),
    )
    answered = odd.filter((pl.col("model") == "alpha") & (pl.col("status") == "answered"))
    alpha, *_ = judge_systems(example_data(responses=odd))
    texts = {caveat.short: caveat.text for caveat in alpha.caveats}
    items = answered.select("dataset", "item_id").n_unique()
    assert items > 1
    assert texts[f"{items} items shortened"].startswith(f"{items} items did not fit the model's context and were asked")
    assert f"{answered.height} replies came from a model that the server calls beta-mini" in texts["answered by another model"]


def test_unknown_ends_and_uncounted_long_prompts_are_caveats() -> None:
    is_alpha = pl.col("model") == "alpha"
    odd = example_items.responses().with_columns(
        remark=pl.when(is_alpha).then(pl.lit("unknown_end")).cast(pl.Enum(REMARKS)),
        finish_reason=pl.when(is_alpha).then(pl.lit("moonrise")),
        messages=pl.lit("x" * 6001),
        prompt_tokens=pl.when(pl.col("item_id") == "mood-1").then(pl.lit(11, pl.Int64)),
    )
    answered = odd.filter(is_alpha & (pl.col("status") == "answered"))
    alpha, *_ = judge_systems(example_data(responses=odd))
    texts = {caveat.short: caveat.text for caveat in alpha.caveats}
    assert texts["unknown ends"] == f"{answered.height} replies ended for a reason that is not known: moonrise."
    items = answered.select("dataset", "item_id").n_unique()
    assert f"Of {items} items the prompt is long and its tokens were not counted" in texts[f"{items} long prompts uncounted"]


def unread_text(**changes: Any) -> str:
    scores = example_items.item_scores()
    unread = (pl.col("model") == "alpha") & pl.col("item_id").is_in(["mood-1", "mood-3", "kind-0"])
    changed = scores.with_columns(
        status=pl.when(unread).then(pl.lit("unparsed")).otherwise(pl.col("status").cast(pl.String)).cast(scores.schema["status"]),
    )
    (text,) = (
        one.text for one in judge_systems(example_data(item_scores=changed, **changes))[0].caveats if "unreadable" in one.short
    )
    return text


def test_repaired_ratings_and_errors_of_readers_are_told() -> None:
    said: dict[str, Any] = {
        "dataset": "tale",
        "item_id": "tale-0",
        "model": "alpha",
        "setting": "base",
        "rating": 4,
        "raw_reply": "{}",
    }
    rows = [
        judgement(**said | {"dimension": name, "parse_status": status, "call_key": key * 64, "judge_repetition": int(key)})
        for key, status in (("1", "repaired"), ("2", "parsed"), ("3", "repaired"))
        for name in ("fluency", "completeness")
    ]
    broken = pl.when(pl.col("status") == "unparsed").then(pl.lit("IndexError"))
    data = example_data(judgements=judgements(*rows), item_scores=example_items.item_scores().with_columns(error=broken))
    texts = {caveat.short: caveat.text for caveat in judge_systems(data)[0].caveats}
    assert texts["2 ratings repaired"].startswith("2 of 3 replies of the judge had another form than was asked for")
    assert (
        "Errors of MoodFlow's own in reading them, to be reported: IndexError 1." in texts["17\u00a0% of the replies unreadable"]
    )


def test_unreadable_replies_are_counted_by_dataset_and_three_are_quoted() -> None:
    # One of each dataset first, then the next of the same; white space and length are those of one line.
    assert unread_text() == (
        "Replies that could not be read as an answer: 3 of 6 (50\u00a0%). They count as wrong; in a format the model follows, "
        "the total may rise. By dataset: mood 2 and kind 1. Such as “A” (kind, item kind-0), “C” (mood, item mood-1) and "
        f"“{example_items.NASTY}” (mood, item mood-3)."
    )


def test_replies_to_withheld_texts_are_counted_and_not_quoted() -> None:
    mood = {"id": "mood", "title": "Mood", "licence": "research only", "redistributable": False}
    notice = DatasetNotice(**mood, sources=("bundled",), evaluation_version="1.0")
    assert unread_text(manifest=manifest(redacted=True, datasets=(notice,))).endswith(
        "By dataset: mood 2 and kind 1. Such as “A” (kind, item kind-0)."
    )


def test_no_interval_is_a_caveat() -> None:
    verdict = judge_systems(example_data(totals=totals(totals_row(ci_low=None, ci_high=None))))[0]
    assert "(95 %" not in verdict.sentence
    assert verdict.caveats[-1].short == "no interval"


def test_items_are_counted_once_however_many_methods_score_them() -> None:
    scores = example_items.item_scores()
    twice = pl.concat([scores, scores.with_columns(method=pl.lit("second"))])
    assert count_replies(ALPHA.of(twice)) == {"read": 6, "unparsed": 1, "judge_failed": 0}
    assert count_replies(System("beta", "base").of(twice)) == {"read": 2, "unparsed": 0, "judge_failed": 1}


def test_settings_are_systems_of_their_own() -> None:
    ability = AbilityScores.create_empty()
    rows = totals(totals_row(), totals_row(setting="rag", total=30.0, total_before_veto=30.0))
    labels = [verdict.system.label for verdict in judge_systems(example_data(totals=rows, ability=ability))]
    assert labels[:2] == ["alpha (RAG)", "alpha"]
