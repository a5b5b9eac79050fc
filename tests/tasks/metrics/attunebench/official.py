"""Reads released conversations and result files, and scores them by the official rules: from the specification, nothing of ours.

A second implementation, to be held against the first. It is as slow and as plain as it can be.
"""

from collections.abc import Iterable, Mapping
from itertools import permutations
from math import dist, sqrt
from statistics import fmean
from typing import Any

Fields = Mapping[str, Any]
Values = dict[str, float | None]

PLACES = {
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

SIGNS = {"totalPositiveAffect": [*PLACES][:10], "totalNegativeAffect": [*PLACES][10:]}
LEVELS = ("very", "mostly w", "mixed", "mostly o")
BRANCHES = ("perceiving", "facilitating", "understanding", "managing")
JUDGED = {"binary_om": "em_binary_om_assessment", "binary_human": "em_binary_human_prediction"}


def mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def jaccard(one: Iterable[str], other: Iterable[str]) -> float:
    here, there = set(one), set(other)
    return len(here & there) / len(here | there) if here | there else 1.0


def emotions(gold: list[Fields], said: list[Fields] | None) -> Values:
    felt, named = ([(one["emotion"].lower(), one["intensity"]) for one in tags] for tags in (gold, said or []))
    names = ("emotion_f1", "emotion_va_score", "emotion_f1_intensity", "emotion_va_intensity_score", "emotion_hit_rate")
    if not felt or not named:
        agree = float(not felt and not named)
        tagged = agree if felt else None
        return {**dict.fromkeys(names, agree), "emotion_hit_rate_tagged_only": tagged, "emotion_intensity_mae": None}
    both = dict(felt).keys() & dict(named).keys()
    f1, recall = 2 * len(both) / (len(dict(felt)) + len(dict(named))), len(both) / len(dict(felt))
    pairs = [(dict(felt)[name], dict(named)[name]) for name in both]
    apart = mean(abs(one - other) for one, other in pairs if one is not None and other is not None)

    def alike(one: tuple[str, Any], other: tuple[str, Any], weight: float) -> float:
        share = round(1 - dist(PLACES[one[0]], PLACES[other[0]]) / sqrt(2), 4)
        close = 0.0 if one[1] is None or other[1] is None else 1 - abs(one[1] - other[1]) / 6
        return (1 - weight) * share + weight * close

    def best(weight: float) -> float:
        few, many = sorted((felt, named), key=len)
        sums = (sum(alike(*pair, weight) for pair in zip(few, order, strict=True)) for order in permutations(many, len(few)))
        return max(sums) / len(many)

    found = (f1, best(0), 0.0 if apart is None else f1 * (1 - apart / 6), best(0.3), recall)
    return {**dict(zip(names, found, strict=True)), "emotion_hit_rate_tagged_only": recall, "emotion_intensity_mae": apart}


def truths(judgements: list[Fields], judged: str) -> dict[str, str | None]:
    did = {one["questionId"]: one["observedBehavior"] for one in judgements}
    wanted = {one["questionId"]: one["preferredBehavior"] or one["observedBehavior"] for one in judgements}
    return did if judged == "binary_om" else wanted


def outcomes(true: Mapping[str, str | None], said: Fields | None) -> list[int]:
    """True and false positives and negatives; what is not answered is no."""
    named = {name: (said or {}).get(name) == "yes" for name in true}
    of = {"yes": [named[name] for name, one in true.items() if one == "yes"]}
    of["no"] = [named[name] for name, one in true.items() if one == "no"]
    return [sum(of["yes"]), of["no"].count(False), sum(of["no"]), of["yes"].count(False)]


def mcc(tp: int, tn: int, fp: int, fn: int) -> float:
    root = sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return (tp * tn - fp * fn) / root if root else 0.0


def pairwise(comparisons: list[Fields], said: Fields | None) -> Values:
    chosen = {int(number): side for number, side in (said or {}).items()}
    right = [one["winner"] == chosen.get(number, "-") for number, one in enumerate(comparisons)]

    def wins(sides: Mapping[int, Any]) -> list[str]:
        labels = [comparisons[number]["responseA" if side == "A" else "responseB"] for number, side in sides.items()]
        return sorted(("alternate", "human", "original"), key=lambda label: -labels.count(label)) if labels else []

    won, named = wins({number: one["winner"] for number, one in enumerate(comparisons) if one["winner"]}), wins(chosen)
    tau = None
    if won and named:
        agree = [(won.index(a) < won.index(b)) == (named.index(a) < named.index(b)) for a, b in permutations(won, 2) if a < b]
        tau = (agree.count(True) - agree.count(False)) / 3
    return {"pairwise_accuracy": mean(map(float, right)) if right else 1.0, "pairwise_kendall_tau": tau}


def drafts(turn: Fields, said: Fields) -> Values:
    notes = turn["annotations"]
    texts = {"original": turn["llmResponse"], "alternate": notes["alternateResponses"]["llmImproved"]}
    texts["human"] = notes["alternateResponses"]["humanEdited"]
    draft = said["em_drafted_response"]
    words = draft.lower().split() if isinstance(draft, str) else []
    alike = {label: jaccard(words, text.lower().split()) for label, text in texts.items()}
    winners = [one["responseA" if one["winner"] == "A" else "responseB"] for one in notes["pairwiseComparisons"] if one["winner"]]
    ratings, assessed = said["em_draft_judge_scores"] or {}, said["em_draft_binary_assessment"] or {}
    wanted = {name: one for name, one in truths(notes["binaryJudgements"], "binary_human").items() if one in ("yes", "no")}
    right = [float(assessed.get(name) == one) for name, one in wanted.items()]
    return {
        "response_similarity": max(alike.values()),
        "response_similarity_original": alike["original"],
        "response_similarity_llm_improved": alike["alternate"],
        "response_similarity_human_edited": alike["human"],
        "response_preference_alignment": mean(alike[label] for label in winners),
        "draft_judge_score": (fmean(ratings.values()) - 1) / 6 if ratings else None,
        "draft_binary_alignment": mean(right) if assessed else None,
    }


def mood(record: Fields, said: Fields) -> Values:
    """Of both totals: those stated, else sums of what is there, 40 for what is absent; of the items those that are there."""
    predicted = said["predicted_post_panas"]
    items = {name.lower(): one for name, one in predicted.get("items", {}).items()}
    after = {name.lower(): one for name, one in record["postPanas"]["responses"].items()}
    errors, skills = [], []
    for total, names in SIGNS.items():
        summed = sum(items[name] for name in names if name in items) or None
        told, true, before = predicted.get(total, summed), record["postPanas"][total], record["prePanas"][total]
        errors.append(abs((40 if told is None else told) - true))
        if told is not None and before != true:
            skills.append(max(1 - abs(told - true) / abs(true - before), -1))
    apart = mean(abs(one - after[name]) for name, one in items.items())
    item = {"panas_item_mae": apart, "panas_item_normalized": None if apart is None else 1 - apart / 6}
    return {"panas_normalized": 1 - fmean(errors) / 60, "b": mean(skills), **item}


def phrases(gold: list[str], said: list[str]) -> float:
    def earned(these: list[str], those: list[str]) -> float:
        best = (1.0 if one in those else max(jaccard(one.split(), other.split()) for other in those) for one in these)
        return fmean(share if share >= 0.3 else 0.0 for share in best)

    if not gold or not said:
        return float(not gold and not said)
    recall, precision = earned(gold, said), earned(said, gold)
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0


def questions(record: Fields, said: Fields) -> Values:
    gold = record["conversationWideQuestions"]
    q1, named = ({one.strip().lower() for one in part.get("q1_lookingFor", ())} for part in (gold, said))
    q2, q3 = ([part.get(name, "").strip().lower() for part in (gold, said)] for name in ("q2_emotionClarity", "q3_modelFit"))
    off = [list({one.strip().lower() for one in part.get("q3_followUp_whatFeltOff", ())}) for part in (gold, said)]
    levels = [next((level for level, start in enumerate(LEVELS) if one.startswith(start)), None) for one in q3]
    rated = said.get("fourBranchScores", {})
    apart = fmean(abs(rated.get(name, 4) - gold["fourBranchScores"][name]) for name in BRANCHES)
    distance = 3.0 if None in levels else abs((levels[0] or 0) - (levels[1] or 0))
    return {
        "q1_looking_for_score": 2 * len(q1 & named) / (len(q1) + len(named)) if q1 or named else 1.0,
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
    said_of = {one["turnNumber"]: one for one in result["turns"]}
    for turn in record["turns"]:
        said, notes = said_of[turn["turnNumber"]], turn["annotations"]
        found = emotions(turn["moodShiftTags"], said["em_emotion_tags"] or None)
        for judged, field in JUDGED.items():
            true = truths(notes["binaryJudgements"], judged)
            for end in ("", "_hp"):
                counted = outcomes(true, said[f"{field}{end}"])
                nothing = 0.0 if true or end else 1.0
                found[f"{judged}_accuracy{end}"] = (counted[0] + counted[1]) / sum(counted) if any(counted) else nothing
                counts.setdefault(f"{judged}{end}", []).append(counted)
        turns.append({**found, **pairwise(notes["pairwiseComparisons"], said["em_pairwise_selections"]), **drafts(turn, said)})
    values: Values = {name: mean(turn[name] for turn in turns) for name in turns[0]}
    post = result["post_conversation"] or {"predicted_post_panas": {}, "predicted_conversation_wide": {}}
    values |= {**mood(record, post), **questions(record, post["predicted_conversation_wide"])}
    pooled = {name: mcc(*map(sum, zip(*found, strict=True))) for name, found in counts.items()}
    seen, facing = values["binary_human_accuracy"] or 0.0, values["binary_human_accuracy_hp"] or 0.0
    for one, other, end in ((seen, facing, ""), (pooled["binary_human"], pooled["binary_human_hp"], "_mcc")):
        values[f"hp_perspective_gap{end}"] = one - other
        values[f"hp_perspective_alignment{end}"] = other / one if one > 0 else 0.0
    made = composites(values)
    return {name: value for name, value in values.items() if name != "b"} | made


def composites(values: Values) -> Values:
    def of(*names: str) -> float:
        return fmean(values[name] or 0.0 for name in names)

    b = values["b"]
    felt = 0.5 if b is None else (b + 1) / 2
    emotion = of("emotion_f1", "emotion_va_score")
    judged, pairs = of("binary_om_accuracy", "binary_human_accuracy"), values["pairwise_accuracy"] or 0.0
    asked = of("q1_looking_for_score", "q2_emotion_clarity_match", "q3_model_fit_match", "q3_follow_up_score")
    branches = values["post_four_branch_normalized"] or 0.0
    turn, whole = fmean((emotion, judged, pairs)), fmean((felt, asked, branches))
    pillars = 0.24 * emotion + 0.49 * (judged + pairs) / 2 + 0.27 * (0.4 * felt + 0.3 * asked + 0.3 * branches)
    return {
        "turn_level_average": turn,
        "conversation_wide_average": whole,
        "composite_score": round(100 * pillars, 2),
        "equal_weight_composite": round(50 * (turn + whole), 2),
    }
