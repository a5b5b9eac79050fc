"""Every row of the registries, from the record to the explained score: question types, forms of their answers, metrics.

A row that is added needs an example here, with values worked out by hand, and nothing else.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dataframely as dy
import numpy as np
import polars as pl
import pytest

from schemas.blueprint import MethodSpec, MetricSpec
from schemas.dataset import LocalFile
from schemas.item import Item, Record
from schemas.metrics import METRICS, Metric
from schemas.question_types import QUESTION_TYPES, QuestionType, suited_metrics, suited_types
from schemas.tables.items import Items
from schemas.tables.scores import ItemScores
from tasks.benchmarks.attunebench.conversation import ConversationGold
from tasks.benchmarks.longemotion.benchmark import ASPECTS
from tasks.datasets.building import broken_rules, build_of_records
from tasks.datasets.own_items import adapt_item_record, local_dataset
from tasks.explain.rows import break_down
from tasks.metrics import texts
from tasks.metrics.answer_forms import FORMS, Question, right_reply
from tasks.metrics.item_scores import MEASURED, score_items
from tasks.runs.answers import EXPLANATIONS, ScoredItem, explain_answer
from tasks.runs.baselines import measure_baselines
from tasks.scoring.reduction import reduce_item_scores
from tasks.solvers.prompts import PROMPTS, Prompts, build_messages
from tests.rows import each_row
from tests.tasks.benchmarks.attunebench.metrics.samples import ONE_TURN, PLAIN, gold_layers, oracle, replies, visible
from tests.tasks.rows import answer, answers, judgement, judgements


@dataclass(frozen=True)
class Example:
    """An item, a right and a wrong reply to it, and what they earn.

    `values`: by metric those of the right reply, of the wrong one, and the score of both together; null = not counted.
    `constant`: what always the best letter earns, by the first metric of the row; null = there is no such answer. `gold`: in
    layers of its own; replies then hold one by part.
    """

    item: Mapping[str, Any]
    right: str
    wrong: str
    why_wrong: str
    values: Mapping[Metric, tuple[float | None, float | None, float | None]]
    constant: float | None = None
    gold: ConversationGold | None = None


HALF = (1.0, 0.0, 0.5)
# Rated 5 and 2 on 1 to 5: (5 - 1) / 4 and (2 - 1) / 4; 5 / 5 and 2 / 5.
RATED: Mapping[Metric, tuple[float, float, float]] = {"judged_rating": (1.0, 0.25, 0.625), "mean_rating": (1.0, 0.4, 0.7)}
WHY_RATED = "The ratings of the reply come to 0.40 of 1."

EXAMPLES: Mapping[QuestionType, Example] = {
    "single_choice": Example(
        {
            "options": ("the old man", "not enough information", "the young man"),
            "gold_indices": (1,),
            "option_roles": ("target", "unknown", "other"),
        },
        "B",
        "A",
        "Read as A, right is B.",
        {
            "accuracy": HALF,
            # not enough information: 1 hit, 1 predicted, 2 right: 2/3; the old man: 0
            "macro_f1": (1.0, 0.0, 1 / 3),
            "micro_f1": HALF,
            # the positive class is A, which is never right, and predicted once
            "binary_f1": (1.0, 0.0, 0.0),
            # one answer names a person, the target: 2 x 1/1 - 1 = 1, times the 1/2 that are wrong
            "bias_score_ambiguous": (0.5, 1.0, 0.5),
            "bias_score_disambiguated": (None, None, None),
        },
        constant=1.0,
    ),
    "multiple_answer": Example(
        {"options": ("joy", "sadness", "anger"), "gold_indices": (0, 1)},
        "A, B",
        "A, C",
        "Read as A,C, right is A and B; missing B; too many: C.",
        {
            "accuracy": HALF,
            # joy 2 x 2 / (2 + 2), sadness 2 x 1 / (1 + 2), anger 0
            "macro_f1": (1.0, 0.5, 5 / 9),
            # 3 hits of 4 predicted and 4 right
            "micro_f1": (1.0, 0.5, 0.75),
            "exact_match": HALF,
        },
        constant=0.0,
    ),
    "extractive": Example(
        {"context": "Her cousin Tess called.", "references": ("cousin Tess",)},
        "cousin Tess",
        "her cousin Tess",
        "qa_f1 against the best reference: 0.80 of 1.",
        {
            "accuracy": HALF,
            "exact_match": HALF,
            # two of three words and two of two: 2 x 2 / (3 + 2)
            "token_f1": (1.0, 0.8, 0.9),
            "word_recall": (1.0, 1.0, 1.0),
            "rouge_1": (1.0, 0.8, 0.9),
            "rouge_l": (1.0, 0.8, 0.9),
            # 2/3 of the words, 1/2 of the pairs, no triple of one: smoothed to 1/2
            "bleu": (1.0, (1 / 6) ** (1 / 3), (1 + (1 / 6) ** (1 / 3)) / 2),
            "qa_f1": (1.0, 0.8, 0.9),
        },
    ),
    "open_ended": Example(
        {"references": ("They pass through you",), "wrong_references": ("They grow in you",)},
        "They pass through you",
        "They grow in you",
        WHY_RATED,
        {
            "exact_match": HALF,
            # they and you, of four words each
            **dict.fromkeys(("token_f1", "word_recall", "rouge_1", "rouge_l"), (1.0, 0.5, 0.75)),
            # 2/4 of the words; none of 3, 2 and 1 longer ones: 1/6, 1/8, 1/8
            "bleu": (1.0, (1 / 768) ** 0.25, (1 + (1 / 768) ** 0.25) / 2),
            **dict.fromkeys(("truthful_rouge_l", "truthful_bleu", "truthful_similarity"), HALF),
            **RATED,
        },
    ),
    "ordered_recall": Example(
        {"options": ("joy", "sadness", "anger"), "gold_indices": (2, 0, 1)},
        "C, A, B",
        "A, B, C",
        "Read as A,B,C, right order is C, A, B.",
        # of the pairs CA, CB and AB one is kept
        {"order_accuracy": (1.0, 1 / 3, 2 / 3)},
    ),
    "ranking": Example(
        {
            "options": ("He repairs cars.", "He paints flowers.", "The sky is a fish."),
            "gold_indices": (1,),
            "option_roles": ("stereotype", "anti_stereotype", "unrelated"),
            "subset": "gender: mechanic",
        },
        "B, A, C",
        "C, A, B",
        "Read as C,A,B, right is B.",
        {
            "language_model_score": HALF,
            "stereotype_score": (0.0, 1.0, 0.5),
            # 1/2 x 1/2 / 1/2
            "icat": HALF,
            "recall_at_k": HALF,
            "mrr": (1.0, 1 / 3, 2 / 3),
        },
    ),
    "questionnaire": Example(
        {"options": ("never", "sometimes", "always"), "option_points": (1.0, 2.0, 3.0)},
        "C",
        "A",
        "Read as A and earns 1 points; the item's points go from 1 to 3.",
        {"questionnaire_points": HALF},
        constant=1.0,
    ),
    "judged_summary": Example(
        {"references": ("Beth will visit.",)},
        "Beth will visit.",
        "Beth will stay.",
        WHY_RATED,
        {
            **dict.fromkeys(("rouge_1", "rouge_l"), (1.0, 2 / 3, 5 / 6)),
            # with the full stop 3/4, 1/3 of the pairs, none of 2 and of 1 longer ones: 1/4, 1/4
            "bleu": (1.0, (1 / 64) ** 0.25, (1 + (1 / 64) ** 0.25) / 2),
            **RATED,
        },
    ),
    "label_choice": Example(
        {"options": ("Joy", "Relief & Hope", "Anger"), "gold_indices": (1,)},
        '```json\n{"Emotion": "Relief & Hope"}\n```',
        '```json\n{"Emotion": "Anger"}\n```',
        "Read as Anger, right is Relief & Hope.",
        {"accuracy": HALF, "strict_accuracy": HALF},
        constant=1.0,
    ),
    "odd_one_out": Example(
        {"options": ("warm", "kind", "cold"), "gold_indices": (2,)},
        '```json\n{"index": 2}\n```',
        '```json\n{"index": 0}\n```',
        "Read as segment 0, the odd one is 2; segments count from 0.",
        {"accuracy": HALF, "strict_accuracy": HALF},
        constant=1.0,
    ),
    "aspect_summary": Example({"references": ASPECTS}, ASPECTS[0], "Nothing.", WHY_RATED, RATED),
    "counselor_reply": Example({}, "I see.", "So what?", WHY_RATED, RATED),
    "emotion_expression": Example({"options": ("proud", "upset")}, "I am proud.", "Fine.", WHY_RATED, RATED),
    "role_play": Example({"context": "Age: young\nProblem: no sleep"}, "That sounds hard.", "Sleep!", WHY_RATED, RATED),
}
RIGHT = {
    **oracle(ONE_TURN),
    "turn 1 draft": {"drafted_response": "I see you"},
    "turn 1 judge": {"overall_score": 7, "draft_binary_assessment": {"B1": "no", "B4": "yes", "B6": "no"}},
}
EMOTION, BEHAVIOUR, ASKED = (0.5 + 0.96165) / 2, (2 / 3 + 8 / 12) / 2, (0.25 + 1 + 0 + 4 / 9) / 4
AFTERWARDS = 0.4 * 0.625 + 0.3 * ASKED + 0.3 * 0.875
WRONG_VALUES: Mapping[Metric, float] = {
    **{name: value for name in METRICS if (value := PLAIN.get(name)) is not None},
    "pillar_emotion": EMOTION,
    "pillar_behaviour": BEHAVIOUR,
    "pillar_conversation": AFTERWARDS,
    "composite_score": 24 * EMOTION + 49 * BEHAVIOUR + 27 * AFTERWARDS,
    "binary_accuracy": 2 / 3,
    "composite_equal": 50 * ((EMOTION + 2 / 3 + 8 / 12) / 3 + (0.625 + ASKED + 0.875) / 3),
    # both have all parts
    "read_share": 1,
}
"""Of replies that are right in places; otherwise the right reply has 1."""
# {i} of {i, see, you, hear}, which won 4 of 12
RIGHT_VALUES = {"preference_alignment": 0.75, "composite_score": 100.0, "composite_equal": 100.0}
RIGHT_VALUES |= {"emotion_intensity_mae": 0.0, "q3_distance": 0.0}
ANNOTATION = Example(
    {"context": visible(ONE_TURN).to_json()},
    json.dumps(RIGHT),
    json.dumps(replies()),
    "read_share: 1.00 of 1.",
    {name: (RIGHT_VALUES.get(name, 1.0), one, (RIGHT_VALUES.get(name, 1.0) + one) / 2) for name, one in WRONG_VALUES.items()},
    gold=ONE_TURN,
)
EXAMPLES = {**EXAMPLES, "annotation": ANNOTATION}

GOLD = frozenset({"gold_indices", "references", "option_points"})


def test_each_part_of_a_row_is_there() -> None:
    assert set(EXAMPLES) == set(QUESTION_TYPES)
    assert set(MEASURED) == set(METRICS)
    assert set(FORMS) == set(EXPLANATIONS) == {row.answer for row in QUESTION_TYPES.values()}
    assert all(map(suited_types, METRICS))
    assert {metric for row in QUESTION_TYPES.values() for metric in row.metrics} < set(METRICS)
    assert len({row.words for row in METRICS.values()}) == len(METRICS)


def record(question_type: QuestionType, name: str) -> Record:
    asked = {"item_id": name, "language": "en", "question_type": question_type, "question": "What fits?"}
    # As JSON has it: arrays are lists.
    fields = {name: list(value) if isinstance(value, tuple) else value for name, value in EXAMPLES[question_type].item.items()}
    return Record({**asked, **fields}, "own.jsonl", 0)


def build(question_type: QuestionType) -> Item:
    return adapt_item_record(record(question_type, "a"))


def rows_of(question_type: QuestionType) -> dy.DataFrame[Items]:
    """Two items alike: `a` is answered rightly, `b` wrongly."""
    spec = local_dataset("own", "Own", LocalFile(path=Path("own.jsonl")))
    built = build_of_records(spec, [record(question_type, name) for name in "ab"], None, 0)
    assert built.rejected.is_empty(), built.rejected["broken_rules"]
    return built.items


def score(question_type: QuestionType, metric: Metric) -> dy.DataFrame[ItemScores]:
    example, row = EXAMPLES[question_type], METRICS[metric]
    judged = {"judged": True, "rubric": "summary"} if row.rating else {}
    method = MethodSpec(id="m", metrics=(MetricSpec(metric=metric, k=1 if row.has_cut_off else None),), **judged)
    texts_of = {"a": example.right, "b": example.wrong}
    replies = answers(*(row for name, text in texts_of.items() for row in answered(example, name, text)))
    gold = gold_layers(dict.fromkeys("ab", example.gold)) if example.gold else {}
    rated = judgements(judgement("a", "warmth", 5), judgement("b", "warmth", 2))
    return score_items(rows_of(question_type), replies, rated, method, gold)


def answered(example: Example, name: str, text: str) -> list[dict[str, Any]]:
    if example.gold is None:
        return [answer(name, text)]
    return [answer(name, json.dumps(reply), part=part) for part, reply in json.loads(text).items()]


@each_row("question_type", QUESTION_TYPES)
def test_a_question_type_is_built_and_asked(question_type: QuestionType) -> None:
    item, row = build(question_type), QUESTION_TYPES[question_type]
    assert (PROMPTS / f"{question_type}.yaml").exists() == row.has_prompt
    if row.has_prompt:
        (message,) = build_messages(item, Prompts.load())
        assert "What fits?" in message.content
        assert all(f"{'ABC'[place]}. {text}\n" in message.content for place, text in enumerate(item.options or ()))
    gold = [pl.lit(None).cast(kind).alias(name) for name, kind in Items.create_empty().schema.items() if name in GOLD]
    # What the answer is compared with must be there; without it the item is rejected.
    broken = broken_rules(Items, rows_of(question_type).with_columns(gold)).list.len()
    assert (broken.sum() == 0) == GOLD.isdisjoint(EXAMPLES[question_type].item)


@each_row("question_type", QUESTION_TYPES)
def test_an_answer_is_written_and_explained(question_type: QuestionType) -> None:
    example, item = EXAMPLES[question_type], rows_of(question_type).row(1, named=True)
    if not GOLD.isdisjoint(example.item):
        assert right_reply(Question.from_row(item)) == example.right
    scores = score(question_type, suited_metrics(question_type)[-1]).row(1, named=True)
    reply = answer("b", example.wrong, finish_reason=None)
    assert explain_answer(ScoredItem(item, scores, reply)) == example.why_wrong


@pytest.mark.parametrize(
    ("question_type", "metric"), [(name, metric) for name in QUESTION_TYPES for metric in suited_metrics(name)]
)
def test_a_metric_scores_a_question_type(question_type: QuestionType, metric: Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    # What passes and what grows stand at a right angle.
    monkeypatch.setattr(texts, "load_encoder", lambda: lambda said: np.array([[1.0, 0.0] if "pass" in said[0] else [0.0, 1.0]]))
    row, (right, wrong, both) = METRICS[metric], EXAMPLES[question_type].values[metric]
    scores = score(question_type, metric)
    assert scores["value"].to_list() == [pytest.approx(right), pytest.approx(wrong)]
    assert set(scores["status"]) == {"not_counted" if right is None else "scored"}
    assert all(row.bounds[0] <= value <= row.bounds[1] for value in scores["value"].drop_nulls())
    assert reduce_item_scores(scores.lazy())["value"].item() == pytest.approx(both)
    assert break_down(scores).value == pytest.approx(both)

    constant, found = EXAMPLES[question_type].constant, measure_baselines(rows_of(question_type), metric).constant
    assert (found is not None) == (row.baseline is not None and constant is not None)
    if found is not None and metric == suited_metrics(question_type)[0]:
        assert found.share == constant
