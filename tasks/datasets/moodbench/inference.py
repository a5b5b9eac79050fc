"""Two statements and how they relate: COPA, RTE, OCNLI, MNLI."""

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
    title="MNLI",
    files=(moodbench_file("basic_ability/NLU/mnli_parquet/validation_matched-00000-of-00001.parquet"),),
    adapter=adapt_mnli,
    licence="terms of the parts of the MultiNLI corpus, mostly OANC (as known upstream, not verified)",
    paper="Williams et al. 2018, arXiv:1704.05426; GLUE, arXiv:1804.07461",
    required=("premise", "hypothesis", "label"),
    expected_rows=300,
    differences=("The options are the three relations by name; the released code describes neutral as unrelated.",),
)
