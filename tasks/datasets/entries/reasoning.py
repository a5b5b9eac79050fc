"""Datasets of natural language inference."""

from schemas.dataset import DatasetSpec
from tasks.datasets.entries.moodbench_release import REPOSITORY, REVISION, moodbench_file
from tasks.datasets.moodbench.folio import adapt_folio
from tasks.datasets.moodbench.inference import adapt_mnli
from tasks.datasets.moodbench.logiqa import adapt_logiqa, gather_logiqa
from tasks.datasets.moodbench.mutual import adapt_mutual
from tasks.datasets.moodbench.wsc import adapt_wsc
from tasks.datasets.pinned_files import pinned_in, pinned_list

_logiqa = pinned_in("github.com/lgw863/LogiQA-dataset", "ff6c4cbca47627b3ac2da94a29fa28204a167b41")

REASONING: tuple[DatasetSpec, ...] = (
    DatasetSpec(
        id="mnli",
        title="MNLI",
        files=(
            moodbench_file(
                "basic_ability/NLU/mnli_parquet/validation_matched-00000-of-00001.parquet",
                "2a2951034219a3195f0e66fe3f299e98657693055ff2c7a297df42cc122a85ae",
            ),
        ),
        record_format="parquet",
        adapter=adapt_mnli,
        question_types=("single_choice",),
        languages=("en",),
        licence="terms of the parts of the MultiNLI corpus, mostly OANC (as known upstream, not verified)",
        paper="Williams et al. 2018, arXiv:1704.05426; GLUE, arXiv:1804.07461",
        required=("premise", "hypothesis", "label"),
        evaluation_version="1.0",
        expected_rows=300,
        redistributable=False,
        differences=("The options are the three relations by name; the released code describes neutral as unrelated.",),
    ),
    DatasetSpec(
        id="wsc",
        title="WSC",
        files=(
            moodbench_file(
                "basic_ability/NLI/wsc.fixed_parquet/validation-00000-of-00001.parquet",
                "c807df7cea24c529bb94c27987243ac24dd443f32827ace65632c75d6bb0b5c8",
            ),
        ),
        record_format="parquet",
        adapter=adapt_wsc,
        question_types=("single_choice",),
        languages=("en",),
        licence="CC BY 4.0 (as known upstream, not verified)",
        paper="Levesque et al. 2012, The Winograd Schema Challenge; SuperGLUE, arXiv:1905.00537",
        required=("text", "span1_text", "span2_text", "span2_index", "label"),
        evaluation_version="1.0",
        expected_rows=104,
        redistributable=False,
        differences=(
            "The pronoun meant is marked in the text; the released code names it only, which leaves items 64, 66 and 73 alike.",
            "Item 42 gives the place of its pronoun one word too early; the mark stands on the pronoun.",
            "Items 2 and 97, 11 and 45, 86 and 93 are the same, with the same gold; all are kept.",
        ),
    ),
    DatasetSpec(
        id="mutual",
        title="MuTual-plus",
        files=pinned_list("mutual", pinned_in(REPOSITORY, REVISION)),
        record_format="jsonl",
        adapter=adapt_mutual,
        question_types=("single_choice",),
        languages=("en",),
        licence="none stated upstream",
        paper="Cui et al. 2020, MuTual: A Dataset for Multi-Turn Dialogue Reasoning, arXiv:2004.04494",
        required=("article", "options", "answers"),
        evaluation_version="1.0",
        expected_rows=300,
        redistributable=False,
        differences=(
            "The paper names MuTual, its release holds MuTual-plus, where one reply is replaced by one that asks to repeat.",
            "The release has 300 of the 886 dialogues of the MuTual-plus development set; we use these.",
            "MuTual is upstream scored by Recall@1, Recall@2 and MRR; here, as in the paper, by accuracy, which is Recall@1.",
        ),
    ),
    DatasetSpec(
        id="folio",
        title="FOLIO",
        files=(
            moodbench_file(
                "basic_ability/NLI/FOLIO_jsonltxt/folio-validation.jsonl",
                "1551b5d00af5556f5153630e915aad17072d0ad1d6513b5230b5bb39a1cc4340",
            ),
        ),
        record_format="jsonl",
        adapter=adapt_folio,
        question_types=("ranking",),
        languages=("en",),
        licence="CC BY-SA 4.0",
        paper="Han et al. 2022, arXiv:2209.00840",
        required=("premises", "conclusion", "label"),
        evaluation_version="1.0",
        expected_rows=204,
        redistributable=True,
        differences=(
            "Verdicts are ranked, as the paper's Recall@K and MRR need it; the released code asks for one and takes accuracy.",
            "Only the sentences are shown; the released code shows the gold formulas next to them.",
        ),
    ),
    DatasetSpec(
        id="logiqa",
        title="LogiQA",
        files=(_logiqa("Test.txt", "359acb78c37802208f7fde9e2f6574b8526527c63d6a336f90a53f1932cb4701"),),
        record_format="lines",
        gather=gather_logiqa,
        adapter=adapt_logiqa,
        question_types=("single_choice",),
        languages=("en",),
        licence="CC BY-NC-SA 4.0",
        paper="Liu et al. 2020, arXiv:2007.08124",
        required=("line",),
        evaluation_version="1.0",
        expected_rows=5208,
        redistributable=True,
        differences=(
            "The released code runs LogicNLI in place of LogiQA; we use the English test set of its authors (651 questions).",
            "The Chinese test set is left out: the paper gives English as the language.",
            "Options are put in the order of their printed letters, which the label means; 19 questions print them A, C, B, D.",
            "AGIEval republishes questions of this test set, so these count in both datasets.",
        ),
    ),
)
