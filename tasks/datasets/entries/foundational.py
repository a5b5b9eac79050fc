"""Datasets of the main ability Foundational: understanding, inference, commonsense."""

from schemas.dataset import DatasetSpec
from tasks.datasets.adapters.cmrc2018 import adapt_cmrc2018
from tasks.datasets.adapters.hellaswag import adapt_hellaswag
from tasks.datasets.entries.moodbench_release import moodbench_file
from tasks.datasets.moodbench.inference import adapt_copa, adapt_ocnli, adapt_rte
from tasks.datasets.moodbench.sentence_pairs import adapt_lcqmc, adapt_wic

FOUNDATIONAL = (
    DatasetSpec(
        id="lcqmc",
        title="LCQMC",
        files=(
            moodbench_file(
                "basic_ability/NLU/lcqmc_json/LCQMC_test.json",
                "4bbba0894f48ed2fa774822602aaf7261893659c7150a397cd57ae24933006d8",
            ),
        ),
        record_format="jsonl",
        adapter=adapt_lcqmc,
        question_types=("single_choice",),
        languages=("zh",),
        licence="research use on application (as known upstream, not verified)",
        paper="Liu et al. 2018, LCQMC: A Large-scale Chinese Question Matching Corpus, COLING 2018",
        required=("sentence1", "sentence2", "gold_label"),
        evaluation_version="1.0",
        expected_rows=300,
        redistributable=False,
        differences=(
            "The released configuration names a path of its authors' machine and loads nothing; we read the released file.",
            "The upstream test set is balanced; this sample has 184 pairs of one meaning and 116 of two.",
        ),
    ),
    DatasetSpec(
        id="cmrc2018",
        title="CMRC 2018",
        files=(
            moodbench_file(
                "basic_ability/NLU/cmrc2018_parquet_test_with_label/data/test-00000-of-00001.parquet",
                "31fac325e3f34458fc9a64ab50c123af7d23a2298beb84424a9d33df1068dd52",
            ),
        ),
        record_format="parquet",
        adapter=adapt_cmrc2018,
        question_types=("extractive",),
        languages=("zh",),
        licence="CC BY-SA 4.0",
        paper="Cui et al. 2019, arXiv:1810.07366",
        required=("context", "question", "answers"),
        evaluation_version="1.0",
        expected_rows=300,
        redistributable=True,
        differences=(
            "All distinct references count; the released code compares with the first one. Every row here has one.",
            "Rows are the upstream trial set, released under the name test.",
        ),
    ),
    DatasetSpec(
        id="wic",
        title="WiC",
        files=(
            moodbench_file(
                "basic_ability/NLU/wic_parquet/validation-00000-of-00001.parquet",
                "717a168d98be0bdf5a2a50a2ee82ac416347049527afbcd4fe16bad9e58b3d1d",
            ),
        ),
        record_format="parquet",
        adapter=adapt_wic,
        question_types=("single_choice",),
        languages=("en",),
        licence="CC BY-NC 4.0 (as known upstream, not verified)",
        paper="Pilehvar and Camacho-Collados 2019, arXiv:1808.09121; SuperGLUE, arXiv:1905.00537",
        required=("word", "sentence1", "sentence2", "label"),
        evaluation_version="1.0",
        expected_rows=300,
        redistributable=False,
        differences=(
            "Sentences stay as they are; the released code puts the lemma in place of the marked word, which alters 119 rows.",
        ),
    ),
    DatasetSpec(
        id="ocnli",
        title="OCNLI",
        files=(
            moodbench_file(
                "basic_ability/NLI/ocnli_parquet/validation-00000-of-00001.parquet",
                "29bdd1ebf46f7478d621f6552ad745191e5e6f1ee74cbc7bf0e1bc7f53dfb372",
            ),
        ),
        record_format="parquet",
        adapter=adapt_ocnli,
        question_types=("single_choice",),
        languages=("zh",),
        licence="CC BY-NC 2.0",
        paper="Hu et al. 2020, arXiv:2010.05444",
        required=("sentence1", "sentence2", "label"),
        evaluation_version="1.0",
        expected_rows=300,
        redistributable=True,
        differences=("A row on which its annotators did not agree has no gold and is rejected; this sample holds none.",),
    ),
    DatasetSpec(
        id="rte",
        title="RTE",
        files=(
            moodbench_file(
                "basic_ability/NLI/rte_parquet/validation-00000-of-00001.parquet",
                "c74ca710245baa3b48ec30bf2d61c626667f2d474ea091aa32336aceedae69ae",
            ),
        ),
        record_format="parquet",
        adapter=adapt_rte,
        question_types=("single_choice",),
        languages=("en",),
        licence="terms of the PASCAL RTE challenges (as known upstream, not verified)",
        paper="Dagan et al. 2006, The PASCAL Recognising Textual Entailment Challenge; SuperGLUE, arXiv:1905.00537",
        required=("premise", "hypothesis", "label"),
        evaluation_version="1.0",
        expected_rows=277,
        redistributable=False,
    ),
    DatasetSpec(
        id="copa",
        title="COPA",
        files=(
            moodbench_file(
                "basic_ability/NLI/copa_parquet/validation-00000-of-00001.parquet",
                "29d82b29e71f3c700a15b5afe7bc2c403f4c3711c1aa5b164eca86221fc651c8",
            ),
        ),
        record_format="parquet",
        adapter=adapt_copa,
        question_types=("single_choice",),
        languages=("en",),
        licence="BSD 2-clause (as known upstream, not verified)",
        paper="Roemmele et al. 2011, Choice of Plausible Alternatives; SuperGLUE, arXiv:1905.00537",
        required=("premise", "choice1", "choice2", "question", "label"),
        evaluation_version="1.0",
        expected_rows=100,
        redistributable=False,
        differences=("Level low as in the paper; the released weights have it at high.",),
    ),
    DatasetSpec(
        id="hellaswag",
        title="HellaSwag",
        files=(
            moodbench_file(
                "basic_ability/common_sense/hellaswag_parquet/data/validation-00000-of-00001.parquet",
                "d3cb07465d10b6bcd533901c7be0e9cb79af808b5a25f4b382aafd265f050445",
            ),
        ),
        record_format="parquet",
        adapter=adapt_hellaswag,
        question_types=("single_choice",),
        languages=("en",),
        licence="MIT",
        paper="Zellers et al. 2019, arXiv:1905.07830",
        required=("ctx", "endings", "source_id", "label"),
        evaluation_version="1.0",
        expected_rows=300,
        redistributable=True,
        differences=(
            "The layout marks [header], [title], [step] and [substeps] are not shown; the released code leaves them in the text.",
        ),
    ),
)
