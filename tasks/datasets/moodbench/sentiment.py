"""Opinions about films and restaurants: SST-2, IMDb, Dianping."""

import re
from collections.abc import Iterable

from schemas.item import Item, Record
from tasks.datasets.adapters.labels import find_gold, label_item

POLARITIES = ("positive", "negative")
POLARITIES_ZH = ("正面", "负面")
LINE_BREAK = re.compile(r"<br\s*/?>")


def adapt_sst2(record: Record) -> Iterable[Item]:
    """One sentence of a review; `label` 1 = positive, 0 = negative. Lower case and split tokens are part of the release."""
    gold = find_gold({1: 0, 0: 1}, record.fields["label"])
    question = "Is the opinion that this sentence from a film review expresses positive or negative?"
    return [label_item("en", record.fields["sentence"].strip(), question, POLARITIES, gold)]


def adapt_imdb(record: Record) -> Iterable[Item]:
    """A whole review; `label` 1 = positive, 0 = negative. HTML line breaks become line breaks."""
    gold = find_gold({1: 0, 0: 1}, record.fields["label"])
    review = LINE_BREAK.sub("\n", record.fields["text"]).strip()
    return [label_item("en", review, "Is the opinion that this film review expresses positive or negative?", POLARITIES, gold)]


def adapt_dianping(record: Record) -> Iterable[Item]:
    """A review in Chinese; `label` "1" = positive, "0" = negative. Line breaks are written as backslash and n."""
    gold = find_gold({"1": 0, "0": 1}, record.fields["label"])
    review = record.fields["sentence"].replace("\\n", "\n").strip()
    return [label_item("zh", review, "这条餐厅点评表达的总体态度是正面还是负面？", POLARITIES_ZH, gold)]
