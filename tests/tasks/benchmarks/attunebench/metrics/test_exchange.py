"""What is exported, read and scored by the official rules, comes to our scores; and comes back as what was said."""

import json
from random import Random
from typing import Any

import pytest

from schemas.attunebench import ConversationGold, VisibleConversation
from tasks.benchmarks.attunebench.datasets.codebook import load_codebook
from tasks.benchmarks.attunebench.datasets.conversations import ATTUNEBENCH
from tasks.benchmarks.attunebench.metrics.conversation import annotated_items, measure_parts
from tasks.benchmarks.attunebench.metrics.result_files import ResultFile, parse_result, result_fields
from tasks.datasets.building import build_items
from tasks.datasets.own_items import in_folder
from tests.tasks.benchmarks.attunebench.datasets.conversations import Fields, varied, write_folder
from tests.tasks.benchmarks.attunebench.metrics import official
from tests.tasks.benchmarks.attunebench.metrics.samples import oracle

ADJECTIVES = [*load_codebook().adjectives]
NAMES = load_codebook().score_names
CONVERSATIONS = 40
RATINGS = ("overall_score", "emotional_appropriateness", "helpfulness", "tone_match")
Said = dict[str, Any]


def spell(value: Any, draw: Random) -> Any:
    """The same number or word as models write it."""
    if isinstance(value, int):
        return draw.choice((value, float(value), str(value)))
    return draw.choice((value, value.upper(), f" {value}")) if isinstance(value, str) else value


def mistake(said: Said, draw: Random) -> Said:
    """A reply that is right in places: what it says is changed, repeated, left out or spelt otherwise."""
    said = {key: value for key, value in said.items() if draw.random() > 0.05}
    if isinstance(said.get("emotion_tags"), list):
        kept = [one for one in said["emotion_tags"] if draw.random() < 0.7]
        more = [
            {"emotion": draw.choice(ADJECTIVES), "intensity": draw.choice((None, 1, "5", 9))} for _ in range(draw.randint(0, 2))
        ]
        said["emotion_tags"] = [*kept, *more, *kept[:1], {"emotion": "neutral"}][: draw.randint(0, 5)]
    for key in ("binary_om_assessment", "binary_human_prediction"):
        if key in said:
            given = {name: draw.choice((one, one, "yes", "na")) for name, one in said[key].items() if draw.random() > 0.1}
            said[key] = {name: spell(one, draw) for name, one in given.items()}
    if "pairwise_selections" in said:
        sides = {name: draw.choice((one, "A", "B", "both")) for name, one in said["pairwise_selections"].items()}
        said["pairwise_selections"] = {name: one for name, one in sides.items() if draw.random() > 0.1}
    if "drafted_response" in said:
        said["drafted_response"] = draw.choice(("Better reply 2.", "reply 1. and more", "", None))
    return said


def mistake_after(said: Said, draw: Random, strategy: str, gold: ConversationGold) -> Said:
    items = {name: min(7, max(1, one + draw.randint(-2, 2))) for name, one in said["post_panas"].items()}
    few = draw.choice((range(20), range(20), range(7), range(12, 20), ()))
    items = {name: one for place, (name, one) in enumerate(items.items()) if place in few}
    changes = {name: one - gold.pre_panas.items[name] for name, one in items.items()}
    wide = {name: one for name, one in said["conversation_wide"].items() if draw.random() > 0.1}
    if isinstance(rated := wide.get("fourBranchScores"), dict):
        wide["fourBranchScores"] = {name: spell(one, draw) for name, one in rated.items() if draw.random() > 0.2}
    if "q1_lookingFor" in wide:
        wide["q1_lookingFor"] = draw.choice((wide["q1_lookingFor"][:1], wide["q1_lookingFor"][0], [" To become CALMER"], 3))
    if "q3_followUp_whatFeltOff" in wide:
        wide["q3_followUp_whatFeltOff"] = draw.choice((["it felt rushed"], [], ["felt rushed", "too long"]))
    told = {"post_panas": {name.capitalize(): spell(one, draw) for name, one in items.items()}}
    delta = {"panas_changes": {name: spell(one, draw) for name, one in changes.items()}}
    return {**(told if strategy == "absolute" else delta), "conversation_wide": wide}


def replies(gold: ConversationGold, draw: Random, strategy: str) -> dict[str, Said | None]:
    """What a model says of a conversation, and a judge of its drafts; one call in twelve fails."""
    said: dict[str, Said | None] = {}
    right = oracle(gold)
    for turn in gold.turns:
        sides = {str(place): "A" if one.winner == one.label_a else "B" for place, one in enumerate(turn.comparisons)}
        right[f"turn {turn.number} pairwise"] = {"pairwise_selections": sides}
    for part, reply in right.items():
        said[part] = mistake_after(reply, draw, strategy, gold) if part == "post" else mistake(reply, draw)
    for turn in gold.turns:
        rated = {name: spell(draw.randint(1, 7), draw) for name in RATINGS if draw.random() > 0.2}
        found = {one.question: spell(draw.choice(("yes", "no")), draw) for one in turn.judgements if draw.random() > 0.1}
        said[f"turn {turn.number} judge"] = {**rated, "draft_binary_assessment": found}
    return {part: None if draw.random() < 1 / 12 else reply for part, reply in said.items()}


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Fields, tuple[ConversationGold, VisibleConversation]]]:
    """Generated records, and what is read of them."""
    records = {number: varied(number) for number in range(1, CONVERSATIONS + 1)}
    folder = write_folder(tmp_path_factory.mktemp("set"), {str(number): record for number, record in records.items()})
    built = build_items(in_folder(ATTUNEBENCH, folder), [folder], None, 0)
    found = annotated_items(built.items, built.annotations)
    return [(record, found[record["conversationId"]]) for record in records.values()]


def written(result: ResultFile, gold: ConversationGold) -> Fields:
    fields: Fields = json.loads(json.dumps(result_fields(result, gold), allow_nan=False))
    return fields


@pytest.mark.parametrize("strategy", ["absolute", "delta", "blind_delta"])
def test_the_official_rules_score_an_export_alike(strategy: str, known: Any) -> None:
    for number, (record, (gold, shown)) in enumerate(known):
        said = replies(gold, Random(f"{strategy} {number}"), strategy)
        fields = written(ResultFile(gold.conversation_id, "m", "default", strategy, said), gold)
        parts = {part: None if reply is None else json.dumps(reply) for part, reply in said.items()}
        ours = {NAMES.get(name, name): value for name, value in measure_parts((gold, shown), parts, "reference").items()}
        theirs = official.score(record, fields)
        assert set(theirs) == {name for name in NAMES.values() if name != "four_branch_mae"}
        for name, value in theirs.items():
            # Halves of a hundredth may be rounded either way.
            near = 0.0100001 if "composite" in name else 1e-9
            assert ours.get(name) == (None if value is None else pytest.approx(value, abs=near)), (number, name)


@pytest.mark.parametrize("strategy", ["absolute", "delta", "blind_delta"])
def test_an_export_comes_back_with_its_scores(strategy: str, known: Any) -> None:
    for number, (_, (gold, shown)) in enumerate(known):
        said = replies(gold, Random(f"{strategy} {number}"), strategy)
        result = ResultFile(gold.conversation_id, "m", "default", strategy, said)
        back = parse_result(written(result, gold)).replies
        texts = [{part: None if one is None else json.dumps(one) for part, one in some.items()} for some in (said, back)]
        for profile in ("corrected", "reference"):
            before, after = (measure_parts((gold, shown), one, profile) for one in texts)
            assert {**after, "read_share": None} == {**before, "read_share": None}, number
