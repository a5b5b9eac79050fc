"""One conversation scored: from the person's annotations and the replies by part to a value per metric, and their composite.

Values of turns are means over the turns that have one.

Source: AttuneBench 1.0, and the public port of its scorer for what that leaves open, such as the weights within a pillar; where
they differ the rules decide.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from math import fsum

import polars as pl

from schemas.metrics import RATIO, CentredNormalisation, NoNormalisation, Normalisation, NumericNormalisation
from schemas.vocabulary import Profile
from tasks.benchmarks.attunebench.annotate import DRAFT_JUDGE
from tasks.benchmarks.attunebench.benchmark import TURNS, WHOLE
from tasks.benchmarks.attunebench.conversation import POST, ConversationGold, TurnGold, VisibleConversation, part_of
from tasks.benchmarks.attunebench.datasets.conversations import read_gold
from tasks.benchmarks.attunebench.metrics.afterwards import branch_values, mean, panas_values, question_values
from tasks.benchmarks.attunebench.metrics.replies import ANY_REPLY, Reply, is_unread, read_share, read_tags, read_words
from tasks.benchmarks.attunebench.metrics.rules import Rules, rules_of
from tasks.benchmarks.attunebench.metrics.turns import (
    OUTCOMES,
    Truths,
    Values,
    accuracy,
    count_outcomes,
    draft_values,
    emotion_values,
    pairwise_values,
    pooled,
    similarity_values,
)
from tasks.metrics.metric import Metric, WholeMeasure
from tasks.text.replies import read_object

Annotated = tuple[ConversationGold, VisibleConversation]

Replies = Mapping[str, Reply | None]
"""By part; null, and what is left out = the call failed."""

JUDGED = {"binary_om_accuracy": "binary_om_assessment", "binary_human_accuracy": "binary_human_prediction"}
"""What the reply did, what the person wanted; metric and key of the reply. Those of call hp_binary end in FACING."""

FACING = "_hp"
COUNTED = {f"{name}{end}": [f"{name}{end}_{outcome}" for outcome in OUTCOMES] for name in JUDGED for end in ("", FACING)}

COUNTS = {name for names in COUNTED.values() for name in names}
PILLARS = {"pillar_emotion": 0.24, "pillar_behaviour": 0.49, "pillar_conversation": 0.27}


def annotated_items(items: pl.DataFrame, gold: Mapping[str, pl.DataFrame]) -> dict[str, Annotated]:
    """Return each item by its id, from rows of `items` and of both layers of annotations."""
    turns = gold[TURNS].rows_by_key("item_id", named=True)
    whole = {row["item_id"]: read_gold(row, turns.get(row["item_id"], ())) for row in gold[WHOLE].to_dicts()}
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
    return {"accuracy": _shift(*map(values.get, sides)), "mcc": _shift(*(pooled(*of_side)["mcc"] for of_side in counts))}


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
    # What the reply did and what was wanted, by question; where the latter is null, the former stands for it.
    truths: dict[str, Truths] = {
        "binary_om_accuracy": {row.question: row.observed for row in turn.judgements},
        "binary_human_accuracy": {row.question: row.preferred or row.observed for row in turn.judgements},
    }
    values: Values = {}
    if review is not None:
        tags = None if turn.emotions is None else [(tag.name, tag.intensity) for tag in turn.emotions]
        values |= emotion_values(tags, read_tags(review.get("emotion_tags")), rules)
    for reply, end in ((review, ""), (facing, FACING)):
        if reply is None:
            continue
        for name, key in JUDGED.items():
            counts = count_outcomes(truths[name], read_words(reply.get(key)), rules)
            values[f"{name}{end}"] = accuracy(counts, truths[name], rules, unlisted=0.0 if end else 1.0)
            values |= zip(COUNTED[f"{name}{end}"], counts.values(), strict=True)
    if pairwise is not None:
        values |= pairwise_values(turn.comparisons, pairwise.get("pairwise_selections"), rules)
    judge = part_of("judge", turn.number)
    judged = [reply for part, reply in replies.items() if reply is not None and part.startswith(judge)]
    values |= draft_values(truths["binary_human_accuracy"], judged)
    if draft is not None:
        values |= similarity_values(draft.get("drafted_response"), texts, turn.comparisons, rules)
    return values


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


MEASURE = WholeMeasure(annotated_items, measure_parts, is_unread, DRAFT_JUDGE)


def _annotated(name: str, words: str, bounds: tuple[float, float] = (0, 1), normalisation: Normalisation = RATIO) -> Metric:
    return Metric(name, words, bounds, normalisation=normalisation, question_types=("annotation",), whole=MEASURE)


_SKILL: tuple[tuple[float, float], Normalisation] = (-1, 1), NumericNormalisation(min=-1, max=1)
_POINTS: tuple[tuple[float, float], Normalisation] = (0, 100), NoNormalisation()

METRICS = (
    _annotated("emotion_f1", "F1 of the emotions named in a person's message against those the person tagged; mean over turns."),
    _annotated(
        "emotion_va_score", "Likeness in valence and arousal of emotions named and tagged, best assignment; mean over turns."
    ),
    _annotated("emotion_va_greedy", "As emotion_va_score, the likest pair taken first."),
    _annotated("emotion_f1_intensity", "Emotion F1 x closeness of the intensities of the emotions in common; mean over turns."),
    _annotated("emotion_va_intensity", "0.7 x likeness of two emotions + 0.3 x closeness of their intensities; mean over turns."),
    _annotated(
        "emotion_intensity_mae",
        "Points by which intensities of the emotions in common differ; 0 is best.",
        (0, 6),
        CentredNormalisation(best=0, span=6),
    ),
    _annotated("hit_rate", "Share of the tagged emotions that are named; mean over turns."),
    _annotated("hit_rate_tagged", "Share of the tagged emotions that are named; mean over turns with tags."),
    _annotated("binary_om_accuracy", "Share of judgements whether a reply showed a behaviour that the person made, too."),
    _annotated("binary_human_accuracy", "Share of judgements whether a person wanted a behaviour that the person made, too."),
    _annotated("binary_om_accuracy_hp", "As binary_om_accuracy, asked as if of the person."),
    _annotated("binary_human_accuracy_hp", "As binary_human_accuracy, asked as if of the person."),
    _annotated("pairwise_accuracy", "Share of pairs of replies of which the person's choice is named; mean over turns."),
    _annotated("kendall_tau", "Kendall's tau of replies ordered by wins, ties by name, with the person's order.", *_SKILL),
    _annotated("kendall_tau_b", "Kendall's tau-b of the numbers of wins of replies with the person's.", *_SKILL),
    _annotated("draft_judge_score", "A judge's ratings of drafted replies, 1 to 7, put on 0 to 1; mean over turns."),
    _annotated("draft_binary_alignment", "Share of wanted and unwanted behaviours that drafted replies get right, by a judge."),
    _annotated(
        "response_similarity", "Words that a draft shares with the likest of the compared replies, Jaccard; mean over turns."
    ),
    _annotated("preference_alignment", "Words that a draft shares with the compared replies, Jaccard, weighted by their wins."),
    _annotated("panas_normalized", "1 - error of both totals of the mood afterwards / 60."),
    _annotated("panas_item_normalized", "1 - error of the items of the mood afterwards / 6."),
    _annotated(
        "panas_baseline_adjusted",
        "1 - error of the totals of the mood afterwards / their change; 0 = the mood before, repeated.",
        *_SKILL,
    ),
    _annotated("panas_item_baseline_adjusted", "As panas_baseline_adjusted, by item.", *_SKILL),
    _annotated("q1_score", "What the person sought: options named and chosen, intersection over union."),
    _annotated("q2_score", "Share of conversations whose clearness of feelings is named as the person chose it."),
    _annotated("q3_score", "Share of conversations whose fit of the model is named as the person chose it."),
    _annotated(
        "q3_distance",
        "Levels between the fit that is named and the one chosen; 0 is best.",
        (0, 3),
        CentredNormalisation(best=0, span=3),
    ),
    _annotated("q3_followup_score", "F1 of what felt off, by the words of the phrases."),
    _annotated("four_branch_score", "1 - error of the ratings of four branches of emotional intelligence / 6."),
    _annotated("branch_perceiving", "1 - error of the rating of perceiving present feelings / 6."),
    _annotated("branch_facilitating", "1 - error of the rating of using feelings in reasoning / 6."),
    _annotated("branch_understanding", "1 - error of the rating of understanding how feelings develop / 6."),
    _annotated("branch_managing", "1 - error of the rating of conveying emotion fittingly / 6."),
    _annotated("pillar_emotion", "Mean of emotion_f1 and emotion_va_score."),
    _annotated("pillar_behaviour", "Mean of the accuracy of judgements and pairwise_accuracy."),
    _annotated("pillar_conversation", "0.4 x mood afterwards + 0.3 x questions + 0.3 x four_branch_score."),
    _annotated("composite_score", "0.24 emotion + 0.49 behaviour + 0.27 conversation, of 100.", *_POINTS),
    _annotated("composite_equal", "Emotion, judgements, pairs; mood, questions, branches: all alike, of 100.", *_POINTS),
    _annotated("binary_accuracy", "Mean of binary_om_accuracy and binary_human_accuracy."),
    _annotated("read_share", "Share of the model's replies that have every part they were asked for."),
)
