"""What a news item is about: AG News, THUCNews."""

from schemas.dataset import DatasetSpec
from schemas.item import Item, Record
from tasks.datasets.options import label_item
from tasks.datasets.pinned_files import moodbench_file

AG_NEWS_TOPICS = {"1": "World", "2": "Sports", "3": "Business", "4": "Science and technology"}
THUCNEWS_TOPICS = dict(enumerate(("教育", "娱乐", "时尚", "财经", "游戏", "时政", "社会", "体育", "股票", "科技")))


def adapt_ag_news(record: Record) -> Item:
    """Title and description. A backslash stands for a line break, before "$" for nothing."""
    fields = record.fields
    context = f"{_clean(fields['title'])}\n{_clean(fields['description'])}"
    return label_item(context, "Which topic does this news item belong to?", AG_NEWS_TOPICS, fields["class"])


def adapt_thucnews(record: Record) -> Item:
    """A Chinese news text; its topic is asked for by its Chinese name."""
    text, label = record.fields["text"].strip(), record.fields["label"]
    return label_item(text, "这篇新闻属于哪个类别？", THUCNEWS_TOPICS, label, language="zh")


def _clean(text: str) -> str:
    return " ".join(text.replace("\\$", "$").replace("\\", " ").split())


AG_NEWS = DatasetSpec(
    id="ag_news",
    title="AG News",
    files=(moodbench_file("basic_ability/NLU/ag_news_csv/test.csv"),),
    columns=("class", "title", "description"),
    adapter=adapt_ag_news,
    licence="research and non-commercial use (as known upstream, not verified)",
    paper="Zhang et al. 2015, Character-level Convolutional Networks for Text Classification, arXiv:1509.01626",
    required=("class", "title", "description"),
    expected_rows=301,
    differences=(
        "Backslashes are cleaned: they stand for line breaks or escape a dollar sign. The released code leaves them.",
        "HTML tags and character references stay in the text as released.",
    ),
)

THUCNEWS = DatasetSpec(
    id="thucnews",
    title="THUCNews",
    files=(moodbench_file("basic_ability/NLU/THUCNewsText/data/test-00000-of-00001-7b7f37b8f3ca85f8.parquet"),),
    adapter=adapt_thucnews,
    languages=("zh",),
    licence="research use, terms of THUCTC (as known upstream, not verified)",
    paper="Sun et al. 2016, THUCTC: An Efficient Chinese Text Classifier",
    required=("text", "label"),
    expected_rows=300,
    differences=("Topics have their Chinese names; the released code offers English ones for Chinese texts.",),
)
