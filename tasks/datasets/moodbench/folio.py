"""FOLIO: whether a conclusion follows from premises in first-order logic."""

from schemas.dataset import DatasetSpec
from schemas.item import Item, Record
from tasks.datasets.pinned_files import moodbench_file

VERDICTS = {
    "True": "True: the premises imply the conclusion",
    "False": "False: the premises imply that the conclusion does not hold",
    "Uncertain": "Uncertain: the premises imply neither",
}
QUESTION = (
    "Going by the premises alone, how does this conclusion stand? Order the three verdicts, the one that most likely is right "
    "first.\nConclusion: {conclusion}"
)


def adapt_folio(record: Record) -> Item:
    """`label` is the right verdict, the one relevant option of a ranking. Formulas of the release are gold and left out."""
    fields = record.fields
    label = fields["label"]
    return Item(
        question_type="ranking",
        context="Premises:\n" + "\n".join(f"- {premise.strip()}" for premise in fields["premises"]),
        question=QUESTION.format(conclusion=fields["conclusion"].strip()),
        options=tuple(VERDICTS.values()),
        gold_indices=(list(VERDICTS).index(label),) if label in VERDICTS else None,
    )


FOLIO = DatasetSpec(
    id="folio",
    title="FOLIO",
    files=(moodbench_file("basic_ability/NLI/FOLIO_jsonltxt/folio-validation.jsonl"),),
    record_format="jsonl",
    adapter=adapt_folio,
    question_types=("ranking",),
    licence="CC BY-SA 4.0",
    paper="Han et al. 2022, arXiv:2209.00840",
    required=("premises", "conclusion", "label"),
    expected_rows=204,
    redistributable=True,
    differences=(
        "Verdicts are ranked, as the paper's Recall@K and MRR need it; the released code asks for one and takes accuracy.",
        "Only the sentences are shown; the released code shows the gold formulas next to them.",
    ),
)
