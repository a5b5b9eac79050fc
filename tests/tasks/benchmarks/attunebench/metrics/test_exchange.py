"""An export that the official rules score comes to our scores; read back, it is scored as the replies were."""

import json
from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from schemas.vocabulary import Profile
from tasks.benchmarks.attunebench.conversation import ConversationGold
from tasks.benchmarks.attunebench.datasets.codebook import load_codebook
from tasks.benchmarks.attunebench.datasets.conversations import ATTUNEBENCH
from tasks.benchmarks.attunebench.metrics.conversation import Annotated, annotated_items, measure_parts
from tasks.benchmarks.attunebench.metrics.emotions import Values
from tasks.benchmarks.attunebench.metrics.replies import RATINGS
from tasks.benchmarks.attunebench.metrics.result_files import ResultFile, parse_result, result_fields
from tasks.benchmarks.attunebench.metrics.rules import PROFILES
from tasks.datasets.building import build_items
from tasks.datasets.own_items import in_folder
from tests.tasks.benchmarks.attunebench.datasets.conversations import Fields, varied, write_folder
from tests.tasks.benchmarks.attunebench.metrics import official
from tests.tasks.benchmarks.attunebench.metrics.samples import oracle

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
