"""Two texts and how they relate: COPA, RTE, OCNLI, MNLI; or whether they, or a word in them, mean the same: LCQMC, QQP, WiC."""

from tasks.benchmarks.moodbench.datasets.release import moodbench_entry, moodbench_file
from tasks.datasets.options import choice

COPA_QUESTIONS = {name: f"Which of these is more likely to be its {name}?" for name in ("cause", "effect")}

COPA = moodbench_entry(
    id="copa",
    title="COPA",
    files=(moodbench_file("basic_ability/NLI/copa_parquet/validation-00000-of-00001.parquet"),),
    adapter=choice(
        "{asked}",
        {0: "{choice1}", 1: "{choice2}"},
        read=lambda record: {"asked": COPA_QUESTIONS[record.fields["question"]]},
        context="{premise}",
        subset="{question}",
    ),
    licence="BSD 2-clause (as known upstream, not verified)",
    paper="Roemmele et al. 2011, Choice of Plausible Alternatives; SuperGLUE, arXiv:1905.00537",
    expected_rows=100,
    differences=("Level low as in the paper; the released weights have it at high.",),
)

RTE = moodbench_entry(
    id="rte",
    evaluation_version="1.1",
    title="RTE",
    files=(moodbench_file("basic_ability/NLI/rte_parquet/validation-00000-of-00001.parquet"),),
    adapter=choice(
        "Does the text entail the statement, that is, is the statement true if the text is?",
        {0: "entailment", 1: "not entailment"},
        shared="premise",
        context="Text: {premise}\nStatement: {hypothesis}",
    ),
    licence="terms of the PASCAL RTE challenges (as known upstream, not verified)",
    paper="Dagan et al. 2006, The PASCAL Recognising Textual Entailment Challenge; SuperGLUE, arXiv:1905.00537",
    expected_rows=277,
)

OCNLI = moodbench_entry(
    id="ocnli",
    evaluation_version="1.1",
    title="OCNLI",
    files=(moodbench_file("basic_ability/NLI/ocnli_parquet/validation-00000-of-00001.parquet"),),
    adapter=choice(
        "根据前提，假设与前提之间是哪种关系？",
        {0: "中立", 1: "蕴含", 2: "矛盾"},
        shared="sentence1",
        context="前提：{sentence1}\n假设：{sentence2}",
        language="zh",
    ),
    languages=("zh",),
    licence="CC BY-NC 2.0",
    paper="Hu et al. 2020, arXiv:2010.05444",
    differences=("A row on which its annotators did not agree has no gold and is rejected; this sample holds none.",),
)

MNLI = moodbench_entry(
    id="mnli",
    evaluation_version="1.1",
    title="MNLI",
    files=(moodbench_file("basic_ability/NLU/mnli_parquet/validation_matched-00000-of-00001.parquet"),),
    adapter=choice(
        "Going by the premise, how does the hypothesis relate to it?",
        {0: "entailment", 1: "neutral", 2: "contradiction"},
        shared="premise",
        context="Premise: {premise}\nHypothesis: {hypothesis}",
    ),
    licence="terms of the parts of the MultiNLI corpus, mostly OANC (as known upstream, not verified)",
    paper="Williams et al. 2018, arXiv:1704.05426; GLUE, arXiv:1804.07461",
    differences=("The options are the three relations by name; the released code describes neutral as unrelated.",),
)

LCQMC = moodbench_entry(
    id="lcqmc",
    title="LCQMC",
    files=(moodbench_file("basic_ability/NLU/lcqmc_json/LCQMC_test.json"),),
    file_format="jsonl",
    adapter=choice(
        "这两个问句问的是同一个意思吗？",
        {"1": "意思相同", "0": "意思不同"},
        gold="gold_label",
        context="问句一：{sentence1}\n问句二：{sentence2}",
        language="zh",
    ),
    languages=("zh",),
    licence="research use on application (as known upstream, not verified)",
    paper="Liu et al. 2018, LCQMC: A Large-scale Chinese Question Matching Corpus, COLING 2018",
)

QQP = moodbench_entry(
    id="qqp",
    title="QQP",
    files=(moodbench_file("basic_ability/NLU/QQP_tsv/dev.tsv"),),
    file_format="tsv_plain",
    adapter=choice(
        "Are these two questions duplicates, that is, do they ask the same thing so that one answer would serve both?",
        {"1": "duplicates", "0": "not duplicates"},
        gold="is_duplicate",
        context="Question 1: {question1}\nQuestion 2: {question2}",
    ),
    licence="terms of Quora, non-commercial (as known upstream, not verified)",
    paper="Iyer et al. 2017, First Quora Dataset Release: Question Pairs; GLUE, arXiv:1804.07461",
    differences=("The first line is the header; the released code takes it for a pair and as a rule stops there.",),
)

WIC = moodbench_entry(
    id="wic",
    title="WiC",
    files=(moodbench_file("basic_ability/NLU/wic_parquet/validation-00000-of-00001.parquet"),),
    adapter=choice(
        'Is the word "{word}", in whatever form it appears, used in the same sense in both sentences?',
        {1: "same sense", 0: "different senses"},
        context="Sentence 1: {sentence1}\nSentence 2: {sentence2}",
    ),
    licence="CC BY-NC 4.0 (as known upstream, not verified)",
    paper="Pilehvar and Camacho-Collados 2019, arXiv:1808.09121; SuperGLUE, arXiv:1905.00537",
)
