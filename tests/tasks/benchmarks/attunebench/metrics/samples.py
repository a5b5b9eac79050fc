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


def tags(*said: tuple[str, int | None]) -> tuple[EmotionTag, ...]:
    return tuple(EmotionTag(name=name, intensity=intensity) for name, intensity in said)


def judged(**answers: tuple[YesNo | None, YesNo | None]) -> tuple[Judgement, ...]:
    return tuple(Judgement(question=name, observed=one, preferred=other) for name, (one, other) in answers.items())


def panas(positive: int, negative: int) -> Panas:
    """Return items that come to these totals, and the totals as stored."""
    items: dict[str, int] = {}
    for names, total in ((POSITIVE, positive), (NEGATIVE, negative)):
        items |= {name: total // 10 + (place < total % 10) for place, name in enumerate(names)}
    totals = PanasTotals(positive=positive, negative=negative)
    return Panas(items=items, stored=totals, recomputed=totals)


def turn(number: int = 1, **fields: Any) -> TurnGold:
    return TurnGold(number=number, **fields)


def gold(*turns: TurnGold, **fields: Any) -> ConversationGold:
    return ConversationGold(conversation_id="c-1", turns=turns, **fields)


def shown(known: ConversationGold) -> VisibleConversation:
    """Return what is visible of a conversation: the same texts in each turn."""
    turns = [
        VisibleTurn(
            number=one.number,
            user_message="My train was late.",
            model_reply="I see you",
            questions=tuple(each.question for each in one.judgements),
            comparisons=tuple(VisibleComparison(**each.model_dump(exclude={"winner"})) for each in one.comparisons),
            alternates={"alternate": "No", "human": "I hear"},
        )
        for one in known.turns
    ]
    lists = dict.fromkeys(("adjectives", "q1_options", "q2_options"), ())
    codebook = ShownCodebook(questions={}, pairwise={}, q3_options=FITS, branches={}, **lists)
    mood = PanasTotals(positive=43, negative=11)
    return VisibleConversation(
        conversation_id=known.conversation_id, topic="trains", turns=tuple(turns), profile={}, pre_panas=mood, codebook=codebook
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


def said(q2: str = "Openly", q3: str = "Mixed") -> dict[str, Any]:
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


def oracle(known: ConversationGold) -> dict[str, Any]:
    """Return the replies of a model that says what the person said."""
    replies: dict[str, Any] = {}
    for one in known.turns:
        seen = {each.question: each.observed for each in one.judgements}
        wanted = {each.question: each.preferred for each in one.judgements}
        said = {"binary_om_assessment": seen, "binary_human_prediction": wanted}
        felt = [{"emotion": tag.name, "intensity": tag.intensity or 4} for tag in one.emotions or ()]
        sides = {str(place): each.winner for place, each in enumerate(one.comparisons)}
        named = f"turn {one.number}"
        replies |= {f"{named} review": {"emotion_tags": felt, **said}, f"{named} hp_binary": said}
        replies |= {f"{named} pairwise": {"pairwise_selections": sides}, f"{named} draft": {"drafted_response": "I see."}}
    return {**replies, "post": {"post_panas": known.post_panas.items, "conversation_wide": wide(known.answers, known.branches)}}


def gold_layers(known: Mapping[str, ConversationGold]) -> dict[str, pl.DataFrame]:
    """Return rows of the layers of gold, as build writes them, by item."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for item, one in known.items():
        for layer, of_item in annotation_rows(Record({}, "c.json", 0, hidden={"gold": one})).items():
            rows.setdefault(layer, []).extend({"dataset": "own", "item_id": item, **row} for row in of_item)
    return {layer: pl.DataFrame(found, schema=LAYERS[layer].schema.create_empty().schema) for layer, found in rows.items()}


def wide(said: WideAnswers, branches: Any) -> dict[str, Any]:
    """Return answers about the whole conversation by the names of the record."""
    names = ("q1_lookingFor", "q2_emotionClarity", "q3_modelFit", "q3_followUp_whatFeltOff")
    return {
        **dict(zip(names, ([*(said.q1 or ())], said.q2, said.q3, [*(said.follow_up or ())]), strict=True)),
        "fourBranchScores": branches,
    }
