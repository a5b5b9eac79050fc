"""Two sentences and whether they, or a word in them, mean the same: WiC, LCQMC."""

from collections.abc import Iterable

from schemas.item import Item, Record
from tasks.datasets.adapters.labels import find_gold, label_item


def adapt_wic(record: Record) -> Iterable[Item]:
    """Word sense in two contexts; `label` 1 = same sense. The sentences stay as they are."""
    fields = record.fields
    context = f"Sentence 1: {fields['sentence1']}\nSentence 2: {fields['sentence2']}"
    question = f'Is the word "{fields["word"]}", in whatever form it appears, used in the same sense in both sentences?'
    gold = find_gold({1: 0, 0: 1}, fields["label"])
    return [label_item("en", context, question, ("same sense", "different senses"), gold)]


def adapt_lcqmc(record: Record) -> Iterable[Item]:
    """Pairs of questions people ask; `gold_label` is the text "1" for the same meaning, "0" for another."""
    fields = record.fields
    context = f"问句一：{fields['sentence1']}\n问句二：{fields['sentence2']}"
    gold = find_gold({"1": 0, "0": 1}, fields["gold_label"])
    return [label_item("zh", context, "这两个问句问的是同一个意思吗？", ("意思相同", "意思不同"), gold)]
