"""What a news item is about: AG News, THUCNews."""

from collections.abc import Iterable

from schemas.item import Item, Record
from tasks.datasets.adapters.labels import find_gold, label_item

AG_NEWS_TOPICS = ("World", "Sports", "Business", "Science and technology")

# In the order of the labels 0 to 9.
THUCNEWS_TOPICS = ("教育", "娱乐", "时尚", "财经", "游戏", "时政", "社会", "体育", "股票", "科技")


def adapt_ag_news(record: Record) -> Iterable[Item]:
    """Title and description; `class` is the text "1" to "4". A backslash stands for a line break, before "$" for nothing."""
    fields = record.fields
    context = f"{_clean(fields['title'])}\n{_clean(fields['description'])}"
    gold = find_gold({str(number): number - 1 for number in range(1, len(AG_NEWS_TOPICS) + 1)}, fields["class"])
    return [label_item("en", context, "Which topic does this news item belong to?", AG_NEWS_TOPICS, gold)]


def adapt_thucnews(record: Record) -> Iterable[Item]:
    """A Chinese news text; `label` 0 to 9 stands for the topic, which is asked for by its Chinese name."""
    gold = find_gold({index: index for index in range(len(THUCNEWS_TOPICS))}, record.fields["label"])
    return [label_item("zh", record.fields["text"].strip(), "这篇新闻属于哪个类别？", THUCNEWS_TOPICS, gold)]


def _clean(text: str) -> str:
    return " ".join(text.replace("\\$", "$").replace("\\", " ").split())
