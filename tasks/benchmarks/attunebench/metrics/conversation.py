"""One conversation scored: from the person's annotations and the replies by part to a value per metric, and their composite.

Values of turns are means over the turns that have one.

Source: AttuneBench 1.0, and the public port of its scorer for what that leaves open, such as the weights within a pillar; where
they differ the rules decide.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from math import fsum

import polars as pl

from schemas.vocabulary import Profile
from tasks.benchmarks.attunebench.benchmark import TURNS, WHOLE
from tasks.benchmarks.attunebench.conversation import POST, ConversationGold, TurnGold, VisibleConversation, part_of
from tasks.benchmarks.attunebench.datasets.conversations import read_gold
from tasks.benchmarks.attunebench.metrics import choices
from tasks.benchmarks.attunebench.metrics.afterwards import branch_values, panas_values, question_values
from tasks.benchmarks.attunebench.metrics.emotions import Values, emotion_values
from tasks.benchmarks.attunebench.metrics.replies import ANY_REPLY, Reply, read_share, read_tags, read_words
from tasks.benchmarks.attunebench.metrics.rules import Rules, rules_of
from tasks.text.json_objects import read_object

Known = tuple[ConversationGold, VisibleConversation]

Replies = Mapping[str, Reply | None]
"""By part; null, and what is left out = the call failed."""

JUDGED = {"binary_om_accuracy": "binary_om_assessment", "binary_human_accuracy": "binary_human_prediction"}
"""What the reply did, what the person wanted; metric and key of the reply. Those of call hp_binary end in FACING."""

FACING = "_hp"
COUNTED = {f"{name}{end}": [f"{name}{end}_{one}" for one in choices.OUTCOMES] for name in JUDGED for end in ("", FACING)}
"""Values that are counts of outcomes, by metric."""

PILLARS = {"pillar_emotion": 0.24, "pillar_behaviour": 0.49, "pillar_conversation": 0.27}


def known_items(items: pl.DataFrame, gold: Mapping[str, pl.DataFrame]) -> dict[str, Known]:
    """Return annotations and visible part of each item by its id, from rows of `items` and of both layers of annotations."""
    turns = gold[TURNS].rows_by_key("item_id", named=True)
    whole = {row["item_id"]: read_gold(row, turns.get(row["item_id"], ())) for row in gold[WHOLE].iter_rows(named=True)}
    shown = items.select("item_id", "context").iter_rows()
    return {item: (whole[item], VisibleConversation.model_validate_json(context)) for item, context in shown}


def measure_parts(known: Known, parts: Mapping[str, str | None], profile: Profile) -> Values:
    """Return values by metric of the answers to one item; null = lost with a call that failed, left out = nothing to score.

    A value is lost if there would be one, had the calls that failed been answered, whatever the answer.
    """

    def scored(replies: Replies) -> Values:
        values = {**score_conversation(*known, replies, rules_of(profile)), "read_share": read_share(replies)}
        return {name: value for name, value in values.items() if value is not None}

    replies = {part: read_object(text) for part, text in parts.items()}
    failed = {part: ANY_REPLY for part, reply in replies.items() if reply is None}
    return {**(dict.fromkeys(scored({**replies, **failed})) if failed else {}), **scored(replies)}


def score_conversation(gold: ConversationGold, shown: VisibleConversation, replies: Replies, rules: Rules) -> Values:
    """Return values by metric of one conversation: shares in [0, 1] unless the metric's row says otherwise.

    Null, or not there = nothing to score, or a call that failed.
    """
    texts = {turn.number: {str(label): turn.reply(label) for label in ("original", *turn.alternates)} for turn in shown.turns}
    values = over_turns(score_turn(turn, texts.get(turn.number, {}), replies, rules) for turn in gold.turns)
    for shift, end in zip(shift_of(values, "binary_human_accuracy").values(), ("", "_mcc"), strict=True):
        values |= {f"hp_perspective_gap{end}": shift["gap"], f"hp_perspective_alignment{end}": shift["ratio"]}
    post = _reply(replies, part_of(POST), rules)
    if post is not None:
        said = post.get("conversation_wide")
        said = said if isinstance(said, dict) else {}
        values |= panas_values(gold.pre_panas, gold.post_panas, post, rules)
        values |= question_values(gold.answers, said, shown.codebook.q3_options, rules)
        values |= branch_values(gold.branches, said.get("fourBranchScores"), rules)
    return {**values, **composite_values(values, rules)}


def over_turns(turns: Iterable[Values]) -> Values:
    """Return the mean of each metric over those that have a value, and the sum of what is a count."""
    known = defaultdict[str, list[float]](list)
    for values in turns:
        for name, value in values.items():
            if value is not None:
                known[name].append(value)
    counts = {name for names in COUNTED.values() for name in names}
    return {name: fsum(found) / (1 if name in counts else len(found)) for name, found in known.items()}


def shift_of(values: Values, judged: str) -> dict[str, dict[str, float | None]]:
    """Return gap and ratio of one conversation between both wordings of a question: of accuracy, and of MCC."""
    sides = (judged, f"{judged}{FACING}")
    counts = [[values.get(name) or 0 for name in COUNTED[side]] for side in sides]
    matthews = (choices.pooled(*found)["mcc"] if any(found) else None for found in counts)
    return {"accuracy": choices.perspective(*map(values.get, sides)), "mcc": choices.perspective(*matthews)}


def score_turn(turn: TurnGold, texts: Mapping[str, str], replies: Replies, rules: Rules) -> Values:
    """Return values of a turn by metric, the counts of COUNTED among them; drafts are compared with `texts`, by label."""
    review, facing, pairwise, draft = (
        _reply(replies, part_of(call, turn.number), rules) for call in ("review", "hp_binary", "pairwise", "draft")
    )
    truths = _truths(turn)
    values: Values = {}
    if review is not None:
        felt = None if turn.emotions is None else [(tag.name, tag.intensity) for tag in turn.emotions]
        values |= emotion_values(felt, read_tags(review.get("emotion_tags")), rules)
    for reply, end in ((review, ""), (facing, FACING)):
        if reply is None:
            continue
        for name, key in JUDGED.items():
            found = choices.count_outcomes(truths[name], read_words(reply.get(key)), rules)
            values[f"{name}{end}"] = choices.accuracy(found, truths[name], rules, unlisted=0.0 if end else 1.0)
            values |= zip(COUNTED[f"{name}{end}"], found.values(), strict=True)
    if pairwise is not None:
        values |= choices.pairwise_values(turn.comparisons, pairwise.get("pairwise_selections"), rules)
    judge = part_of("judge", turn.number)
    judged = [reply for part, reply in replies.items() if reply is not None and part.startswith(judge)]
    values |= choices.draft_values(truths["binary_human_accuracy"], judged)
    if draft is not None:
        values |= choices.similarity_values(draft.get("drafted_response"), texts, turn.comparisons, rules)
    return values


def _truths(turn: TurnGold) -> dict[str, dict[str, str | None]]:
    """Return what the reply did and what was wanted, each by question; one that is null takes the other's place."""
    listed = turn.judgements
    return {
        "binary_om_accuracy": {one.question: one.observed for one in listed},
        "binary_human_accuracy": {one.question: one.preferred or one.observed for one in listed},
    }


def _reply(replies: Replies, part: str, rules: Rules) -> Reply | None:
    """Return what a call said; of one that failed null, or an empty reply where the rules say so."""
    reply = replies.get(part)
    return {} if reply is None and rules.empty == "counted" else reply


def composite_values(values: Values, rules: Rules) -> Values:
    """Return the pillars and the accuracy of judgements in [0, 1], and both composites on 0 to 100.

    Observer wording. What is missing is dropped and the rest weighed anew, but no pillar may be missing.
    """
    emotion = _equal(values, "emotion_f1", "emotion_va_score")
    judged = _equal(values, "binary_om_accuracy", "binary_human_accuracy")
    asked = _equal(values, "q1_score", "q2_score", "q3_score", "q3_followup_score")
    skill, pairwise, branches = (
        values.get(name) for name in ("panas_baseline_adjusted", "pairwise_accuracy", "four_branch_score")
    )
    mood = (skill + 1) / 2 if skill is not None else 0.5 if rules.undefined == "half" else None
    behaviour = weighted_mean((0.5, judged), (0.5, pairwise))
    conversation = weighted_mean((0.4, mood), (0.3, asked), (0.3, branches))
    pillars = dict(zip(PILLARS, (emotion, behaviour, conversation), strict=True))
    turns, whole = (weighted_mean(*((1, one) for one in some)) for some in ((emotion, judged, pairwise), (mood, asked, branches)))
    return {
        **pillars,
        "binary_accuracy": judged,
        "turn_level_average": turns,
        "conversation_wide_average": whole,
        "composite_score": _points([(weight, pillars[name]) for name, weight in PILLARS.items()], rules),
        "composite_equal": _points([(0.5, turns), (0.5, whole)], rules),
    }


def weighted_mean(*members: tuple[float, float | None]) -> float | None:
    """Return the mean of the members that are there, by their weights; null if none is."""
    known = [(weight, value) for weight, value in members if value is not None]
    return fsum(weight * value for weight, value in known) / fsum(weight for weight, _ in known) if known else None


def _equal(values: Mapping[str, float | None], *names: str) -> float | None:
    return weighted_mean(*((1, values.get(name)) for name in names))


def _points(members: list[tuple[float, float | None]], rules: Rules) -> float | None:
    known = [weight * value for weight, value in members if value is not None]
    if len(known) < len(members):
        return None
    points = 100 * fsum(known)
    return points if rules.digits is None else round(points, rules.digits)
