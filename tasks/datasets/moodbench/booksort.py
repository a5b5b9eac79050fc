"""Book-SORT: which of two segments comes first in an excerpt of a book."""

from schemas.dataset import DatasetSpec
from schemas.item import Item, Record
from tasks.datasets.pinned_files import moodbench_file

QUESTION = "Which of these two segments comes first in the excerpt?"


def adapt_booksort(record: Record) -> Item:
    """`segment_1` is the earlier one in every row; `present_seg1_first` (1 or 0) says whether it is shown first.

    The released code always shows `segment_1` first but takes the flag as the answer: its truth is `segment_1` where the flag
    is 1 and `segment_2` where it is 0. `subset`: class of the distance between the segments, in words.
    """
    fields = record.fields
    first, second = _strip(fields["segment_1"]), _strip(fields["segment_2"])
    flag = fields["present_seg1_first"]
    if flag not in (0, 1):
        raise ValueError(f"present_seg1_first is {flag!r}, neither 0 nor 1")
    return Item(
        context=_strip(fields["excerpt_text"]),
        question=QUESTION,
        options=(first, second) if flag else (second, first),
        gold_indices=(0,) if flag else (1,),
        reference_gold_indices=None if flag else (0,),
        subset=f"distance {fields['distance_bin']}",
    )


def _strip(text: str) -> str:
    """Without the one asterisk that the release puts at either end; asterisks inside are the book's."""
    return text.strip().removeprefix("*").removesuffix("*").strip()


BOOKSORT = DatasetSpec(
    id="booksort",
    title="Book-SORT",
    files=(moodbench_file("company_ability/memory/booksort/data/test_e1000_s50.parquet"),),
    record_format="parquet",
    adapter=adapt_booksort,
    licence="CC0-1.0",
    paper="Pink et al. 2024, Assessing Episodic Memory in LLMs with Sequence Order Recall Tasks, arXiv:2410.08133",
    required=("excerpt_text", "segment_1", "segment_2", "present_seg1_first", "distance_bin"),
    expected_rows=300,
    redistributable=True,
    differences=(
        "The flag says which segment to show first, as upstream; the released code always shows the earlier one first.",
        "The released code takes that flag for the answer, which is wrong in 151 of 300 rows.",
        "The asterisks at the ends of excerpts and segments are not shown.",
        "Level medium as in the paper; the released weights have it at low, as a sub-ability of its own.",
    ),
)
