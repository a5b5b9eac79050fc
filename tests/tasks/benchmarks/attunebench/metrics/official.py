"""Score released conversations and result files by the official rules, from the specification and with no code of ours.

A second implementation to compare with the first, as plain as it can be.
"""

from collections.abc import Iterable, Mapping
from itertools import permutations
from math import dist, sqrt
from statistics import fmean
from typing import Any

Fields = Mapping[str, Any]
Values = dict[str, float | None]

POINTS = {
    "interested": (0.65, 0.6),
    "excited": (0.8, 0.85),
    "strong": (0.75, 0.7),
    "enthusiastic": (0.82, 0.78),
    "proud": (0.85, 0.65),
    "alert": (0.7, 0.75),
    "inspired": (0.9, 0.7),
    "determined": (0.78, 0.72),
    "attentive": (0.68, 0.6),
    "active": (0.72, 0.8),
    "distressed": (0.125, 0.75),
    "upset": (0.167, 0.65),
    "guilty": (0.15, 0.6),
    "scared": (0.083, 0.82),
    "hostile": (0.2, 0.7),
    "irritable": (0.22, 0.68),
    "ashamed": (0.13, 0.62),
    "nervous": (0.188, 0.72),
    "jittery": (0.196, 0.788),
    "afraid": (0.073, 0.84),
}
"""Valence and arousal."""

SIGNS = {"totalPositiveAffect": [*POINTS][:10], "totalNegativeAffect": [*POINTS][10:]}
LEVELS = ("very", "mostly w", "mixed", "mostly o")
BRANCHES = ("perceiving", "facilitating", "understanding", "managing")
JUDGED = {"binary_om": "em_binary_om_assessment", "binary_human": "em_binary_human_prediction"}


def mean(values: Iterable[float | None]) -> float | None:
    valued = [value for value in values if value is not None]
    return fmean(valued) if valued else None


def jaccard(one: Iterable[str], other: Iterable[str]) -> float:
    first, second = set(one), set(other)
    return len(first & second) / len(first | second) if first | second else 1.0


def emotions(gold: list[Fields], predicted: list[Fields] | None) -> Values:
    felt, read = ([(tag["emotion"].lower(), tag["intensity"]) for tag in tags] for tags in (gold, predicted or []))
    names = ("emotion_f1", "emotion_va_score", "emotion_f1_intensity", "emotion_va_intensity_score", "emotion_hit_rate")
    if not felt or not read:
        agree = float(not felt and not read)
        tagged = agree if felt else None
        return {**dict.fromkeys(names, agree), "emotion_hit_rate_tagged_only": tagged, "emotion_intensity_mae": None}
    both = dict(felt).keys() & dict(read).keys()
    f1, recall = 2 * len(both) / (len(dict(felt)) + len(dict(read))), len(both) / len(dict(felt))
    pairs = [(dict(felt)[name], dict(read)[name]) for name in both]
    apart = mean(abs(a - b) for a, b in pairs if a is not None and b is not None)

    def alike(one: tuple[str, Any], other: tuple[str, Any], weight: float) -> float:
        share = round(1 - dist(POINTS[one[0]], POINTS[other[0]]) / sqrt(2), 4)
        close = 0.0 if one[1] is None or other[1] is None else 1 - abs(one[1] - other[1]) / 6
        return (1 - weight) * share + weight * close

    def best(weight: float) -> float:
        few, many = sorted((felt, read), key=len)
        sums = (sum(alike(*pair, weight) for pair in zip(few, order, strict=True)) for order in permutations(many, len(few)))
        return max(sums) / len(many)

    values = (f1, best(0), 0.0 if apart is None else f1 * (1 - apart / 6), best(0.3), recall)
    return {**dict(zip(names, values, strict=True)), "emotion_hit_rate_tagged_only": recall, "emotion_intensity_mae": apart}


def truths(judgements: list[Fields], judged: str) -> dict[str, str | None]:
    if judged == "binary_om":
        return {row["questionId"]: row["observedBehavior"] for row in judgements}
    return {row["questionId"]: row["preferredBehavior"] or row["observedBehavior"] for row in judgements}


def outcomes(true: Mapping[str, str | None], answers: Fields | None) -> list[int]:
    """Return true and false positives and negatives; a missing answer is no."""
    yes, no = ([(answers or {}).get(name) == "yes" for name, truth in true.items() if truth == word] for word in ("yes", "no"))
    return [sum(yes), no.count(False), sum(no), yes.count(False)]


def mcc(tp: int, tn: int, fp: int, fn: int) -> float:
    root = sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return (tp * tn - fp * fn) / root if root else 0.0


def pairwise(comparisons: list[Fields], selections: Fields | None) -> Values:
    chosen = {int(number): side for number, side in (selections or {}).items()}
    right = [row["winner"] == chosen.get(number, "-") for number, row in enumerate(comparisons)]

    def order(sides: Mapping[int, Any]) -> list[str]:
        labels = [comparisons[number]["responseA" if side == "A" else "responseB"] for number, side in sides.items()]
        return sorted(("alternate", "human", "original"), key=lambda label: -labels.count(label)) if labels else []

    won, own = order({number: row["winner"] for number, row in enumerate(comparisons) if row["winner"]}), order(chosen)
    tau = None
    if won and own:
        agree = [(won.index(a) < won.index(b)) == (own.index(a) < own.index(b)) for a, b in permutations(won, 2) if a < b]
        tau = (agree.count(True) - agree.count(False)) / 3
    return {"pairwise_accuracy": mean(map(float, right)) if right else 1.0, "pairwise_kendall_tau": tau}


def drafts(turn: Fields, fields: Fields) -> Values:
    notes = turn["annotations"]
    texts = {"original": turn["llmResponse"], "alternate": notes["alternateResponses"]["llmImproved"]}
    texts["human"] = notes["alternateResponses"]["humanEdited"]
    draft = fields["em_drafted_response"]
    words = draft.lower().split() if isinstance(draft, str) else []
    alike = {label: jaccard(words, text.lower().split()) for label, text in texts.items()}
    winners = [row["responseA" if row["winner"] == "A" else "responseB"] for row in notes["pairwiseComparisons"] if row["winner"]]
    ratings, assessed = fields["em_draft_judge_scores"] or {}, fields["em_draft_binary_assessment"] or {}
    wanted = {name: truth for name, truth in truths(notes["binaryJudgements"], "binary_human").items() if truth in ("yes", "no")}
    right = [float(assessed.get(name) == truth) for name, truth in wanted.items()]
    return {
        "response_similarity": max(alike.values()),
        "response_similarity_original": alike["original"],
        "response_similarity_llm_improved": alike["alternate"],
        "response_similarity_human_edited": alike["human"],
        "response_preference_alignment": mean(alike[label] for label in winners),
        "draft_judge_score": (fmean(ratings.values()) - 1) / 6 if ratings else None,
        "draft_binary_alignment": mean(right) if assessed else None,
    }


def mood(record: Fields, post: Fields) -> Values:
    """Score both totals: those stated, else sums of what is there, 40 for what is absent; of the items those that are there."""
    predicted = post["predicted_post_panas"]
    items = {name.lower(): value for name, value in predicted.get("items", {}).items()}
    after = {name.lower(): value for name, value in record["postPanas"]["responses"].items()}
    errors, skills = [], []
    for total, names in SIGNS.items():
        summed = sum(items[name] for name in names if name in items) or None
        stated, true, before = predicted.get(total, summed), record["postPanas"][total], record["prePanas"][total]
        errors.append(abs((40 if stated is None else stated) - true))
        if stated is not None and before != true:
            skills.append(max(1 - abs(stated - true) / abs(true - before), -1))
    apart = mean(abs(value - after[name]) for name, value in items.items())
    item = {"panas_item_mae": apart, "panas_item_normalized": None if apart is None else 1 - apart / 6}
    return {"panas_normalized": 1 - fmean(errors) / 60, "b": mean(skills), **item}


def phrases(gold: list[str], predicted: list[str]) -> float:
    def earned(these: list[str], those: list[str]) -> float:
        best = (1.0 if text in those else max(jaccard(text.split(), other.split()) for other in those) for text in these)
        return fmean(share if share >= 0.3 else 0.0 for share in best)

    if not gold or not predicted:
        return float(not gold and not predicted)
    recall, precision = earned(gold, predicted), earned(predicted, gold)
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0


def questions(record: Fields, answers: Fields) -> Values:
    gold = record["conversationWideQuestions"]
    q1, sought = ({text.strip().lower() for text in part.get("q1_lookingFor", ())} for part in (gold, answers))
    q2, q3 = ([part.get(name, "").strip().lower() for part in (gold, answers)] for name in ("q2_emotionClarity", "q3_modelFit"))
    off = [list({text.strip().lower() for text in part.get("q3_followUp_whatFeltOff", ())}) for part in (gold, answers)]
    levels = [next((level for level, start in enumerate(LEVELS) if text.startswith(start)), None) for text in q3]
    rated = answers.get("fourBranchScores", {})
    apart = fmean(abs(rated.get(name, 4) - gold["fourBranchScores"][name]) for name in BRANCHES)
    distance = 3.0 if None in levels else abs((levels[0] or 0) - (levels[1] or 0))
    return {
        "q1_looking_for_score": 2 * len(q1 & sought) / (len(q1) + len(sought)) if q1 or sought else 1.0,
        "q2_emotion_clarity_match": float(q2[0] == q2[1]),
        "q3_model_fit_match": float(q3[0] == q3[1]),
        "q3_model_fit_ordinal_distance": distance,
        "q3_follow_up_score": phrases(*off),
        "post_four_branch_normalized": 1 - apart / 6,
    }


def score(record: Fields, result: Fields) -> Values:
    """Score a conversation by its record and its result file."""
    turns: list[Values] = []
    counts: dict[str, list[list[int]]] = {}
    by_number = {fields["turnNumber"]: fields for fields in result["turns"]}
    for turn in record["turns"]:
        fields, notes = by_number[turn["turnNumber"]], turn["annotations"]
        values = emotions(turn["moodShiftTags"], fields["em_emotion_tags"] or None)
        for judged, field in JUDGED.items():
            true = truths(notes["binaryJudgements"], judged)
            for end in ("", "_hp"):
                counted = outcomes(true, fields[f"{field}{end}"])
                nothing = 0.0 if true or end else 1.0
                values[f"{judged}_accuracy{end}"] = (counted[0] + counted[1]) / sum(counted) if any(counted) else nothing
                counts.setdefault(f"{judged}{end}", []).append(counted)
        values |= pairwise(notes["pairwiseComparisons"], fields["em_pairwise_selections"])
        turns.append(values | drafts(turn, fields))
    values = {name: mean(turn[name] for turn in turns) for name in turns[0]}
    post = result["post_conversation"] or {"predicted_post_panas": {}, "predicted_conversation_wide": {}}
    values |= {**mood(record, post), **questions(record, post["predicted_conversation_wide"])}
    pooled = {name: mcc(*map(sum, zip(*of_turns, strict=True))) for name, of_turns in counts.items()}
    seen, facing = values["binary_human_accuracy"] or 0.0, values["binary_human_accuracy_hp"] or 0.0
    for observer, own, end in ((seen, facing, ""), (pooled["binary_human"], pooled["binary_human_hp"], "_mcc")):
        values[f"hp_perspective_gap{end}"] = observer - own
        values[f"hp_perspective_alignment{end}"] = own / observer if observer > 0 else 0.0
    made = composites(values)
    return {name: value for name, value in values.items() if name != "b"} | made


def composites(values: Values) -> Values:
    def of(*names: str) -> float:
        return fmean(values[name] or 0.0 for name in names)

    b = values["b"]
    mood_score = 0.5 if b is None else (b + 1) / 2
    emotion = of("emotion_f1", "emotion_va_score")
    judged, pairs = of("binary_om_accuracy", "binary_human_accuracy"), values["pairwise_accuracy"] or 0.0
    answered = of("q1_looking_for_score", "q2_emotion_clarity_match", "q3_model_fit_match", "q3_follow_up_score")
    branches = values["post_four_branch_normalized"] or 0.0
    turn, whole = fmean((emotion, judged, pairs)), fmean((mood_score, answered, branches))
    pillars = 0.24 * emotion + 0.49 * (judged + pairs) / 2 + 0.27 * (0.4 * mood_score + 0.3 * answered + 0.3 * branches)
    return {
        "turn_level_average": turn,
        "conversation_wide_average": whole,
        "composite_score": round(100 * pillars, 2),
        "equal_weight_composite": round(50 * (turn + whole), 2),
    }
