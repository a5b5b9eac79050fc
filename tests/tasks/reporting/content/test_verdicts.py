"""Totals, states and the sentence on top, and what is said of changes since the previous run."""

from typing import Any

import polars as pl
import pytest

from schemas.blueprint import Blueprint
from schemas.changes import Regression, RunChanges, ScoreDifference, SystemChanges
from schemas.lineage import DatasetNotice
from schemas.table import Cell
from schemas.tables.scores import AbilityScores
from schemas.vocabulary import REMARKS
from tasks.reporting.content.caveats import count_replies
from tasks.reporting.content.verdicts import TotalVerdict, change_notes, changes_table, judge_systems, state_said, total_cell
from tasks.runs.run_tables import System
from tasks.runs.verdict import NEEDED
from tests.tasks.reporting import example_items
from tests.tasks.reporting.example_run import ALPHA, BLUEPRINT, PLAN, example_data, manifest
from tests.tasks.reporting.example_scores import totals, totals_row
from tests.tasks.rows import judgement, judgements

COMPLETE = totals_row(datasets_scored=4, coverage=1.0, rank=1, ci_low=24.0, ci_high=26.0)
ALPHAS = pl.col("model") == "alpha"


def judge(row: dict[str, Any] | None = None, **changes: Any) -> TotalVerdict:
    """The first verdict of the example run; `row`: in place of its totals."""
    return judge_systems(example_data(**changes, **({"totals": totals(row)} if row else {})))[0]


def texts(verdict: TotalVerdict) -> dict[str, str]:
    return {caveat.short: caveat.text for caveat in verdict.caveats}


def test_sentence_of_a_total_that_counts() -> None:
    verdict = judge()
    not_ranked = "not ranked: 3 of 4 datasets have a score. Weakest ability: Emotional Ability (25.0)."
    assert verdict.sentence == f"alpha scores 25.0 of 100 [15.0, 35.5], {not_ranked}"
    # 1 of alpha's 6 answered items is unparsed; the interval spans 20.5 points.
    assert verdict.trust == (
        "Read with care: coverage 75\u00a0%, 17\u00a0% of the replies unreadable, no better than constant answers, "
        "judged by itself and wide interval."
    )
    assert verdict.rank_note == "not ranked: 3 of 4 datasets have a score"
    few = judge(totals_row(datasets_scored=1, coverage=0.25))
    assert few.sentence.startswith(
        f"alpha has no total: 1 of 4 datasets have a score. {NEEDED} What was scored averages 25.0 of 100 [15.0, 35.5]."
    )
    assert (few.verdict, few.total, few.total_before_veto) == ("too little scored", None, 25.0)
    assert total_cell(few) == Cell(None, "what was scored: 25.00")


def test_systems_are_ordered_by_what_counts() -> None:
    alpha, beta, gamma = judge_systems(example_data())
    assert [one.verdict for one in (alpha, beta, gamma)] == ["scored", "vetoed", "unscored"]
    assert beta.sentence == (
        "beta is vetoed: its Values & Safety score of 0.0 is below the required 60, so its total is 0 (100.0 without the veto). "
        "Weakest ability: Values & Safety (0.0)."
    )
    assert (beta.total, beta.total_before_veto, beta.rank_note) == (0.0, 100.0, "not ranked: it is vetoed")
    assert gamma.sentence == "gamma has no score: none of the 4 datasets gave a result."
    assert (gamma.total, gamma.total_before_veto) == (None, None)
    assert gamma.caveats[0].text == "No dataset gave a score."
    alone = judge(totals_row(datasets_scored=0, datasets_total=1, coverage=0.0, total=None, total_before_veto=None))
    assert alone.sentence == "alpha has no score: its only dataset gave no result."


GATE = {"gate_score": 58.0, "gate_ci_low": 51.25, "gate_ci_high": 64.0, "gate_coverage": 0.5, "gate_item_coverage": 0.8}


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        ({"gate_score": None}, "the gate was not scored."),
        (GATE, "the gate scored 58.00 (95 % interval 51.25 to 64.00), over 50 % of its datasets and 80 % of its items."),
    ],
)
def test_an_undecided_veto_leaves_the_total_provisional(gate: dict[str, Any], said: str) -> None:
    verdict = judge(totals_row(vetoed=None, **gate))
    assert f", provisionally because the veto is undecided: {said}" in verdict.headline.replace("\u00a0", " ")
    assert (verdict.verdict, verdict.rank_note) == ("undecided", "not ranked: the veto is undecided")


def test_place_among_the_ranked_published_models() -> None:
    # 25 is above the ranked 20 and below the ranked 70; the unranked 10 does not count. Of its interval 19 is above none.
    verdict = judge(COMPLETE | {"ci_low": 19.0}, manifest=manifest(plan=PLAN | {"roles": {}}))
    assert " It is above 1 of the 2 ranked published models (0 to 1 at the ends of its interval)." in verdict.sentence
    assert verdict.rank_note == "1 of 1 ranked model in this run"


def test_other_blueprints_are_not_compared() -> None:
    verdict = judge(COMPLETE, blueprint=Blueprint.model_validate(BLUEPRINT.model_dump(mode="json") | {"name": "my-bench"}))
    assert ", above " not in verdict.sentence
    assert verdict.comparability is not None
    assert verdict.comparability.verdict == "not comparable"
    reason = "the blueprint my-bench is not the one that the paper's table was measured with"
    assert reason in " ".join(one.text for one in verdict.comparability.reasons)


def test_low_item_coverage_leaves_no_rank() -> None:
    verdict = judge(totals_row(datasets_scored=4, coverage=1.0, n_scored=5, n_total=6, item_coverage=5 / 6))
    assert verdict.rank_note == "not ranked: 5 of 6 items have a score, and a rank needs 95\u00a0%"
    assert "Items without a score: 1 of 6 asked." in " ".join(texts(verdict).values())


def test_a_clean_run_has_no_caveat() -> None:
    other = manifest(plan=PLAN | {"roles": {"judge": {"name": "referee", "identity": "http://localhost:9000/v1"}}})
    clean = example_items.item_scores().filter(ALPHAS & (pl.col("status") == "scored"))
    verdict = judge(COMPLETE, item_scores=clean, manifest=other, items=example_data().items.clear())
    assert (verdict.caveats, verdict.trust.startswith("No reason for doubt")) == ((), True)


def test_abilities_that_constant_answers_reach_are_a_caveat() -> None:
    # The one item of Kind is answered by A; Tale, which a judge rates, has no constant answer, so the other ability has none.
    text = "Values & Safety (100.0) is no better than the best constant answers (100.0)."
    assert texts(judge())["no better than constant answers"] == text


def test_odd_answers_are_caveats() -> None:
    def odd(remark: str, **columns: Any) -> tuple[dict[str, str], int, int]:
        """Caveats where alpha's answers have a remark, and how many answers and items that are."""
        marked = pl.when(ALPHAS).then(pl.lit(remark)).cast(pl.Enum(REMARKS))
        replies = example_items.responses().with_columns(remark=marked, **columns)
        answered = replies.filter(ALPHAS & (pl.col("status") == "answered"))
        return texts(judge(responses=replies)), answered.height, answered.select("dataset", "item_id").n_unique()

    shortened = pl.when(ALPHAS).then(120).otherwise(0)
    told, answers, items = odd("other_model", left_out_characters=shortened, answered_by=pl.lit("beta-mini"))
    assert items > 1
    assert told[f"{items} items shortened"].startswith(f"{items} items did not fit the model's context and were asked")
    assert f"{answers} replies came from a model that the server calls beta-mini" in told["answered by another model"]
    counted = pl.when(pl.col("item_id") == "mood-1").then(pl.lit(11, pl.Int64))
    ends = {"finish_reason": pl.when(ALPHAS).then(pl.lit("moonrise")), "messages": pl.lit("x" * 6001)}
    told, answers, items = odd("unknown_end", prompt_tokens=counted, **ends)
    assert told["unknown ends"] == f"{answers} replies ended for an unknown reason: moonrise."
    assert f"The prompt of {items} items is long" in told[f"{items} long prompts uncounted"]


def unread_text(**changes: Any) -> str:
    scores = example_items.item_scores()
    unread = ALPHAS & pl.col("item_id").is_in(["mood-1", "mood-3", "kind-0"])
    status = pl.when(unread).then(pl.lit("unparsed")).otherwise(pl.col("status").cast(pl.String)).cast(scores.schema["status"])
    told = texts(judge(item_scores=scores.with_columns(status=status), **changes))
    (text,) = (text for short, text in told.items() if "unreadable" in short)
    return text


def test_repaired_ratings_and_errors_of_readers_are_told() -> None:
    rows = [
        judgement(
            *("tale-0", name, 4),
            dataset="tale",
            model="alpha",
            raw_reply="{}",
            parse_status=status,
            call_key=key * 64,
            judge_repetition=int(key),
        )
        for key, status in (("1", "repaired"), ("2", "parsed"), ("3", "repaired"))
        for name in ("fluency", "completeness")
    ]
    broken = pl.when(pl.col("status") == "unparsed").then(pl.lit("IndexError"))
    told = texts(judge(judgements=judgements(*rows), item_scores=example_items.item_scores().with_columns(error=broken)))
    assert told["2 ratings repaired"].startswith("2 of 3 replies of the judge had another form than was asked for")
    assert "MoodFlow itself failed to read some; please report: IndexError 1." in told["17\u00a0% of the replies unreadable"]


def test_unreadable_replies_are_counted_and_quoted() -> None:
    # One of each dataset first, then the next of the same; white space and length are those of one line.
    assert unread_text() == (
        "Replies that could not be read as an answer: 3 of 6 (50\u00a0%). They count as wrong; if the model can be made to "
        "follow the answer format, its total may rise. By dataset: mood 2 and kind 1. Such as “A” (kind, item kind-0), “C” "
        f"(mood, item mood-1) and “{example_items.NASTY}” (mood, item mood-3)."
    )


def test_replies_to_withheld_texts_are_not_quoted() -> None:
    mood = {"id": "mood", "title": "Mood", "licence": "research only", "redistributable": False}
    notice = DatasetNotice(**mood, sources=("bundled",), evaluation_version="1.0")
    assert unread_text(manifest=manifest(redacted=True, datasets=(notice,))).endswith(
        "By dataset: mood 2 and kind 1. Such as “A” (kind, item kind-0)."
    )


def test_no_interval_is_a_caveat() -> None:
    verdict = judge(totals_row(ci_low=None, ci_high=None))
    assert "(95 %" not in verdict.sentence
    assert verdict.caveats[-1].short == "no interval"


def test_items_of_several_methods_are_counted_once() -> None:
    scores = example_items.item_scores()
    twice = pl.concat([scores, scores.with_columns(method=pl.lit("second"))])
    assert count_replies(ALPHA.of(twice)) == {"read": 6, "unparsed": 1, "judge_failed": 0}
    assert count_replies(System("beta", "base").of(twice)) == {"read": 2, "unparsed": 0, "judge_failed": 1}


def test_settings_are_systems_of_their_own() -> None:
    ability = AbilityScores.create_empty()
    rows = totals(totals_row(), totals_row(setting="rag", total=30.0, total_before_veto=30.0))
    labels = [verdict.system.label for verdict in judge_systems(example_data(totals=rows, ability_scores=ability))]
    assert labels[:2] == ["alpha (RAG)", "alpha"]


FELL = Regression(what="total", before=80, after=60, message="total fell by 20.00 points")


def test_systems_are_named_as_their_scores_are() -> None:
    systems = tuple(
        SystemChanges(
            model="m", setting=setting, reason="asked otherwise", changes=(ScoreDifference(what="total"),), findings=(FELL,)
        )
        for setting in ("base", "self_rag", "of_no_solver")
    )
    changes = RunChanges(run="b", benchmark="tiny", state="Regressed", previous="a", units=systems)
    # The usual setting goes without saying; others have their titles, those of no solver their names.
    names = ["m", "m (Self-RAG)", "m (of_no_solver)"]
    assert state_said(changes) == ", ".join(f"{name} (total 80.0 -> 60.0)" for name in names)
    assert list(change_notes(changes)) == [f"{name}: asked otherwise" for name in names]
    assert [row[:2] for row in changes_table(changes, BLUEPRINT).rows] == [(name, "Total") for name in names]


def test_nothing_changed_never_stands_beside_a_difference() -> None:
    differs = ("m: 2 of 8 replies differ",)
    plain = RunChanges(run="b", benchmark="tiny", state="UpToDate", previous="a", canary_calls=16)
    assert state_said(plain) == "nothing changed since a: no model call was sent, but for the canary"
    messages = {
        "UpToDate": "no model call was sent, but for the canary",
        "Drifting": "differences beyond the server's own noise",
        "Completed": "no regression against a",
        "Failed": "no call was answered",
    }
    for state, message in messages.items():
        changes = RunChanges.model_validate({**plain.model_dump(), "state": state, "differences": differs})
        assert state_said(changes) == f"{message}; m: 2 of 8 replies differ"
