"""Datasets of figurative language."""

from dataclasses import replace

from schemas.dataset import DatasetSpec
from tasks.datasets.entries.moodbench_release import moodbench_file
from tasks.datasets.moodbench.vua20 import adapt_semeval2018_task3, adapt_vua20
from tasks.datasets.pinned_files import pinned_in

_cyvhee = pinned_in("github.com/Cyvhee/SemEval2018-Task3", "313b94c080e78544d6504192c8a1d425f6b7d719")
_STRIPPED = (
    "The hashtags #irony, #sarcasm and #not, which every ironic tweet carries, are taken out, as in the task's input files."
)
_RANDOM = "The released code pairs labels and tweets of two unrelated samples: 78 of 144 labels are right."
_METRIC = "F1 of the ironic class, as in the paper and the task; the released code computes accuracy."

_TASK3 = DatasetSpec(
    id="semeval2018_task3",
    title="SemEval-2018 Task 3, irony",
    files=(
        _cyvhee(
            "datasets/goldtest_TaskA/SemEval2018-T3_gold_test_taskA_emoji.txt",
            "b63a3825aee72592d7e565d3f8c75ff6ce695fa67ea28f2c5c0c4171f67bc5cd",
        ),
    ),
    record_format="tsv_plain",
    adapter=adapt_semeval2018_task3,
    question_types=("single_choice",),
    languages=("en",),
    licence="CC BY-NC-SA 4.0, academic use",
    paper="Van Hee et al. 2018, SemEval-2018 Task 3: Irony Detection in English Tweets",
    required=("Tweet index", "Label", "Tweet text"),
    evaluation_version="1.0",
    expected_rows=784,
    redistributable=False,
    differences=(
        "The whole test set of the task; MoodBench's repository holds 155 of its labels and 145 of its tweets.",
        _STRIPPED,
        _RANDOM,
        _METRIC,
    ),
)

IRONY_AND_METAPHOR: tuple[DatasetSpec, ...] = (
    replace(
        _TASK3,
        alternative=replace(
            _TASK3,
            files=(
                moodbench_file(
                    "emo_ability/emo_recognition/SemEval2018-Task3_txt/goldtest_TaskA/SemEval2018-T3_gold_test_taskA_emoji.txt",
                    "81aa12ce38f18d3c7b0d34514248f15b92d2af47eab141627c662f28d11b3bff",
                ),
            ),
            columns=_TASK3.required,
            expected_rows=155,
            differences=(
                "The gold file of MoodBench's repository alone, which has index, label and tweet: 155 of the 784 tweets.",
                _STRIPPED,
                _RANDOM,
                _METRIC,
            ),
        ),
    ),
    DatasetSpec(
        id="vua20",
        title="VUA20",
        files=(
            moodbench_file(
                "emo_ability/emo_recognition/vua20_tsv/test.tsv",
                "d04609ec4405b22e1d6f14c24d603e89e5c72c22240bd2d94cc303cf8c15e758",
            ),
        ),
        record_format="tsv_plain",
        adapter=adapt_vua20,
        question_types=("single_choice",),
        languages=("en",),
        licence="CC BY-SA 3.0 (terms of the VU Amsterdam Metaphor Corpus as known upstream, not verified)",
        paper="Leong et al. 2020, A Report on the 2020 VUA and TOEFL Metaphor Detection Shared Task, FigLang 2020",
        required=("sentence", "label", "POS", "w_index"),
        evaluation_version="1.0",
        expected_rows=300,
        redistributable=False,
        differences=(
            "The word is named and marked; the released prompt gives its place without saying that it counts from 0.",
            "F1 of the metaphors, as in the paper; the released code computes accuracy (78 % for the constant answer literal).",
        ),
    ),
)
