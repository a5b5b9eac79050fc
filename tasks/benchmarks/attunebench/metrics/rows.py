"""Metrics of a conversation that a person annotated, all of whose parts count together."""

from schemas.metrics import RATIO, CentredNormalisation, NoNormalisation, Normalisation, NumericNormalisation
from tasks.benchmarks.attunebench.annotate import DRAFT_JUDGE
from tasks.benchmarks.attunebench.metrics.conversation import annotated_items, measure_parts
from tasks.benchmarks.attunebench.metrics.replies import is_unread
from tasks.metrics.metric import Metric, WholeMeasure

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
