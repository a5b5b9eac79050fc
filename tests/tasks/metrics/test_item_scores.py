from typing import Any

import pytest

from schemas.blueprint import MethodSpec, MetricSpec
from schemas.errors import ScoringError
from schemas.lineage import PartitionRef
from schemas.metrics import Metric, NumericNormalisation
from schemas.tables.scores import ItemScores
from tasks.metrics.answer_forms import ParsedAnswer, Question, read_answer
from tasks.metrics.item_scores import item_scores_key, score_items
from tasks.scoring.reduction import reduce_item_scores
from tests.rows import each_row
from tests.tasks.rows import answer, answers, item, items, partition, turn

FEELINGS = ["joy", "sadness", "anger"]
SCALE = ["never", "sometimes", "always"]


def method(*metrics: Metric, k: int | None = None) -> MethodSpec:
    return MethodSpec(
        id="auto", metrics=tuple(MetricSpec(metric=metric, k=k if metric == "recall_at_k" else None) for metric in metrics)
    )


CHOICE = items(item("a", "single_choice", options=FEELINGS, gold_indices=[1]))


def score_one(question: dict[str, Any], reply: str | None, metric: Metric, k: int | None = None) -> dict[str, Any]:
    scores = score_items(items(question), answers(answer(question["item_id"], reply)), None, method(metric, k=k))
    assert scores.height == 1
    return scores.row(0, named=True)


SINGLE = item("a", "single_choice", options=FEELINGS, gold_indices=[1])
SEVERAL = item("a", "multiple_answer", options=FEELINGS, gold_indices=[0, 1])
ORDER = item("a", "ordered_recall", options=FEELINGS, gold_indices=[2, 0, 1])
RANKING = item("a", "ranking", options=FEELINGS, gold_indices=[1])
SCALED = item("a", "questionnaire", options=SCALE, option_points=[1, 2, 3])
EXTRACT = item("a", "extractive", references=["her cousin Tess", "Tess"])
SUMMARY = item("a", "judged_summary", references=["Beth will visit."])


def test_of_dialogue_words_of_model_alone_are_measured() -> None:
    question = items(item("a", "extractive", references=["Tess"]))

    def score(*said: tuple[str, str]) -> tuple[Any, ...]:
        row = answer("a", None, status="answered", failed_role=None, failure=None, turns=[turn(*line) for line in said])
        return score_items(question, answers(row), None, method("token_f1")).select("parsed_answer", "value", "status").row(0)

    # One word of two is right, and it is the only one looked for: F1 is 2 / 3.
    assert score(("seeker", "Tess was here."), ("tested", "Dear Tess")) == ("Dear Tess", pytest.approx(2 / 3), "scored")
    assert score(("seeker", "Tess was here."), ("tested", "Who?")) == ("Who?", 0.0, "scored")
    assert score(("seeker", "Tess was here."), ("tested", "...")) == (None, 0.0, "unparsed")


@each_row(
    ("question", "metric", "reply"),
    [
        (SINGLE, "accuracy", "A or B"),
        (SINGLE, "accuracy", "D"),
        (SEVERAL, "micro_f1", "A, D"),
        (ORDER, "order_accuracy", "C, A"),
        (RANKING, "mrr", "C, C"),
        (SCALED, "questionnaire_points", "I would rather not say."),
        (EXTRACT, "exact_match", "..."),
        (SUMMARY, "rouge_l", "<think>Beth</think>"),
    ],
)
def test_unreadable_answer_is_wrong_and_counted_apart(question: dict[str, Any], metric: Metric, reply: str) -> None:
    row = score_one(question, reply, metric)
    assert (row["value"], row["status"], row["parsed_answer"]) == (0.0, "unparsed", None)


@pytest.mark.parametrize("question", [SINGLE, SEVERAL, SCALED, EXTRACT], ids=lambda question: question["question_type"])
def test_failed_call_is_missing_not_wrong(question: dict[str, Any]) -> None:
    metric: Metric = "questionnaire_points" if question is SCALED else "accuracy"
    row = score_one(question, None, metric)
    assert (row["value"], row["status"], row["predicted"]) == (None, "call_failed", None)


@pytest.mark.parametrize("reply", ["A", "no comment, really", None])
def test_filler_is_not_counted_whatever_came_back(reply: str | None) -> None:
    filler = item("a", "questionnaire", options=SCALE, option_points=[None, None, None])
    row = score_one(filler, reply, "questionnaire_points")
    assert (row["value"], row["status"]) == (None, "not_counted")


def test_one_row_per_metric_item_and_repetition() -> None:
    asked = answers(*(answer("a", reply, repetition=turn) for turn, reply in enumerate(["B", "C"])))
    scores = score_items(CHOICE, asked, None, method("accuracy", "micro_f1"))
    assert scores.select("metric", "repetition", "value").rows() == [
        ("accuracy", 0, 1.0),
        ("accuracy", 1, 0.0),
        ("micro_f1", 0, 1.0),
        ("micro_f1", 1, 0.0),
    ]
    assert ItemScores.is_valid(scores)


def test_reply_cut_at_limit_is_read_so() -> None:
    asked = answers(answer("a", "joy\nsadness\nA.", finish_reason="length"))
    assert score_items(CHOICE, asked, None, method("accuracy"))["status"].to_list() == ["unparsed"]


def test_an_error_in_reading_is_that_replys_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def stumble(question: Question, reply: str, **options: Any) -> ParsedAnswer | None:
        if reply == "(((":
            raise IndexError("list index out of range")
        return read_answer(question, reply, **options)

    monkeypatch.setattr("tasks.metrics.item_scores.read_answer", stumble)
    asked = answers(*(answer("a", reply, repetition=turn) for turn, reply in enumerate(["B", "(((", "A"])))
    scores = score_items(CHOICE, asked, None, method("accuracy"))
    assert scores.select("value", "status", "error").rows() == [
        (1.0, "scored", None),
        (0.0, "unparsed", "IndexError"),
        (0.0, "scored", None),
    ]
    assert scores.select("parsed_answer", "predicted", "chosen_place").row(1) == (None, [], None)


@pytest.mark.parametrize("error", [ScoringError("the item is wrong"), ImportError("no module"), MemoryError(), OSError("disk")])
def test_an_error_of_our_own_is_no_reply(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(*_arguments: Any, **_named: Any) -> ParsedAnswer | None:
        raise error

    monkeypatch.setattr("tasks.metrics.item_scores.read_answer", fail)
    with pytest.raises(type(error)):
        score_one(SINGLE, "A", "accuracy")


LACKING, UNKNOWN = "items have no answer", "answers belong to no item"


@pytest.mark.parametrize(
    ("replies", "what", "where"),
    [
        ([answer("a", "B")], LACKING, "item_id b"),
        ([], LACKING, "item_id a"),
        # A repetition that skips an item.
        ([answer("a", "B"), answer("b", "A"), answer("a", "B", repetition=1)], LACKING, "repetition 1"),
        ([answer("a", "B"), answer("b", "A"), answer("z", "B")], UNKNOWN, "item_id z"),
    ],
)
def test_mismatched_items_and_responses_are_error(replies: list[dict[str, Any]], what: str, where: str) -> None:
    two = items(SINGLE, item("b", "single_choice", options=FEELINGS, gold_indices=[0]))
    with pytest.raises(ScoringError, match=what) as caught:
        score_items(two, answers(*replies), None, method("accuracy"))
    assert where in str(caught.value.where)
    assert f"{2 if not replies else 1} without counterpart" in str(caught.value.got)


@pytest.mark.parametrize(
    ("question", "metric"),
    [(SINGLE, "mrr"), (SCALED, "accuracy"), (ORDER, "accuracy"), (EXTRACT, "strict_accuracy"), (SINGLE, "mean_rating")],
)
def test_metric_that_does_not_suit_is_an_error(question: dict[str, Any], metric: Metric) -> None:
    with pytest.raises(ScoringError, match=f"metric {metric} cannot score {question['question_type']} items"):
        score_one(question, "A", metric)


PEOPLE = item(
    "a",
    "single_choice",
    options=["the old man", "not enough information", "the young man"],
    gold_indices=[1],
    option_roles=["target", "unknown", "other"],
)
CLEAR = PEOPLE | {"gold_indices": [2]}
SENTENCES = item(
    "a",
    "ranking",
    options=["He repairs cars.", "He paints flowers.", "The sky is a fish."],
    gold_indices=[1],
    option_roles=["stereotype", "anti_stereotype", "unrelated"],
    subset="gender: mechanic",
)


@pytest.mark.parametrize(
    ("question", "metric", "reply", "gold"),
    [
        (PEOPLE, "bias_score_ambiguous", "A or B", ["unknown"]),
        (SENTENCES, "icat", "no idea", ["gender: mechanic"]),
        # the two that were left out are the two to be compared
        (SENTENCES, "stereotype_score", "C", ["gender: mechanic"]),
        (SENTENCES, "language_model_score", "A", ["gender: mechanic"]),
        (SENTENCES | {"subset": None}, "icat", "A", []),
    ],
)
def test_unreadable_answer_predicts_nothing(question: dict[str, Any], metric: Metric, reply: str, gold: list[str]) -> None:
    row = score_one(question, reply, metric)
    assert (row["value"], row["status"], row["parsed_answer"]) == (0.0, "unparsed", None)
    assert (row["predicted"], row["gold"]) == ([], gold)


def test_unreadable_answer_is_wrong_class_of_binary_f1() -> None:
    # Gold is the negative class: taking the reply for negative too would make silence right.
    row = score_one(SINGLE, "A or B", "binary_f1")
    assert (row["value"], row["status"], row["predicted"], row["gold"]) == (0.0, "unparsed", ["unread"], [])
    row = score_one(SINGLE | {"gold_indices": [0]}, "A or B", "binary_f1")
    assert (row["value"], row["status"], row["predicted"], row["gold"]) == (0.0, "unparsed", [], ["positive"])


def test_early_end_ranking_is_read_where_enough() -> None:
    three = method("language_model_score", "stereotype_score", "icat")
    scores = score_items(items(SENTENCES), answers(answer("a", "A")), None, three)
    assert dict(scores.select("metric", "status").iter_rows()) == {
        "language_model_score": "unparsed",
        "stereotype_score": "scored",
        "icat": "unparsed",
    }


@each_row("reply", ["A", "A or B", None])
@each_row(
    ("question", "metric"),
    [
        (CLEAR, "bias_score_ambiguous"),
        (PEOPLE, "bias_score_disambiguated"),
        (SINGLE, "bias_score_ambiguous"),
        (SINGLE, "bias_score_disambiguated"),
        (RANKING, "icat"),
        (PEOPLE | {"question_type": "ranking"}, "language_model_score"),
        (SENTENCES | {"question_type": "single_choice"}, "bias_score_disambiguated"),
    ],
)
def test_role_metric_skips_unrelated_items(question: dict[str, Any], metric: Metric, reply: str | None) -> None:
    row = score_one(question, reply, metric)
    assert (row["value"], row["status"]) == (None, "not_counted")


def test_another_profile_is_refused() -> None:
    reference = method("accuracy").model_copy(update={"profile": "reference"})
    with pytest.raises(ScoringError, match="cannot use another profile"):
        score_items(CHOICE, answers(answer("a", "B")), None, reference)


def score_shown(question: dict[str, Any], reply: str | None, order: list[int] | None, metric: Metric) -> dict[str, Any]:
    asked = answers(answer("a", reply, option_order=order))
    return score_items(items(question), asked, None, method(metric)).row(0, named=True)


@each_row(
    ("reply", "order", "parsed", "value", "chosen", "gold"),
    [
        # shown: joy, sadness, anger; sadness is right
        ("B", None, "B", 1.0, 1, 1),
        ("A", None, "A", 0.0, 0, 1),
        # shown: anger, joy, sadness
        ("C", [2, 0, 1], "B", 1.0, 2, 2),
        ("B", [2, 0, 1], "A", 0.0, 1, 2),
        ("A", [2, 0, 1], "C", 0.0, 0, 2),
        # by its text, wherever it stands
        ("sadness", [2, 0, 1], "B", 1.0, 2, 2),
        ("C. sadness", [2, 0, 1], "B", 1.0, 2, 2),
        # letter and text of different options as shown
        ("B. sadness", [2, 0, 1], None, 0.0, None, 2),
        ("A or B", [1, 0, 2], None, 0.0, None, 0),
        (None, [1, 0, 2], None, None, None, 0),
    ],
)
def test_single_choice_is_read_as_it_was_shown(
    reply: str | None, order: list[int] | None, parsed: str | None, value: float | None, chosen: int | None, gold: int
) -> None:
    row = score_shown(SINGLE, reply, order, "accuracy")
    assert (row["parsed_answer"], row["value"]) == (parsed, value)
    assert (row["chosen_place"], row["gold_place"]) == (chosen, gold)


def test_labels_do_not_depend_on_the_order_shown() -> None:
    # shown: anger, sadness, joy; C is joy, the option at index 0
    assert score_shown(SINGLE, "C", [2, 1, 0], "macro_f1")["predicted"] == ["joy"]
    assert score_shown(SINGLE, "C", [2, 1, 0], "binary_f1")["predicted"] == ["positive"]
    # shown: the young man, the old man, not enough information; B is the target
    assert score_shown(PEOPLE, "B", [2, 0, 1], "bias_score_ambiguous")["predicted"] == ["target"]


def test_other_types_are_mapped_back() -> None:
    # shown: anger, joy, sadness
    order = [2, 0, 1]
    several = score_shown(SEVERAL, "B, C", order, "accuracy")
    assert (several["parsed_answer"], several["value"]) == ("A,B", 1.0)
    # true order: anger, joy, sadness, which is the order shown
    recalled = score_shown(ORDER, "A, B, C", order, "order_accuracy")
    assert (recalled["parsed_answer"], recalled["value"]) == ("C,A,B", 1.0)
    # relevant: sadness, which is named second
    assert score_shown(RANKING, "A, C", order, "mrr")["value"] == 0.5
    # shown: always, never, sometimes; B is never, which earns nothing
    assert score_shown(SCALED, "B", order, "questionnaire_points")["value"] == 0.0
    assert {several["chosen_place"], several["gold_place"], recalled["chosen_place"], recalled["gold_place"]} == {None}


@pytest.mark.parametrize("order", [[0, 1], [0, 1, 1], [1, 2, 3], []])
def test_order_that_is_none_of_items_is_error(order: list[int]) -> None:
    with pytest.raises(ScoringError, match="not one of the item's options") as caught:
        score_shown(SINGLE, "A", order, "accuracy")
    assert caught.value.got == str(order)


RESPONSES = partition("responses")
METHOD = MethodSpec(id="choice", metrics=(MetricSpec(metric="accuracy"),))


def fingerprint(*methods: MethodSpec, judgements: tuple[PartitionRef, ...] = ()) -> str:
    return item_scores_key(RESPONSES, judgements, methods).fingerprint


@pytest.mark.parametrize(
    "changed",
    [
        {"id": "other"},
        {"profile": "reference"},
        {"judged": True, "rubric": "summary"},
        {"metrics": (MetricSpec(metric="macro_f1"),)},
        {"metrics": (MetricSpec(metric="recall_at_k", k=1),)},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_what_changes_the_scores_changes_the_key(changed: dict[str, Any]) -> None:
    other = MethodSpec.model_validate(METHOD.model_dump() | changed)
    assert fingerprint(other) != fingerprint(METHOD)
    assert fingerprint(METHOD, other) != fingerprint(METHOD)


def test_cut_offs_and_parents_change_the_key() -> None:
    first, second = (MethodSpec(id="find", metrics=(MetricSpec(metric="recall_at_k", k=k),)) for k in (1, 5))
    assert fingerprint(first) != fingerprint(second)
    judgements = RESPONSES.model_copy(update={"layer": "judgements", "fingerprint": "3" * 64})
    assert fingerprint(METHOD, judgements=(judgements,)) != fingerprint(METHOD)


def test_weights_and_normalisation_do_not() -> None:
    spec = MetricSpec(metric="accuracy", weight=3, normalisation=NumericNormalisation(min=0, max=2))
    assert fingerprint(MethodSpec(id="choice", metrics=(spec,))) == fingerprint(METHOD)


LABEL = item("a", "label_choice", context="Long.", options=["Joy", "Relief & Gratitude", "Anger"], gold_indices=[1])
ODD = item("a", "odd_one_out", options=[f"text {number}" for number in range(30)], gold_indices=[24])
BOTH = method("accuracy", "strict_accuracy")


def test_labels_are_kept_and_segments_are_not() -> None:
    label, odd = score_one(LABEL, "Anger", "accuracy"), score_one(ODD, "3", "accuracy")
    assert (label["predicted"], label["gold"]) == (["Anger"], ["Relief & Gratitude"])
    assert (odd["predicted"], odd["gold"]) == (None, None)


def test_an_order_of_segments_is_undone_for_both() -> None:
    three = item("a", "odd_one_out", options=["x", "y", "z"], gold_indices=[2])
    # shown: z, x, y; the first one is z
    asked = answers(answer("a", '```json\n{"index": 0}\n```', option_order=[2, 0, 1]))
    scores = score_items(items(three), asked, None, BOTH)
    assert scores.select("value", "parsed_answer").rows() == [(1.0, "2"), (1.0, "2")]


def test_macro_f1_counts_a_class_once_in_two_languages() -> None:
    english = SINGLE | {"options": ["literal", "metaphorical"], "gold_indices": [0]}
    chinese = SINGLE | {"options": ["字面义", "隐喻义"], "gold_indices": [1], "language": "zh"}
    asked = items({**english, "item_id": "en"}, {**chinese, "item_id": "zh"})
    said = answers(answer("en", "A"), answer("zh", "A"))
    scored = score_items(asked, said, None, method("macro_f1"))
    # Literal: 2 x 1 / (2 + 1) = 2/3; metaphorical: 0. By their texts there would be three labels: 1, 0 and 0.
    assert scored["predicted"].to_list() == [["literal / 字面义"]] * 2
    assert scored["gold"].to_list() == [["literal / 字面义"], ["metaphorical / 隐喻义"]]
    assert reduce_item_scores(scored.lazy())["value"].to_list() == [pytest.approx(1 / 3)]
    # What is right is still known by its own text.
    assert score_items(asked, said, None, method("accuracy"))["predicted"].to_list() == [["literal"], ["字面义"]]
