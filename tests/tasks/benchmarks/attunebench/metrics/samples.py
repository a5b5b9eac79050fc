"""Annotations and replies of a conversation with little said of them, and a model that knows the annotations."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from schemas.item import Record
from schemas.tables.layers import LAYERS
from tasks.benchmarks.attunebench.conversation import (
    Comparison,
    ConversationGold,
    EmotionTag,
    Judgement,
    Panas,
    PanasTotals,
    ReplyLabel,
    ShownCodebook,
    TurnGold,
    VisibleComparison,
    VisibleConversation,
    VisibleTurn,
    WideAnswers,
    YesNo,
)
from tasks.benchmarks.attunebench.datasets.codebook import load_codebook
from tasks.benchmarks.attunebench.datasets.conversations import annotation_rows

POSITIVE, NEGATIVE = load_codebook().positive, load_codebook().negative
LABELS: tuple[ReplyLabel, ...] = ("original", "alternate", "human")
FITS = ("Very good fit", "Mostly good", "Mixed", "Mostly off")


def pair(label_a: ReplyLabel, label_b: ReplyLabel, winner: ReplyLabel | None = None) -> Comparison:
    return Comparison(question="general", label_a=label_a, label_b=label_b, winner=winner)


def pairs(times: int, first: ReplyLabel, second: ReplyLabel, third: ReplyLabel) -> tuple[Comparison, ...]:
    """Return original-alternate, original-human and alternate-human with these winners, `times` times."""
    once = (pair("original", "alternate", first), pair("original", "human", second), pair("alternate", "human", third))
    return once * times


def tags(*rows: tuple[str, int | None]) -> tuple[EmotionTag, ...]:
    return tuple(EmotionTag(name=name, intensity=intensity) for name, intensity in rows)


def judged(**answers: tuple[YesNo | None, YesNo | None]) -> tuple[Judgement, ...]:
    return tuple(Judgement(question=name, observed=seen, preferred=wanted) for name, (seen, wanted) in answers.items())


def panas(positive: int, negative: int) -> Panas:
    """Return items that come to these totals, and the totals as stored."""
    items: dict[str, int] = {}
    for names, total in ((POSITIVE, positive), (NEGATIVE, negative)):
        items |= {name: total // 10 + (index < total % 10) for index, name in enumerate(names)}
    totals = PanasTotals(positive=positive, negative=negative)
    return Panas(items=items, stored=totals, recomputed=totals)


def turn(number: int = 1, **fields: Any) -> TurnGold:
    return TurnGold(number=number, **fields)


def gold(*turns: TurnGold, **fields: Any) -> ConversationGold:
    return ConversationGold(conversation_id="c-1", turns=turns, **fields)


def visible(annotations: ConversationGold) -> VisibleConversation:
    """Return what is visible of a conversation: the same texts in each turn."""
    turns = [
        VisibleTurn(
            number=turn.number,
            user_message="My train was late.",
            model_reply="I see you",
            questions=tuple(row.question for row in turn.judgements),
            comparisons=tuple(VisibleComparison(**row.model_dump(exclude={"winner"})) for row in turn.comparisons),
            alternates={"alternate": "No", "human": "I hear"},
        )
        for turn in annotations.turns
    ]
    lists = dict.fromkeys(("adjectives", "q1_options", "q2_options"), ())
    codebook = ShownCodebook(questions={}, pairwise={}, q3_options=FITS, branches={}, **lists)
    mood = PanasTotals(positive=43, negative=11)
    return VisibleConversation(
        conversation_id="c-1", topic="trains", turns=tuple(turns), profile={}, pre_panas=mood, codebook=codebook
    )


ANSWERS = WideAnswers(q1=("a", "b"), q2="Openly", q3="Mostly off", follow_up=("felt rushed", "too generic"))
RATED = {"perceiving": 5, "facilitating": 6, "understanding": 5, "managing": 4}
BEFORE = panas(43, 11)
WHOLE = gold(
    turn(
        emotions=tags(("distressed", 5), ("nervous", 3)),
        judgements=judged(B1=("yes", "no"), B4=("no", "yes"), B6=("no", "no"), B13=("na", "na")),
        comparisons=pairs(4, "original", "original", "human"),
    ),
    turn(2, emotions=(), judgements=judged(B1=("yes", "yes")), comparisons=pairs(1, "alternate", "human", "human")),
    pre_panas=BEFORE,
    post_panas=panas(49, 10),
    answers=ANSWERS,
    branches=RATED,
)
"""A conversation in which everything is there."""

ONE_TURN = WHOLE.model_copy(update={"turns": WHOLE.turns[:1]})

Values = dict[str, float | None]


def replies(q2: str = "Openly", q3: str = "Mixed") -> dict[str, Any]:
    """Return replies that are right in places, to ONE_TURN or a record that says the same."""
    return {
        "turn 1 draft": {"drafted_response": "I see"},
        "turn 1 judge": {
            "overall_score": 5,
            "emotional_appropriateness": 6,
            "helpfulness": 4,
            "tone_match": 5,
            "draft_binary_assessment": {"B1": "yes", "B4": "yes"},
        },
        "turn 1 review": {
            "emotion_tags": [{"emotion": "Upset", "intensity": 4}, {"emotion": "Nervous", "intensity": 5}],
            "binary_om_assessment": {"B1": "yes", "B4": "yes", "B6": "no"},
            "binary_human_prediction": {"B1": "no", "B4": "yes", "B6": "yes"},
        },
        "turn 1 hp_binary": {
            "binary_om_assessment": {"B1": "yes", "B4": "no", "B6": "no"},
            "binary_human_prediction": {"B1": "yes", "B4": "yes", "B6": "no"},
        },
        "turn 1 pairwise": {"pairwise_selections": {str(number): "A" for number in range(12)}},
        "post": {
            "post_panas": panas(46, 11).items,
            "conversation_wide": {
                "q1_lookingFor": ["b", "c", "d"],
                "q2_emotionClarity": q2,
                "q3_modelFit": q3,
                "q3_followUp_whatFeltOff": ["it felt rushed"],
                "fourBranchScores": {"perceiving": 5, "facilitating": 4, "understanding": 6, "managing": 4},
            },
        },
    }


# Likeness of the adjectives and closeness of 5 and 5, 3 and 4: distressed as nervous, nervous as upset.
D_N, N_U = 0.7 * 0.9507, 0.7 * 0.9483
# Likeness to the three replies: {i, see} of {i, see, you}, of {no}, of {i, hear}. The original won 8 of 12, the human's edit 4.
PLAIN: Values = {
    "emotion_f1": 1 / 2,
    "emotion_va_score": 0.96165,
    "emotion_va_greedy": 0.96165,
    "emotion_intensity_mae": 2,
    "emotion_f1_intensity": 1 / 3,
    "emotion_va_intensity": (D_N + 0.3 + N_U + 0.25) / 2,
    "hit_rate": 1 / 2,
    "hit_rate_tagged": 1 / 2,
    "binary_om_accuracy": 2 / 3,
    "binary_om_accuracy_hp": 1,
    "binary_human_accuracy": 2 / 3,
    "binary_human_accuracy_hp": 2 / 3,
    "pairwise_accuracy": 8 / 12,
    "kendall_tau": 1 / 3,
    "kendall_tau_b": 1 / 3,
    "draft_judge_score": 4 / 6,
    "draft_binary_alignment": 1 / 3,
    "response_similarity": 2 / 3,
    "response_similarity_original": 2 / 3,
    "response_similarity_alternate": 0,
    "response_similarity_human": 1 / 3,
    "preference_alignment": 5 / 9,
    "panas_normalized": 1 - 2 / 60,
    "panas_baseline_adjusted": 1 / 4,
    # Three positive items and one negative one are a point off; of seven items that changed three are right.
    "panas_item_mae": 4 / 20,
    "panas_item_normalized": 1 - 4 / 120,
    "panas_item_baseline_adjusted": 3 / 7,
    "q1_score": 1 / 4,
    "q2_score": 1,
    "q3_score": 0,
    "q3_distance": 1,
    "q3_followup_score": 4 / 9,
    "four_branch_score": 7 / 8,
    "branch_perceiving": 1,
    "branch_facilitating": 2 / 3,
    "branch_understanding": 5 / 6,
    "branch_managing": 1,
}
"""What they earn."""


def oracle(annotations: ConversationGold) -> dict[str, Any]:
    """Return the replies of a model that gives the person's own answers."""
    replies: dict[str, Any] = {}
    for turn in annotations.turns:
        answers = {
            "binary_om_assessment": {row.question: row.observed for row in turn.judgements},
            "binary_human_prediction": {row.question: row.preferred for row in turn.judgements},
        }
        emotions = [{"emotion": tag.name, "intensity": tag.intensity or 4} for tag in turn.emotions or ()]
        winners = {str(number): row.winner for number, row in enumerate(turn.comparisons)}
        by_call = {"review": {"emotion_tags": emotions, **answers}, "hp_binary": answers}
        by_call |= {"pairwise": {"pairwise_selections": winners}, "draft": {"drafted_response": "I see."}}
        replies |= {f"turn {turn.number} {call}": reply for call, reply in by_call.items()}
    whole = wide(annotations.answers, annotations.branches)
    return {**replies, "post": {"post_panas": annotations.post_panas.items, "conversation_wide": whole}}


def gold_layers(annotations: Mapping[str, ConversationGold]) -> dict[str, pl.DataFrame]:
    """Return rows of the layers of gold, as build writes them, by item."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for item, of_item in annotations.items():
        for layer, layer_rows in annotation_rows(Record({}, "c.json", 0, hidden={"gold": of_item})).items():
            rows.setdefault(layer, []).extend({"dataset": "own", "item_id": item, **row} for row in layer_rows)
    return {layer: pl.DataFrame(of_layer, schema=LAYERS[layer].schema.create_empty().schema) for layer, of_layer in rows.items()}


def wide(answers: WideAnswers, branches: Any) -> dict[str, Any]:
    """Return answers about the whole conversation by the names of the record."""
    return {
        "q1_lookingFor": [*(answers.q1 or ())],
        "q2_emotionClarity": answers.q2,
        "q3_modelFit": answers.q3,
        "q3_followUp_whatFeltOff": [*(answers.follow_up or ())],
        "fourBranchScores": branches,
    }
