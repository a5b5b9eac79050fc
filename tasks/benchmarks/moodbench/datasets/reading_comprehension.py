"""Questions about a text: CMRC 2018 (a span), MultiRC (is an answer right), ReCoRD (the entity that fills a blank)."""

from collections.abc import Sequence

from schemas.item import Item, Record, text_id
from tasks.benchmarks.moodbench.datasets.release import moodbench_entry, moodbench_file
from tasks.datasets.catalogue import pinned_in, read_differences
from tasks.datasets.options import choice


def adapt_cmrc2018(record: Record) -> Item:
    """The text stays as it is: the spans in `answers.text` are exact."""
    fields = record.fields
    return Item(
        language="zh",
        question_type="extractive",
        context=fields["context"],
        question=fields["question"],
        references=tuple(dict.fromkeys(fields["answers"]["text"])),
        cluster=text_id(fields["context"]),
    )


RECORD_QUESTION = (
    "Which of the entities below stands at @placeholder in this sentence about the text? Name one, as it is listed.\n"
    "Sentence: {query}\n"
    "Entities:\n{entities}"
)
HIGHLIGHT = "\n@highlight\n"


def adapt_record(record: Record) -> Item:
    """`entities` are the candidates, `answers` those of them that are right: forms of one name, of which any will do.

    Marks before the highlights of the news text become list marks. Entities that differ in white space alone are shown once.
    """
    fields = record.fields
    listed = "\n".join(f"- {entity}" for entity in _merge(fields["entities"]))
    return Item(
        question_type="extractive",
        context=fields["passage"].replace(HIGHLIGHT, "\n- ").strip(),
        question=RECORD_QUESTION.format(query=" ".join(fields["query"].split()), entities=listed),
        references=_merge(fields["answers"]),
        cluster=text_id(fields["passage"]),
    )


def _merge(names: Sequence[str]) -> tuple[str, ...]:
    """Names in order, of those that are equal but for white space the first; white space inside them becomes single blanks."""
    merged: dict[str, str] = {}
    for name in names:
        merged.setdefault("".join(name.split()), " ".join(name.split()))
    return tuple(merged.values())


CMRC2018 = moodbench_entry(
    id="cmrc2018",
    evaluation_version="1.1",
    title="CMRC 2018",
    files=(moodbench_file("basic_ability/NLU/cmrc2018_parquet_test_with_label/data/test-00000-of-00001.parquet"),),
    adapter=adapt_cmrc2018,
    question_types=("extractive",),
    languages=("zh",),
    licence="CC BY-SA 4.0",
    paper="Cui et al. 2019, arXiv:1810.07366",
)

_superglue = pinned_in("huggingface.co/aps/super_glue", "3de24cf8022e94f4ee4b9d55a6f539891524d646")

_JUDGED_ONE_BY_ONE = (
    "Each proposed answer is an item, judged by itself as in SuperGLUE; the released code asks for the right ones' letters.",
    "Metrics: F1 of the answer yes (SuperGLUE's F1a) and accuracy; exact match per question can be had from the subsets.",
    "What the released code takes for right is a set of letters per question and is not reproduced per item.",
)

MULTIRC = moodbench_entry(
    id="multirc",
    evaluation_version="1.1",
    title="MultiRC",
    files=(_superglue("multirc/validation-00000-of-00001.parquet"),),
    # Each answer is judged by itself, as SuperGLUE does (arXiv:1905.00537, section 3): F1 is that of "yes".
    adapter=choice(
        "Is this answer to the question correct according to the text?\n"
        'Question asked: "{question}"\nProposed answer: "{answer}"',
        {1: "yes", 0: "no"},
        context="{paragraph}",
        subset="{idx[paragraph]}-{idx[question]}",
        cluster="paragraph {idx[paragraph]}",
    ),
    licence="research licence of the authors (as known upstream, not verified)",
    paper="Khashabi et al. 2018, Looking Beyond the Surface, NAACL 2018; SuperGLUE, arXiv:1905.00537",
    expected_rows=4848,
    differences=(*read_differences("multirc"), *_JUDGED_ONE_BY_ONE),
).with_alternative(
    files=(moodbench_file("basic_ability/NLU/multirc_parquet/validation-00000-of-00001.parquet"),),
    expected_rows=300,
    differences=(
        "300 proposed answers to 258 questions of SuperGLUE's validation set: answers were sampled, not questions.",
        "136 questions have no right answer left, which caps the released score at 65.5 %; one by one nothing is lost.",
        *_JUDGED_ONE_BY_ONE,
    ),
)

RECORD = moodbench_entry(
    id="record",
    evaluation_version="1.1",
    title="ReCoRD",
    files=(moodbench_file("basic_ability/NLU/record_parquet/validation-00000-of-00001.parquet"),),
    adapter=adapt_record,
    question_types=("extractive",),
    licence="Apache-2.0 for the annotations, terms of CNN and Daily Mail for the texts (as known upstream, not verified)",
    paper="Zhang et al. 2018, arXiv:1810.12885; SuperGLUE, arXiv:1905.00537",
)
