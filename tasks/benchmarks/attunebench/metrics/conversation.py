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
from tasks.benchmarks.attunebench.metrics.afterwards import branch_values, mean, panas_values, question_values
from tasks.benchmarks.attunebench.metrics.emotions import Values, emotion_values
from tasks.benchmarks.attunebench.metrics.replies import ANY_REPLY, Reply, read_share, read_tags, read_words
from tasks.benchmarks.attunebench.metrics.rules import Rules, rules_of
from tasks.text.replies import read_object

Annotated = tuple[ConversationGold, VisibleConversation]
"""An item: its annotations, and what is visible of it."""

Replies = Mapping[str, Reply | None]
"""By part; null, and what is left out = the call failed."""

JUDGED = {"binary_om_accuracy": "binary_om_assessment", "binary_human_accuracy": "binary_human_prediction"}
"""What the reply did, what the person wanted; metric and key of the reply. Those of call hp_binary end in FACING."""

FACING = "_hp"
COUNTED = {f"{name}{end}": [f"{name}{end}_{outcome}" for outcome in choices.OUTCOMES] for name in JUDGED for end in ("", FACING)}
"""Values that are counts of outcomes, by metric."""

COUNTS = {name for names in COUNTED.values() for name in names}
PILLARS = {"pillar_emotion": 0.24, "pillar_behaviour": 0.49, "pillar_conversation": 0.27}


def annotated_items(items: pl.DataFrame, gold: Mapping[str, pl.DataFrame]) -> dict[str, Annotated]:
    """Return each item by its id, from rows of `items` and of both layers of annotations."""
    turns = gold[TURNS].rows_by_key("item_id", named=True)
    whole = {row["item_id"]: read_gold(row, turns.get(row["item_id"], ())) for row in gold[WHOLE].iter_rows(named=True)}
    contexts = items.select("item_id", "context").iter_rows()
    return {item: (whole[item], VisibleConversation.model_validate_json(context)) for item, context in contexts}


def measure_parts(item: Annotated, parts: Mapping[str, str | None], profile: Profile) -> Values:
    """Return values by metric of the answers to one item; null = lost with a call that failed, left out = nothing to score.

    A value is lost if there would be one, had the calls that failed been answered, whatever the answer.
    """

    def scored(replies: Replies) -> Values:
        values = {**score_conversation(*item, replies, rules_of(profile)), "read_share": read_share(replies)}
        return {name: value for name, value in values.items() if value is not None}

    replies = {part: read_object(text) for part, text in parts.items()}
    failed = {part: ANY_REPLY for part, reply in replies.items() if reply is None}
    return {**(dict.fromkeys(scored({**replies, **failed})) if failed else {}), **scored(replies)}


def score_conversation(gold: ConversationGold, visible: VisibleConversation, replies: Replies, rules: Rules) -> Values:
    """Return values by metric of one conversation: shares in [0, 1] unless the metric's row states otherwise.

    Null, or left out = nothing to score, or a call that failed.
    """
    texts = {turn.number: {str(label): turn.reply(label) for label in ("original", *turn.alternates)} for turn in visible.turns}
    values = over_turns(score_turn(turn, texts.get(turn.number, {}), replies, rules) for turn in gold.turns)
    for shift, end in zip(shift_of(values, "binary_human_accuracy").values(), ("", "_mcc"), strict=True):
        values |= {f"hp_perspective_gap{end}": shift["gap"], f"hp_perspective_alignment{end}": shift["ratio"]}
    post = _reply(replies, part_of(POST), rules)
    if post is not None:
        answers = post.get("conversation_wide")
        answers = answers if isinstance(answers, dict) else {}
        values |= panas_values(gold.pre_panas, gold.post_panas, post, rules)
        values |= question_values(gold.answers, answers, visible.codebook.q3_options, rules)
        values |= branch_values(gold.branches, answers.get("fourBranchScores"), rules)
    return {**values, **composite_values(values, rules)}


def over_turns(turns: Iterable[Values]) -> Values:
    """Return the mean of each metric over the turns that have a value, and the sum of what is a count."""
    values_by_name = defaultdict[str, list[float]](list)
    for turn in turns:
        for name, value in turn.items():
            if value is not None:
                values_by_name[name].append(value)
    return {name: fsum(values) / (1 if name in COUNTS else len(values)) for name, values in values_by_name.items()}


def shift_of(values: Values, judged: str) -> dict[str, Values]:
    """Return gap and ratio of one conversation between both wordings of a question: of accuracy, and of MCC."""
    sides = (judged, f"{judged}{FACING}")
    counts = [[values.get(name) or 0 for name in COUNTED[side]] for side in sides]
    return {"accuracy": _shift(*map(values.get, sides)), "mcc": _shift(*(choices.pooled(*of_side)["mcc"] for of_side in counts))}


def _shift(observer: float | None, facing: float | None) -> Values:
    """Return how a share changes when the person is not spoken of but spoken as: gap, and ratio (0 if nothing is above 0)."""
    if observer is None or facing is None:
        return {"gap": None, "ratio": None}
    return {"gap": observer - facing, "ratio": facing / observer if observer > 0 else 0.0}


def score_turn(turn: TurnGold, texts: Mapping[str, str], replies: Replies, rules: Rules) -> Values:
    """Return values of a turn by metric, the counts of COUNTED among them; drafts are compared with `texts`, by label."""
    review, facing, pairwise, draft = (
        _reply(replies, part_of(call, turn.number), rules) for call in ("review", "hp_binary", "pairwise", "draft")
    )
    truths = _truths(turn)
    values: Values = {}
    if review is not None:
        tags = None if turn.emotions is None else [(tag.name, tag.intensity) for tag in turn.emotions]
        values |= emotion_values(tags, read_tags(review.get("emotion_tags")), rules)
    for reply, end in ((review, ""), (facing, FACING)):
        if reply is None:
            continue
        for name, key in JUDGED.items():
            counts = choices.count_outcomes(truths[name], read_words(reply.get(key)), rules)
            values[f"{name}{end}"] = choices.accuracy(counts, truths[name], rules, unlisted=0.0 if end else 1.0)
            values |= zip(COUNTED[f"{name}{end}"], counts.values(), strict=True)
    if pairwise is not None:
        values |= choices.pairwise_values(turn.comparisons, pairwise.get("pairwise_selections"), rules)
    judge = part_of("judge", turn.number)
    judged = [reply for part, reply in replies.items() if reply is not None and part.startswith(judge)]
    values |= choices.draft_values(truths["binary_human_accuracy"], judged)
    if draft is not None:
        values |= choices.similarity_values(draft.get("drafted_response"), texts, turn.comparisons, rules)
    return values


def _truths(turn: TurnGold) -> dict[str, dict[str, str | None]]:
    """Return what the reply did and what was wanted, each by question; where the latter is null, the former stands for it."""
    return {
        "binary_om_accuracy": {row.question: row.observed for row in turn.judgements},
        "binary_human_accuracy": {row.question: row.preferred or row.observed for row in turn.judgements},
    }


def _reply(replies: Replies, part: str, rules: Rules) -> Reply | None:
    """Return the reply of a part; if the call failed null, or an empty reply where the rules require it."""
    reply = replies.get(part)
    return {} if reply is None and rules.empty == "counted" else reply


def composite_values(values: Values, rules: Rules) -> Values:
    """Return the pillars and the accuracy of judgements in [0, 1], and both composites on 0 to 100.

    Judgements are those in the observer's wording. What is missing is dropped and the rest reweighted, but no pillar may be
    missing.
    """
    emotion = mean(map(values.get, ("emotion_f1", "emotion_va_score")))
    judged = mean(map(values.get, ("binary_om_accuracy", "binary_human_accuracy")))
    questions = mean(map(values.get, ("q1_score", "q2_score", "q3_score", "q3_followup_score")))
    skill, pairwise, branches = (
        values.get(name) for name in ("panas_baseline_adjusted", "pairwise_accuracy", "four_branch_score")
    )
    mood = (skill + 1) / 2 if skill is not None else 0.5 if rules.undefined == "half" else None
    behaviour = weighted_mean((0.5, judged), (0.5, pairwise))
    conversation = weighted_mean((0.4, mood), (0.3, questions), (0.3, branches))
    pillars = dict(zip(PILLARS, (emotion, behaviour, conversation), strict=True))
    turns, whole = mean((emotion, judged, pairwise)), mean((mood, questions, branches))
    return {
        **pillars,
        "binary_accuracy": judged,
        "turn_level_average": turns,
        "conversation_wide_average": whole,
        "composite_score": _points([(weight, pillars[name]) for name, weight in PILLARS.items()], rules),
        "composite_equal": _points([(0.5, turns), (0.5, whole)], rules),
    }


def weighted_mean(*members: tuple[float, float | None]) -> float | None:
    """Return the mean of the members that have a value, by their weights; null if none has."""
    valued = [(weight, value) for weight, value in members if value is not None]
    return fsum(weight * value for weight, value in valued) / fsum(weight for weight, _ in valued) if valued else None


def _points(members: list[tuple[float, float | None]], rules: Rules) -> float | None:
    weighted = [weight * value for weight, value in members if value is not None]
    if len(weighted) < len(members):
        return None
    points = 100 * fsum(weighted)
    return points if rules.digits is None else round(points, rules.digits)
