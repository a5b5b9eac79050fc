"""Everyday knowledge in English: HellaSwag, Cosmos QA, PIQA, TruthfulQA."""

import re
from collections.abc import Sequence
from dataclasses import replace

from schemas.item import Item, Record
from tasks.benchmarks.moodbench.datasets.release import moodbench_entry, moodbench_file
from tasks.datasets.catalogue import pinned_in
from tasks.datasets.options import choice

# WikiHow texts mark their layout with these four words; other brackets would be text.
LAYOUT_MARKS = re.compile(r"\s*(?:\[(?:header|title|step|substeps)\]\s*)+")


def _read_hellaswag(record: Record) -> dict[str, str | list[str]]:
    """Make layout marks line breaks in the context and spaces in the endings, which have to stay one line each."""
    fields = record.fields
    endings = [LAYOUT_MARKS.sub(" ", ending).strip() for ending in fields["endings"]]
    return {"ctx": LAYOUT_MARKS.sub("\n", fields["ctx"]), "endings": endings, "kind": fields["source_id"].split("~")[0]}


def join_piqa_labels(records: Sequence[Record]) -> list[Record]:
    """Give each goal the label on the line of its number; raise ValueError if there are not as many labels as goals."""
    goals = [record for record in records if "goal" in record.fields]
    labels = [record.fields["line"].strip() for record in records if "line" in record.fields]
    return [replace(goal, fields={**goal.fields, "label": label}) for goal, label in zip(goals, labels, strict=True)]


def adapt_truthfulqa(record: Record) -> Item:
    """`mc1_targets` and `mc2_targets` map answers to 1 (true) or 0 (false); the reply is compared with both kinds."""
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

HELLASWAG = moodbench_entry(
    id="hellaswag",
    evaluation_version="1.1",
    title="HellaSwag",
    files=(moodbench_file("basic_ability/common_sense/hellaswag_parquet/data/validation-00000-of-00001.parquet"),),
    adapter=choice(
        "How does this text most plausibly go on?",
        {str(number): f"{{endings[{number}]}}" for number in range(4)},
        read=_read_hellaswag,
        context="{ctx}",
        subset="{kind}",
        cluster="{source_id}",
    ),
    licence="MIT",
    paper="Zellers et al. 2019, arXiv:1905.07830",
)

COSMOS_QA = moodbench_entry(
    id="cosmos_qa",
    evaluation_version="1.1",
    title="Cosmos QA",
    files=(moodbench_file("basic_ability/common_sense/Cosmos_QA_csv/valid.csv"),),
    adapter=choice(
        "{question}",
        {str(number): f"{{answer{number}}}" for number in range(4)},
        shared="context",
        fixes_order=True,
        context="{context}",
    ),
    licence="CC BY 4.0 (not verified: no licence file upstream)",
    paper="Huang et al. 2019, arXiv:1909.00277",
)

PIQA = moodbench_entry(
    id="piqa",
    evaluation_version="1.1",
    title="PIQA",
    files=(
        _piqa_file("piqa/data/valid.jsonl"),
        _piqa_file("piqa/data/valid-labels.lst", record_format="lines"),
    ),
    adapter=choice("Which of these solutions reaches the goal?", {"0": "{sol1}", "1": "{sol2}"}, shared="goal", context="{goal}"),
    join_records=join_piqa_labels,
    licence="AFL-3.0",
    paper="Bisk et al. 2020, arXiv:1911.11641",
    expected_rows=3676,
)

TRUTHFULQA = moodbench_entry(
    id="truthfulqa",
    title="TruthfulQA",
    files=(moodbench_file("basic_ability/common_sense/TruthfulQA_V1_jsoncsv/qa/mc_task.json"),),
    adapter=adapt_truthfulqa,
    question_types=("open_ended",),
    licence="Apache-2.0 (as known upstream, not verified)",
    paper="Lin et al. 2022, arXiv:2109.07958",
)
