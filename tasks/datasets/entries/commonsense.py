"""Datasets of commonsense and truthfulness."""

from schemas.dataset import DatasetSpec
from tasks.datasets.entries.moodbench_release import moodbench_file
from tasks.datasets.moodbench.commonsense import adapt_cosmos_qa, adapt_piqa, adapt_truthfulqa, join_piqa_labels
from tasks.datasets.pinned_files import pinned_in

_piqa_file = pinned_in("github.com/ybisk/ybisk.github.io", "21edab439af693b961be2f069e8690a88d3b4e37")

COMMONSENSE: tuple[DatasetSpec, ...] = (
    DatasetSpec(
        id="cosmos_qa",
        title="Cosmos QA",
        files=(
            moodbench_file(
                "basic_ability/common_sense/Cosmos_QA_csv/valid.csv",
                "636a9c1ffaf34b9d8a7f3a6e3cd031636dd7c529e60befc0f4eb84a09d81defd",
            ),
        ),
        record_format="csv",
        adapter=adapt_cosmos_qa,
        question_types=("single_choice",),
        languages=("en",),
        licence="CC BY 4.0 (not verified: no licence file upstream)",
        paper="Huang et al. 2019, arXiv:1909.00277",
        required=("context", "question", "answer0", "answer1", "answer2", "answer3", "label"),
        evaluation_version="1.0",
        expected_rows=300,
        redistributable=False,
        differences=(
            "206 questions offer none of the above, at any of the four places; the order of their options is kept as released.",
        ),
    ),
    DatasetSpec(
        id="piqa",
        title="PIQA",
        files=(
            _piqa_file("piqa/data/valid.jsonl", "93503cc97c679e459b065c3d13e848282e44b2a25213985bed3e5d458abef72d"),
            _piqa_file(
                "piqa/data/valid-labels.lst",
                "b4192dc3a2a0363d9d60ccf79800cbbe2f32ebb17726efdde6970e0b8131bceb",
                record_format="lines",
            ),
        ),
        record_format="jsonl",
        adapter=adapt_piqa,
        gather=join_piqa_labels,
        question_types=("single_choice",),
        languages=("en",),
        licence="AFL-3.0",
        paper="Bisk et al. 2020, arXiv:1911.11641",
        required=("goal", "sol1", "sol2"),
        evaluation_version="1.0",
        expected_rows=3676,
        redistributable=True,
        differences=(
            (
                "The whole validation split with its labels; the release of MoodBench holds 300 of its rows, in another order, "
                "without labels, and its configuration names a path of its authors' machine."
            ),
        ),
    ),
    DatasetSpec(
        id="truthfulqa",
        title="TruthfulQA",
        files=(
            moodbench_file(
                "basic_ability/common_sense/TruthfulQA_V1_jsoncsv/qa/mc_task.json",
                "91acc7968b7fc7638072ac0d65f5a657a97889e81f93ab345364cc3ef166edfe",
            ),
        ),
        record_format="json",
        adapter=adapt_truthfulqa,
        question_types=("open_ended",),
        languages=("en",),
        licence="Apache-2.0 (as known upstream, not verified)",
        paper="Lin et al. 2022, arXiv:2109.07958",
        required=("question", "mc1_targets", "mc2_targets"),
        evaluation_version="1.0",
        expected_rows=300,
        redistributable=False,
        differences=(
            (
                "The paper names BLEURT, ROUGE and BLEU, which need a written answer; so do our items. "
                "The released code has the model rate each given answer from 1 to 10 instead."
            ),
            (
                "True and false answers are those of the choice tasks: the upstream file with best, correct and incorrect "
                "answers is not in the release."
            ),
        ),
    ),
)
