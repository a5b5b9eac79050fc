"""What a news item is about: AG News, THUCNews; which opinion a review expresses: SST-2, IMDb, Dianping."""

import re

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


POLARITIES = {1: "positive", 0: "negative"}
POLARITIES_ZH = {"1": "正面", "0": "负面"}
LINE_BREAK = re.compile(r"<br\s*/?>")


def adapt_sst2(record: Record) -> Item:
    """One sentence of a review. Lower case and split tokens are part of the release."""
    question = "Is the opinion that this sentence from a film review expresses positive or negative?"
    return label_item(record.fields["sentence"].strip(), question, POLARITIES, record.fields["label"])


def adapt_imdb(record: Record) -> Item:
    """A whole review. HTML line breaks become line breaks."""
    review = LINE_BREAK.sub("\n", record.fields["text"]).strip()
    question = "Is the opinion that this film review expresses positive or negative?"
    return label_item(review, question, POLARITIES, record.fields["label"])


def adapt_dianping(record: Record) -> Item:
    """A review in Chinese. Line breaks are written as backslash and n."""
    review = record.fields["sentence"].replace("\\n", "\n").strip()
    question = "这条餐厅点评表达的总体态度是正面还是负面？"
    return label_item(review, question, POLARITIES_ZH, record.fields["label"], language="zh")


SST2 = DatasetSpec(
    id="sst2",
    title="SST-2",
    files=(moodbench_file("emo_ability/emo_recognition/sst2_parquet/data/validation-00000-of-00001.parquet"),),
    adapter=adapt_sst2,
    licence="not stated upstream",
    paper="Socher et al. 2013, Recursive Deep Models for Semantic Compositionality, EMNLP 2013; GLUE, arXiv:1804.07461",
    required=("sentence", "label"),
    expected_rows=300,
)

IMDB = DatasetSpec(
    id="imdb",
    title="IMDb",
    files=(moodbench_file("emo_ability/emo_recognition/imdb_parquet/plain_text/test-00000-of-00001.parquet"),),
    adapter=adapt_imdb,
    licence="not stated upstream",
    paper="Maas et al. 2011, Learning Word Vectors for Sentiment Analysis, ACL 2011",
    required=("text", "label"),
    expected_rows=300,
    differences=("HTML line breaks are shown as line breaks; the released code leaves the tags in the text.",),
)

DIANPING = DatasetSpec(
    id="dianping",
    title="Dianping",
    files=(moodbench_file("emo_ability/emo_recognition/dianping_csv/dev.csv"),),
    adapter=adapt_dianping,
    languages=("zh",),
    licence="not stated",
    paper="none known: Dianping restaurant reviews, repackaged without a source",
    required=("sentence", "label"),
    expected_rows=300,
    differences=("Line breaks, written as backslash and n in the file, are shown as line breaks.",),
)
