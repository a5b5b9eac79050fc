"""One conversation scored: from the person's annotations and the replies by part to a value per metric.

Values of turns are means over the turns that have one.

Source: AttuneBench 1.0, and the public port of its scorer for what that leaves open; where they differ the rules decide.
"""

from collections import defaultdict
from collections.abc import Mapping
from math import fsum

from schemas.attunebench import POST, ConversationGold, TurnGold, VisibleConversation, part_of
from tasks.metrics.attunebench.afterwards import branch_values, panas_values, question_values
from tasks.metrics.attunebench.choices import accuracy, count_outcomes, draft_values, pairwise_values, similarity_values
from tasks.metrics.attunebench.composite import composite_values
from tasks.metrics.attunebench.emotions import Values, emotion_values
from tasks.metrics.attunebench.replies import Reply, read_tags, read_words
from tasks.metrics.attunebench.rules import Rules

Replies = Mapping[str, Reply | None]
"""By part; null, and what is left out = the call failed."""

JUDGED = {"binary_om_accuracy": "binary_om_assessment", "binary_human_accuracy": "binary_human_prediction"}
"""What the reply did, what the person wanted; metric and key of the reply. Those of call hp_binary end in FACING."""

FACING = "_hp"


def score_conversation(gold: ConversationGold, shown: VisibleConversation, replies: Replies, rules: Rules) -> Values:
    """Score one conversation.

    Args:
        gold: the person's annotations.
        shown: what is visible of it: the texts that drafts are compared with, and the options.
        replies: as read, by part.
        rules: of a profile.

    Returns:
        Values by metric: shares in [0, 1] unless the metric's row says otherwise; null, or not there = nothing to score, or a
        call that failed.
    """
    turns = defaultdict[str, list[float]](list)
    texts = {turn.number: {str(label): turn.reply(label) for label in ("original", *turn.alternates)} for turn in shown.turns}
    for turn in gold.turns:
        values, _ = score_turn(turn, texts.get(turn.number, {}), replies, rules)
        for name, value in values.items():
            if value is not None:
                turns[name].append(value)
    values = {name: fsum(known) / len(known) for name, known in turns.items()}
    post = _reply(replies, part_of(POST), rules)
    if post is not None:
        said = post.get("conversation_wide")
        said = said if isinstance(said, dict) else {}
        values |= panas_values(gold.pre_panas, gold.post_panas, post, rules)
        values |= question_values(gold.answers, said, shown.codebook.q3_options, rules)
        values |= branch_values(gold.branches, said.get("fourBranchScores"), rules)
    return {**values, **composite_values(values, rules)}


def score_turn(
    turn: TurnGold, texts: Mapping[str, str], replies: Replies, rules: Rules
) -> tuple[Values, dict[str, dict[str, int]]]:
    """Return values of a turn by metric, and by metric of judgements how many are true and false positives and negatives.

    Args: as above, but for `texts`: replies that drafts are compared with, by label; none = they are not compared.
    """
    review, facing, pairwise, draft = (
        _reply(replies, part_of(call, turn.number), rules) for call in ("review", "hp_binary", "pairwise", "draft")
    )
    truths = _truths(turn)
    values: Values = {}
    counts: dict[str, dict[str, int]] = {}
    if review is not None:
        felt = [(tag.name, tag.intensity) for tag in turn.emotions]
        values |= emotion_values(felt, read_tags(review.get("emotion_tags")), rules)
    for reply, end in ((review, ""), (facing, FACING)):
        if reply is None:
            continue
        for name, key in JUDGED.items():
            found = count_outcomes(truths[name], read_words(reply.get(key)), rules)
            values[f"{name}{end}"] = accuracy(found, truths[name], rules, unlisted=0.0 if end else 1.0)
            counts[f"{name}{end}"] = found
    if pairwise is not None:
        values |= pairwise_values(turn.comparisons, pairwise.get("pairwise_selections"), rules)
    judge = part_of("judge", turn.number)
    judged = [reply for part, reply in replies.items() if reply is not None and part.startswith(judge)]
    values |= draft_values(truths["binary_human_accuracy"], judged)
    if draft is not None:
        values |= similarity_values(draft.get("drafted_response"), texts, turn.comparisons)
    return values, counts


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
