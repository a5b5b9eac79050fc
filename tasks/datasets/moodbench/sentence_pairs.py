"""Two texts and how they relate: COPA, RTE, OCNLI, MNLI; or whether they, or a word in them, mean the same: LCQMC, QQP, WiC."""

from schemas.dataset import DatasetSpec
from schemas.item import Item, Record, text_id
from tasks.datasets.options import find_gold, label_item
from tasks.datasets.pinned_files import moodbench_file

COPA_QUESTIONS = {
    "cause": "Which of these is more likely to be its cause?",
    "effect": "Which of these is more likely to be its effect?",
}


def adapt_copa(record: Record) -> Item:
    """Choice of the more plausible cause or effect; `label` is the 0-based number of the right choice."""
    fields = record.fields
    return Item(
        context=fields["premise"],
        question=COPA_QUESTIONS[fields["question"]],
        options=(fields["choice1"], fields["choice2"]),
        gold_indices=find_gold((0, 1), fields["label"]),
        subset=fields["question"],
    )


def adapt_rte(record: Record) -> Item:
    """Two-way entailment."""
    fields = record.fields
    context = f"Text: {fields['premise']}\nStatement: {fields['hypothesis']}"
    question = "Does the text entail the statement, that is, is the statement true if the text is?"
    options = {0: "entailment", 1: "not entailment"}
    return label_item(context, question, options, fields["label"], text_id(fields["premise"]))


def adapt_ocnli(record: Record) -> Item:
    """Three-way inference in Chinese; any other `label`: no agreement."""
    fields = record.fields
    context = f"前提：{fields['sentence1']}\n假设：{fields['sentence2']}"
    question = "根据前提，假设与前提之间是哪种关系？"
    options = {0: "中立", 1: "蕴含", 2: "矛盾"}
    return label_item(context, question, options, fields["label"], text_id(fields["sentence1"]), "zh")


def adapt_mnli(record: Record) -> Item:
    """Three-way inference."""
    fields = record.fields
    context = f"Premise: {fields['premise'].strip()}\nHypothesis: {fields['hypothesis'].strip()}"
    question = "Going by the premise, how does the hypothesis relate to it?"
    options = {0: "entailment", 1: "neutral", 2: "contradiction"}
    return label_item(context, question, options, fields["label"], text_id(fields["premise"]))


COPA = DatasetSpec(
    id="copa",
    title="COPA",
    files=(moodbench_file("basic_ability/NLI/copa_parquet/validation-00000-of-00001.parquet"),),
    adapter=adapt_copa,
    licence="BSD 2-clause (as known upstream, not verified)",
    paper="Roemmele et al. 2011, Choice of Plausible Alternatives; SuperGLUE, arXiv:1905.00537",
    required=("premise", "choice1", "choice2", "question", "label"),
    expected_rows=100,
    differences=("Level low as in the paper; the released weights have it at high.",),
)

RTE = DatasetSpec(
    id="rte",
    evaluation_version="1.1",
    title="RTE",
    files=(moodbench_file("basic_ability/NLI/rte_parquet/validation-00000-of-00001.parquet"),),
    adapter=adapt_rte,
    licence="terms of the PASCAL RTE challenges (as known upstream, not verified)",
    paper="Dagan et al. 2006, The PASCAL Recognising Textual Entailment Challenge; SuperGLUE, arXiv:1905.00537",
    required=("premise", "hypothesis", "label"),
    expected_rows=277,
)

OCNLI = DatasetSpec(
    id="ocnli",
    evaluation_version="1.1",
    title="OCNLI",
    files=(moodbench_file("basic_ability/NLI/ocnli_parquet/validation-00000-of-00001.parquet"),),
    adapter=adapt_ocnli,
    languages=("zh",),
    licence="CC BY-NC 2.0",
    paper="Hu et al. 2020, arXiv:2010.05444",
    required=("sentence1", "sentence2", "label"),
    expected_rows=300,
    differences=("A row on which its annotators did not agree has no gold and is rejected; this sample holds none.",),
)

MNLI = DatasetSpec(
    id="mnli",
    evaluation_version="1.1",
    title="MNLI",
    files=(moodbench_file("basic_ability/NLU/mnli_parquet/validation_matched-00000-of-00001.parquet"),),
    adapter=adapt_mnli,
    licence="terms of the parts of the MultiNLI corpus, mostly OANC (as known upstream, not verified)",
    paper="Williams et al. 2018, arXiv:1704.05426; GLUE, arXiv:1804.07461",
    required=("premise", "hypothesis", "label"),
    expected_rows=300,
    differences=("The options are the three relations by name; the released code describes neutral as unrelated.",),
)


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
