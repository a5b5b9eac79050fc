"""Opinions about films and restaurants: SST-2, IMDb, Dianping."""

import re

from schemas.dataset import DatasetSpec
from schemas.item import Item, Record
from tasks.datasets.options import label_item
from tasks.datasets.pinned_files import moodbench_file

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
