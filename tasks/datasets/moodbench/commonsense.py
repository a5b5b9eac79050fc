"""Everyday knowledge in English: HellaSwag, Cosmos QA, PIQA, TruthfulQA."""

import re
from collections.abc import Sequence
from dataclasses import replace

from schemas.dataset import DatasetSpec
from schemas.item import Item, Record, text_id
from tasks.datasets.options import find_gold, order_matters
from tasks.datasets.pinned_files import moodbench_file, pinned_in

# WikiHow texts mark their layout with these four words; other brackets would be text.
LAYOUT_MARKS = re.compile(r"\s*(?:\[(?:header|title|step|substeps)\]\s*)+")


def adapt_hellaswag(record: Record) -> Item:
    """`label` is the 0-based number of the right ending, as text. `subset`: activitynet (captions) or wikihow.

    Layout marks become line breaks in the context and spaces in the endings, which have to stay one line each.
    """
    fields = record.fields
    return Item(
        context=LAYOUT_MARKS.sub("\n", fields["ctx"]).strip(),
        question="How does this text most plausibly go on?",
        options=tuple(LAYOUT_MARKS.sub(" ", ending).strip() for ending in fields["endings"]),
        gold_indices=find_gold(map(str, range(len(fields["endings"]))), fields["label"]),
        subset=fields["source_id"].split("~")[0],
        cluster=fields["source_id"],
    )


def adapt_cosmos_qa(record: Record) -> Item:
    """`answer0` to `answer3` are the options, `label` the 0-based number of the right one, as text."""
    fields = record.fields
    options = tuple(fields[f"answer{number}"].strip() for number in range(4))
    return Item(
        context=fields["context"].strip(),
        question=fields["question"].strip(),
        options=options,
        gold_indices=find_gold("0123", fields["label"]),
        cluster=text_id(fields["context"]),
        fixed_order=order_matters(options),
    )


def join_piqa_labels(records: Sequence[Record]) -> list[Record]:
    """Give each goal the label that stands on the line of its number.

    Raises:
        ValueError: there are not as many labels as goals.
    """
    goals = [record for record in records if "goal" in record.fields]
    labels = [record.fields["line"].strip() for record in records if "line" in record.fields]
    if len(goals) != len(labels):
        raise ValueError(f"{len(goals)} goals and {len(labels)} labels")
    return [replace(goal, fields={**goal.fields, "label": label}) for goal, label in zip(goals, labels, strict=True)]


def adapt_piqa(record: Record) -> Item:
    """`goal` is what is to be done, `sol1` and `sol2` are the ways; `label` "0" = the first is right, "1" = the second."""
    fields = record.fields
    return Item(
        context=fields["goal"].strip() or None,
        question="Which of these solutions reaches the goal?",
        options=(fields["sol1"].strip(), fields["sol2"].strip()),
        gold_indices=find_gold("01", fields["label"]),
        cluster=text_id(fields["goal"]),
    )


def adapt_truthfulqa(record: Record) -> Item:
    """`mc1_targets` and `mc2_targets` map answers to 1 (true) or 0 (false).

    The reply is written freely and compared with both kinds.
    """
    fields = record.fields
    answers = [*fields["mc1_targets"].items(), *fields["mc2_targets"].items()]
    return Item(
        question_type="open_ended",
        question=fields["question"].strip(),
        references=_distinct(answers, true=1),
        wrong_references=_distinct(answers, true=0),
    )


def _distinct(answers: Sequence[tuple[str, int]], true: int) -> tuple[str, ...] | None:
    return tuple(dict.fromkeys(text.strip() for text, label in answers if label == true)) or None


_piqa_file = pinned_in("github.com/ybisk/ybisk.github.io", "21edab439af693b961be2f069e8690a88d3b4e37")

HELLASWAG = DatasetSpec(
    id="hellaswag",
    evaluation_version="1.1",
    title="HellaSwag",
    files=(moodbench_file("basic_ability/common_sense/hellaswag_parquet/data/validation-00000-of-00001.parquet"),),
    adapter=adapt_hellaswag,
    licence="MIT",
    paper="Zellers et al. 2019, arXiv:1905.07830",
    required=("ctx", "endings", "source_id", "label"),
    expected_rows=300,
    differences=(
        "The layout marks [header], [title], [step] and [substeps] are not shown; the released code leaves them in the text.",
    ),
)

COSMOS_QA = DatasetSpec(
    id="cosmos_qa",
    evaluation_version="1.1",
    title="Cosmos QA",
    files=(moodbench_file("basic_ability/common_sense/Cosmos_QA_csv/valid.csv"),),
    adapter=adapt_cosmos_qa,
    licence="CC BY 4.0 (not verified: no licence file upstream)",
    paper="Huang et al. 2019, arXiv:1909.00277",
    required=("context", "question", "answer0", "answer1", "answer2", "answer3", "label"),
    expected_rows=300,
    differences=(
        "206 questions offer none of the above, at any of the four places; the order of their options is kept as released.",
    ),
)

PIQA = DatasetSpec(
    id="piqa",
    evaluation_version="1.1",
    title="PIQA",
    files=(
        _piqa_file("piqa/data/valid.jsonl"),
        _piqa_file("piqa/data/valid-labels.lst", record_format="lines"),
    ),
    adapter=adapt_piqa,
    join_records=join_piqa_labels,
    licence="AFL-3.0",
    paper="Bisk et al. 2020, arXiv:1911.11641",
    required=("goal", "sol1", "sol2"),
    expected_rows=3676,
    differences=(
        (
            "The whole validation split with its labels; the release of MoodBench holds 300 of its rows, in another order, "
            "without labels, and its configuration names a path of its authors' machine."
        ),
    ),
)

TRUTHFULQA = DatasetSpec(
    id="truthfulqa",
    title="TruthfulQA",
    files=(moodbench_file("basic_ability/common_sense/TruthfulQA_V1_jsoncsv/qa/mc_task.json"),),
    adapter=adapt_truthfulqa,
    question_types=("open_ended",),
    licence="Apache-2.0 (as known upstream, not verified)",
    paper="Lin et al. 2022, arXiv:2109.07958",
    required=("question", "mc1_targets", "mc2_targets"),
    expected_rows=300,
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
)
