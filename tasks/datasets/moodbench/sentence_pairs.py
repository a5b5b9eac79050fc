"""Two sentences and whether they, or a word in them, mean the same: LCQMC, QQP, WiC."""

from schemas.dataset import DatasetSpec
from schemas.item import Item, Record
from tasks.datasets.options import label_item
from tasks.datasets.pinned_files import moodbench_file


def adapt_wic(record: Record) -> Item:
    """Word sense in two contexts. The sentences stay as they are."""
    fields = record.fields
    context = f"Sentence 1: {fields['sentence1']}\nSentence 2: {fields['sentence2']}"
    question = f'Is the word "{fields["word"]}", in whatever form it appears, used in the same sense in both sentences?'
    return label_item(context, question, {1: "same sense", 0: "different senses"}, fields["label"])


def adapt_lcqmc(record: Record) -> Item:
    """Pairs of questions people ask; `gold_label` is a text."""
    fields = record.fields
    context = f"问句一：{fields['sentence1']}\n问句二：{fields['sentence2']}"
    options = {"1": "意思相同", "0": "意思不同"}
    return label_item(context, "这两个问句问的是同一个意思吗？", options, fields["gold_label"], language="zh")


def adapt_qqp(record: Record) -> Item:
    """Two questions and whether their intent is the same; `is_duplicate` is a text."""
    fields = record.fields
    context = f"Question 1: {fields['question1'].strip()}\nQuestion 2: {fields['question2'].strip()}"
    question = "Are these two questions duplicates, that is, do they ask the same thing so that one answer would serve both?"
    return label_item(context, question, {"1": "duplicates", "0": "not duplicates"}, fields["is_duplicate"])


LCQMC = DatasetSpec(
    id="lcqmc",
    title="LCQMC",
    files=(moodbench_file("basic_ability/NLU/lcqmc_json/LCQMC_test.json"),),
    file_format="jsonl",
    adapter=adapt_lcqmc,
    languages=("zh",),
    licence="research use on application (as known upstream, not verified)",
    paper="Liu et al. 2018, LCQMC: A Large-scale Chinese Question Matching Corpus, COLING 2018",
    required=("sentence1", "sentence2", "gold_label"),
    expected_rows=300,
    differences=(
        "The released configuration names a path of its authors' machine and loads nothing; we read the released file.",
        "The upstream test set is balanced; this sample has 184 pairs of one meaning and 116 of two.",
    ),
)

QQP = DatasetSpec(
    id="qqp",
    title="QQP",
    files=(moodbench_file("basic_ability/NLU/QQP_tsv/dev.tsv"),),
    file_format="tsv_plain",
    adapter=adapt_qqp,
    licence="terms of Quora, non-commercial (as known upstream, not verified)",
    paper="Iyer et al. 2017, First Quora Dataset Release: Question Pairs; GLUE, arXiv:1804.07461",
    required=("question1", "question2", "is_duplicate"),
    expected_rows=300,
    differences=("The first line is the header; the released code takes it for a pair and as a rule stops there.",),
)

WIC = DatasetSpec(
    id="wic",
    title="WiC",
    files=(moodbench_file("basic_ability/NLU/wic_parquet/validation-00000-of-00001.parquet"),),
    adapter=adapt_wic,
    licence="CC BY-NC 4.0 (as known upstream, not verified)",
    paper="Pilehvar and Camacho-Collados 2019, arXiv:1808.09121; SuperGLUE, arXiv:1905.00537",
    required=("word", "sentence1", "sentence2", "label"),
    expected_rows=300,
    differences=(
        "Sentences stay as they are; the released code puts the lemma in place of the marked word, which alters 119 rows.",
    ),
)
