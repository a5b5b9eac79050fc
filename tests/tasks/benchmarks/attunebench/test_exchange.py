"""An export comes to our scores by the official rules; read back, it is scored as the replies were; statistics of score files."""

import json
from collections.abc import Mapping
from random import Random
from typing import Any, cast

import polars as pl
import pytest

from schemas.vocabulary import Profile
from tasks.benchmarks.attunebench.conversation import ConversationGold
from tasks.benchmarks.attunebench.datasets.codebook import load_codebook
from tasks.benchmarks.attunebench.datasets.conversations import ATTUNEBENCH
from tasks.benchmarks.attunebench.exchange import aggregate_conversations, conversation_rows, ground_truth, score_file
from tasks.benchmarks.attunebench.metrics.conversation import Annotated, annotated_items, measure_parts, score_conversation
from tasks.benchmarks.attunebench.metrics.replies import RATINGS
from tasks.benchmarks.attunebench.metrics.result_files import ResultFile, parse_result, result_fields
from tasks.benchmarks.attunebench.metrics.rules import PROFILES
from tasks.benchmarks.attunebench.metrics.turns import Values
from tasks.datasets.building import build_items
from tasks.datasets.own_items import in_folder
from tests.tasks.benchmarks.attunebench.datasets.conversations import Fields, varied, write_folder
from tests.tasks.benchmarks.attunebench.metrics import official
from tests.tasks.benchmarks.attunebench.metrics.samples import ONE_TURN, oracle, replies, visible

ADJECTIVES = [*load_codebook().adjectives]
NAMES = load_codebook().score_names
CONVERSATIONS = 40
STRATEGIES = ("absolute", "delta", "blind_delta")
Reply = dict[str, Any]
Replies = dict[str, Reply | None]


def spell(value: Any, draw: Random) -> Any:
    """Return the same number or word as models write it."""
    if isinstance(value, int):
        return draw.choice((value, float(value), str(value)))
    return draw.choice((value, value.upper(), f" {value}")) if isinstance(value, str) else value


def spoil(reply: Reply, draw: Random) -> Reply:
    """Return a reply that is right in parts: values are changed, repeated, left out or spelt otherwise."""
    reply = {key: value for key, value in reply.items() if draw.random() > 0.05}
    if isinstance(reply.get("emotion_tags"), list):
        kept = [tag for tag in reply["emotion_tags"] if draw.random() < 0.7]
        more = [
            {"emotion": draw.choice(ADJECTIVES), "intensity": draw.choice((None, 1, "5", 9))} for _ in range(draw.randint(0, 2))
        ]
        reply["emotion_tags"] = [*kept, *more, *kept[:1], {"emotion": "neutral"}][: draw.randint(0, 5)]
    for key in ("binary_om_assessment", "binary_human_prediction"):
        if key in reply:
            answers = {name: draw.choice((word, word, "yes", "na")) for name, word in reply[key].items() if draw.random() > 0.1}
            reply[key] = {name: spell(word, draw) for name, word in answers.items()}
    if "pairwise_selections" in reply:
        sides = {name: draw.choice((side, "A", "B", "both")) for name, side in reply["pairwise_selections"].items()}
        reply["pairwise_selections"] = {name: side for name, side in sides.items() if draw.random() > 0.1}
    if "drafted_response" in reply:
        reply["drafted_response"] = draw.choice(("Better reply 2.", "reply 1. and more", "", None))
    return reply


def spoil_post(reply: Reply, draw: Random, strategy: str, gold: ConversationGold) -> Reply:
    items = {name: min(7, max(1, value + draw.randint(-2, 2))) for name, value in reply["post_panas"].items()}
    few = draw.choice((range(20), range(20), range(7), range(12, 20), ()))
    items = {name: value for index, (name, value) in enumerate(items.items()) if index in few}
    changes = {name: value - gold.pre_panas.items[name] for name, value in items.items()}
    wide = {name: value for name, value in reply["conversation_wide"].items() if draw.random() > 0.1}
    if isinstance(rated := wide.get("fourBranchScores"), dict):
        wide["fourBranchScores"] = {name: spell(value, draw) for name, value in rated.items() if draw.random() > 0.2}
    if "q1_lookingFor" in wide:
        wide["q1_lookingFor"] = draw.choice((wide["q1_lookingFor"][:1], wide["q1_lookingFor"][0], [" To become CALMER"], 3))
    if "q3_followUp_whatFeltOff" in wide:
        wide["q3_followUp_whatFeltOff"] = draw.choice((["it felt rushed"], [], ["felt rushed", "too long"]))
    absolute = {"post_panas": {name.capitalize(): spell(value, draw) for name, value in items.items()}}
    delta = {"panas_changes": {name: spell(value, draw) for name, value in changes.items()}}
    return {**(absolute if strategy == "absolute" else delta), "conversation_wide": wide}


def spoilt_replies(gold: ConversationGold, number: int, strategy: str) -> Replies:
    """Return replies of a model to a conversation, and of a judge of its drafts; one call in twelve fails."""
    draw = Random(f"{strategy} {number}")
    replies: Replies = {}
    right = oracle(gold)
    for turn in gold.turns:
        sides = {str(index): "A" if pair.winner == pair.label_a else "B" for index, pair in enumerate(turn.comparisons)}
        right[f"turn {turn.number} pairwise"] = {"pairwise_selections": sides}
    for part, reply in right.items():
        replies[part] = spoil_post(reply, draw, strategy, gold) if part == "post" else spoil(reply, draw)
    for turn in gold.turns:
        ratings = {name: spell(draw.randint(1, 7), draw) for name in RATINGS if draw.random() > 0.2}
        assessed = {row.question: spell(draw.choice(("yes", "no")), draw) for row in turn.judgements if draw.random() > 0.1}
        replies[f"turn {turn.number} judge"] = {**ratings, "draft_binary_assessment": assessed}
    return {part: None if draw.random() < 1 / 12 else reply for part, reply in replies.items()}


@pytest.fixture(scope="module")
def conversations(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Fields, Annotated]]:
    """Generated records, and their items."""
    records = {number: varied(number) for number in range(1, CONVERSATIONS + 1)}
    folder = write_folder(tmp_path_factory.mktemp("set"), {str(number): record for number, record in records.items()})
    built = build_items(in_folder(ATTUNEBENCH, folder), [folder], None, 0)
    items = annotated_items(built.items, built.annotations)
    return [(record, items[record["conversationId"]]) for record in records.values()]


def exported(gold: ConversationGold, strategy: str, replies: Replies) -> Fields:
    result = ResultFile(gold.conversation_id, "m", "default", strategy, replies)
    fields: Fields = json.loads(json.dumps(result_fields(result, gold), allow_nan=False))
    return fields


def measured(item: Annotated, replies: Mapping[str, Any], profile: Profile) -> Values:
    return measure_parts(item, {part: None if reply is None else json.dumps(reply) for part, reply in replies.items()}, profile)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_official_rules_score_an_export_alike(strategy: str, conversations: Any) -> None:
    for number, (record, item) in enumerate(conversations):
        replies = spoilt_replies(item[0], number, strategy)
        ours = {NAMES.get(name, name): value for name, value in measured(item, replies, "reference").items()}
        theirs = official.score(record, exported(item[0], strategy, replies))
        assert set(theirs) == {name for name in NAMES.values() if name != "four_branch_mae"}
        for name, value in theirs.items():
            # Halves of a hundredth may be rounded either way.
            near = 0.0100001 if "composite" in name else 1e-9
            assert ours.get(name) == (None if value is None else pytest.approx(value, abs=near)), (number, name)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_export_read_back_has_its_scores(strategy: str, conversations: Any) -> None:
    for number, (_, item) in enumerate(conversations):
        replies = spoilt_replies(item[0], number, strategy)
        back = parse_result(exported(item[0], strategy, replies)).replies
        for profile in PROFILES:
            before, after = measured(item, replies, profile), measured(item, back, profile)
            assert {**after, "read_share": None} == {**before, "read_share": None}, number


def scored(item: int, composite_score: float | None, **fields: Any) -> dict[str, Any]:
    names = {"model": "m", "mode": "default", "strategy": "absolute", "item_id": f"c-{item}", "cluster": f"c-{item}"}
    return {**names, "composite_score": composite_score, **fields}


def one_model(*composites: float | None, **fields: Any) -> list[dict[str, Any]]:
    return [scored(item, composite, **fields) for item, composite in enumerate(composites)]


def row(frame: pl.DataFrame, **key: str) -> dict[str, Any]:
    return frame.filter(metric="composite_score", **key).row(0, named=True)


def test_mean_and_standard_error() -> None:
    statistics = row(aggregate_conversations(conversation_rows(one_model(60, 70, 80, None))))
    # The standard deviation is 10, divided by the root of 3.
    assert (statistics["mean"], statistics["se"], statistics["n"]) == (70, pytest.approx(5.773502692, abs=1e-9), 3)
    # t of 2 degrees is 4.302653.
    assert (statistics["z_score"], statistics["ci_low"]) == (None, pytest.approx(70 - 4.302653 * 5.773503, abs=1e-4))
    assert row(aggregate_conversations(conversation_rows(one_model(60))))["se"] is None


def test_z_scores_between_rows_and_within_mode() -> None:
    rows = [scored(0, value, model=name) for name, value in {"a": 60, "b": 70, "c": 80}.items()]
    rows.append(scored(0, 90, model="a", mode="verbose"))
    statistics = aggregate_conversations(conversation_rows(rows)).filter(metric="composite_score")
    in_mode = statistics.filter(mode="default")
    assert in_mode["z_in_mode"].to_list() == pytest.approx([-1, 0, 1], abs=1e-9)
    # 60 to 90: mean 75, sd of 15, 5, 5, 15 is sqrt(500 / 3)
    assert in_mode["z_score"].to_list() == pytest.approx([-15 / (500 / 3) ** 0.5, -5 / (500 / 3) ** 0.5, 5 / (500 / 3) ** 0.5])
    assert statistics.filter(mode="verbose")["z_in_mode"].to_list() == [None]
    same = aggregate_conversations(conversation_rows([scored(0, 70), scored(0, 70, model="other")]))
    assert same["z_score"].to_list() == [None, None]


def test_intervals_by_conversation_and_by_person() -> None:
    values = [float(value) for value in range(40, 80, 2)]
    alone = one_model(*values)
    # Two people, one of whom has the lower half.
    people = [{**of_item, "cluster": f"p-{index // 10}"} for index, of_item in enumerate(alone)]
    narrow, wide = (row(aggregate_conversations(conversation_rows(rows))) for rows in (alone, people))
    assert narrow["mean"] == wide["mean"] == 59
    # Twenty: t of 19 degrees, 2.093024, x sqrt(140) / sqrt(20). Two with 49 or 69 without each: s = 10, t 12.706205.
    assert (narrow["ci_low"], narrow["ci_high"]) == pytest.approx((59 - 5.537621, 59 + 5.537621), abs=1e-5)
    assert (wide["ci_low"], wide["ci_high"]) == pytest.approx((59 - 127.06205, 59 + 127.06205), abs=1e-4)


def test_score_file_has_the_official_names() -> None:
    rows = conversation_rows(one_model(60, 80, emotion_f1=0.5))
    written: Any = score_file(rows, {"profile": "corrected"})
    # 60 and 80: sd of 10 and 10 is root 200, by root 2
    spread = {"sd": pytest.approx(200**0.5), "se": pytest.approx(10), "min": 60, "max": 80}
    limits = {"ci_low": pytest.approx(70 - 127.06205, abs=1e-4), "ci_high": pytest.approx(70 + 127.06205, abs=1e-4)}
    key = {"em_model": "m", "mode": "default", "panas_strategy": "absolute"}
    composite = {**key, "metric": "composite_score", "n": 2, "mean": 70, "median": 70, **spread, **limits}
    assert written.pop("model_stats")[0] == composite
    (aggregate,) = written.pop("aggregates")
    assert {name: value for name, value in aggregate.items() if value is not None and "pooled" not in name} == {
        **key,
        "n_conversations": 2,
        "avg_emotion_f1": 0.5,
        "composite_score": 70,
        "se_composite": pytest.approx(10),
    }
    assert written.pop("metadata")["profile"] == "corrected"
    assert written == {
        "conversations": [
            {"conversationId": f"c-{item}", "em_model": "m", "mode": "default", "composite_score": value, "emotion_f1": 0.5}
            for item, value in enumerate((60, 80))
        ],
    }


MEANS = """
emotion_hit_rate, emotion_hit_rate_tagged_only, emotion_intensity_mae, emotion_f1, emotion_f1_intensity, emotion_va_score,
emotion_va_intensity_score, binary_om_accuracy, binary_human_accuracy, binary_om_accuracy_hp, binary_human_accuracy_hp,
pairwise_accuracy, pairwise_kendall_tau, response_similarity, response_similarity_original, response_similarity_llm_improved,
response_similarity_human_edited, response_preference_alignment, draft_judge_score, draft_binary_alignment, four_branch_mae,
panas_normalized, panas_item_mae, panas_item_normalized, q1_looking_for_score, q2_emotion_clarity_match, q3_model_fit_match,
q3_model_fit_ordinal_distance, q3_follow_up_score, post_four_branch_normalized, hp_perspective_gap, hp_perspective_alignment,
hp_perspective_gap_mcc, hp_perspective_alignment_mcc
"""
ERRORS = ("emotion_hit_rate", "binary_om_accuracy", "binary_human_accuracy", "pairwise_accuracy", "panas_normalized", "composite")
OFFICIAL = {
    *("em_model", "mode", "panas_strategy", "n_conversations", "z_score"),
    *(f"avg_{name.strip()}" for name in MEANS.split(",")),
    *(f"pooled_binary_{side}_metrics{end}" for side in ("om", "human") for end in ("", "_hp")),
    *("turn_level_average", "conversation_wide_average", "composite_score", "equal_weight_composite"),
    *(f"se_{name}" for name in ERRORS),
}
"""What an official score file has of a model in a mode."""


def test_aggregate_has_the_official_names_alone() -> None:
    rows = conversation_rows(one_model(60, 80, emotion_va_greedy=0.5))
    (fields,) = cast("Any", score_file(rows, {})["aggregates"])
    assert set(fields) == OFFICIAL
    assert len(OFFICIAL) == 5 + 34 + 4 + 4 + 6


def test_aggregate_of_two_conversations_by_hand() -> None:
    """One is answered as in the samples, the other by who knows the annotations; there are three judgements in each."""
    pair = (replies(), oracle(ONE_TURN))
    values = [score_conversation(ONE_TURN, visible(ONE_TURN), of_item, PROFILES["corrected"]) for of_item in pair]
    rows = conversation_rows([scored(item, **cast("Any", of_item)) for item, of_item in enumerate(values)])
    written: Any = score_file(rows, {})
    (fields,) = written["aggregates"]
    assert fields["n_conversations"] == 2
    by_hand = {
        "avg_emotion_f1": (1 / 2 + 1) / 2,
        "avg_emotion_intensity_mae": (2 + 0) / 2,
        "avg_pairwise_accuracy": (8 / 12 + 1) / 2,
        # {i, see.} shares 1/4 with {i, see, you}, which won 8 of 12, and 1/3 with {i, hear}, which won 4.
        "avg_response_preference_alignment": (5 / 9 + 8 / 12 / 4 + 4 / 12 / 3) / 2,
        # What was wanted: 2/3 asked of an observer and as if of the person; who knows all is right in both.
        "avg_hp_perspective_gap": 0,
        "avg_hp_perspective_alignment": 1,
        # Wanted is B4 alone. Yes to B4 and B6, or to B1 and B4: tp 1, tn 1, fp 1, so MCC 1 / root of 4 is 1/2 in both.
        "avg_hp_perspective_gap_mcc": 0,
        "avg_hp_perspective_alignment_mcc": 1,
        # (0.73083 + 2/3 + 2/3) / 3 of the first: emotion (1/2 + 0.96165) / 2, judgements 2/3, pairs 2/3
        "turn_level_average": ((0.730825 + 2 / 3 + 2 / 3) / 3 + 1) / 2,
        # mood (1/4 + 1) / 2, questions (1/4 + 1 + 0 + 4/9) / 4, branches 7/8
        "conversation_wide_average": ((5 / 8 + (1 / 4 + 1 + 4 / 9) / 4 + 7 / 8) / 3 + 1) / 2,
    }
    assert {name: fields[name] for name in by_hand} == pytest.approx(by_hand)
    halves = (by_hand["turn_level_average"] + by_hand["conversation_wide_average"]) / 2
    assert fields["equal_weight_composite"] == pytest.approx(100 * halves)
    # The reply did B1 alone; the sample says B1 and B4: tp 1, tn 1, fp 1. The other conversation adds tp 1, tn 2.
    ratios = {"accuracy": 5 / 6, "precision": 2 / 3, "recall": 1, "f1": 4 / 5, "mcc": 6 / (3 * 2 * 4 * 3) ** 0.5}
    counts = {"tp": 2, "tn": 3, "fp": 1, "fn": 0}
    assert fields["pooled_binary_om_metrics"] == pytest.approx(counts | ratios)
    # As if of the person the sample is right about the reply.
    assert fields["pooled_binary_om_metrics_hp"] == {"tp": 2, "tn": 4, "fp": 0, "fn": 0, **dict.fromkeys(ratios, 1)}
    # 2/3 and 1: a deviation of 1/3 over root 2, by root 2
    assert fields["se_pairwise_accuracy"] == pytest.approx(1 / 6)
    assert fields["avg_four_branch_mae"] is fields["z_score"] is None
    (first, _) = written["conversations"]
    assert {"conversationId", "em_model", "mode", "emotion_hit_rate", "composite_score"} <= set(first)


def test_ground_truth_is_folder_or_path_in_repository() -> None:
    plan = {"folders": {"attunebench": "sets/Subsample50"}}
    paths = [ground_truth(*of) for of in ((plan, "attunebench"), (plan, "attunebench_mini"), ({}, "attunebench"))]
    assert paths == ["sets/Subsample50", "attunebench_mini.jsonl", "Test Samples/Sample200"]


def test_score_file_says_what_it_lacks() -> None:
    metadata: Any = score_file(conversation_rows(one_model(60)), {"profile": "corrected"})["metadata"]
    assert (metadata["profile"], metadata["bertscore"]["value"]) == ("corrected", None)
    assert metadata["bertscore"]["reason"].startswith("optional in the official scorer")
