"""Two statements and how they relate: COPA, RTE, OCNLI, MNLI."""

from collections.abc import Iterable

from schemas.item import Item, Record
from tasks.datasets.adapters.labels import find_gold, label_item

COPA_QUESTIONS = {
    "cause": "Which of these is more likely to be its cause?",
    "effect": "Which of these is more likely to be its effect?",
}


def adapt_copa(record: Record) -> Iterable[Item]:
    """Choice of the more plausible cause or effect; `label` is the 0-based number of the right choice."""
    fields = record.fields
    return [
        Item(
            language="en",
            question_type="single_choice",
            context=fields["premise"],
            question=COPA_QUESTIONS[fields["question"]],
            options=(fields["choice1"], fields["choice2"]),
            gold_indices=find_gold({0: 0, 1: 1}, fields["label"]),
            subset=fields["question"],
        )
    ]


def adapt_rte(record: Record) -> Iterable[Item]:
    """Two-way entailment; `label` 0 = entailment, 1 = not entailment."""
    fields = record.fields
    context = f"Text: {fields['premise']}\nStatement: {fields['hypothesis']}"
    question = "Does the text entail the statement, that is, is the statement true if the text is?"
    gold = find_gold({0: 0, 1: 1}, fields["label"])
    return [label_item("en", context, question, ("entailment", "not entailment"), gold)]


def adapt_ocnli(record: Record) -> Iterable[Item]:
    """Three-way inference in Chinese; `label` 0 = neutral, 1 = entailment, 2 = contradiction, any other: no agreement."""
    fields = record.fields
    context = f"前提：{fields['sentence1']}\n假设：{fields['sentence2']}"
    gold = find_gold({0: 0, 1: 1, 2: 2}, fields["label"])
    return [label_item("zh", context, "根据前提，假设与前提之间是哪种关系？", ("中立", "蕴含", "矛盾"), gold)]


def adapt_mnli(record: Record) -> Iterable[Item]:
    """Three-way inference; `label` 0 = entailment, 1 = neutral, 2 = contradiction."""
    fields = record.fields
    context = f"Premise: {fields['premise'].strip()}\nHypothesis: {fields['hypothesis'].strip()}"
    question = "Going by the premise, how does the hypothesis relate to it?"
    gold = find_gold({0: 0, 1: 1, 2: 2}, fields["label"])
    return [label_item("en", context, question, ("entailment", "neutral", "contradiction"), gold)]
