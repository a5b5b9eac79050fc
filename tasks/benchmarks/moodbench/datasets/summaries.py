"""Texts to be summed up in Chinese: LCSTS, CNewSum, VCSum."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from schemas.dataset import DatasetSpec
from schemas.item import Item, Record, text_id
from tasks.benchmarks.moodbench.datasets.release import moodbench_file
from tasks.datasets.catalogue import pinned_in, read_differences

# The file puts a sentence that states the task before each text; here the question states it.
LCSTS_TASK = re.compile(r"在本任务中[^。]*摘要。")

# Words are divided by spaces. Those between two characters of Latin text or numbers may be the text's own and stay.
_LATIN = r"\u0021-\u007e\u00c0-\u024f"
_CHINESE = rf"[^{_LATIN}\s]"
_NUMBER_PARTS = re.compile(r"(?<=\d) ([.:/]) (?=\d)|(?<=\d) (?=[%.])")
_MARKS = re.compile(rf"(?<={_CHINESE})\s*([-,;:!?])\s*|\s*([-,;:!?])\s*(?={_CHINESE})")
_DIVIDERS = re.compile(rf"\s+(?={_CHINESE}|$)|(?<={_CHINESE})\s+")


def adapt_lcsts(record: Record) -> Item:
    """Cut the fixed sentence that states the task off a news message, else raise ValueError; its reference is a headline."""
    _, text = LCSTS_TASK.split(record.fields["input"], maxsplit=1)
    return _summary_item(text, "请用一句话概括这则新闻，写成标题那样的摘要。", record.fields["output"])


def adapt_cnewsum(record: Record) -> Item:
    """`article` lists sentences, `summary` is the reference; both are divided into words, which is undone."""
    fields = record.fields
    text = "".join(_join_words(sentence) for sentence in fields["article"])
    return _summary_item(text, "请为这篇新闻写一段简短的摘要。", _join_words(fields["summary"]))


def adapt_vcsum(record: Record) -> Item:
    """`context` lists turns, each a list of sentences, `speaker` who speaks in each; `summary` is of the whole."""
    fields = record.fields
    turns = zip(fields["speaker"], fields["context"], strict=True)
    text = "\n".join(f"发言人{speaker}：{''.join(sentences)}" for speaker, sentences in turns)
    return _summary_item(text, "请为这次会议写一段摘要，概括讨论的主要内容。", fields["summary"])


def join_meetings(records: Sequence[Record]) -> list[Record]:
    """Give each summary the transcript of its meeting, found by `id`, or by `<id>_<number>` in segments that are put together.

    Raise ValueError if it does not have exactly as many turns as the meeting's last `eos_index` says.
    """
    segments: dict[str, dict[int, Any]] = {}
    for record in records:
        if "summary" not in record.fields:
            meeting, _, number = record.fields["id"].partition("_")
            segments.setdefault(meeting, {})[int(number or 0)] = record.fields
    return [_join(record, segments.get(record.fields["id"], {})) for record in records if "summary" in record.fields]


def _join(record: Record, segments: Mapping[int, Any]) -> Record:
    parts = [segments[number] for number in sorted(segments)]
    context = [turn for part in parts for turn in part["context"]]
    speaker = [number for part in parts for number in part["speaker"]]
    expected = record.fields["eos_index"][-1] + 1
    if not len(context) == len(speaker) == expected:
        raise ValueError(f"meeting {record.fields['id']} has {len(context)} turns of {len(speaker)} speakers, not {expected}")
    return replace(record, fields={**record.fields, "context": context, "speaker": speaker})


def _summary_item(text: str, question: str, reference: str) -> Item:
    return Item(
        language="zh",
        question_type="judged_summary",
        context=text.strip(),
        question=question,
        references=(reference.strip(),),
        cluster=text_id(text),
    )


def _join_words(text: str) -> str:
    text = _NUMBER_PARTS.sub(lambda match: match[1] or "", text)
    text = _MARKS.sub(lambda match: match[1] or match[2], text)
    return _DIVIDERS.sub("", text).strip()


JUDGED = "A judge rates the summary, as in the paper; the released code takes ROUGE-1 F1."
VCSUM_SPEAKERS = "Turns are shown with their speakers; the released code prints a list of sentences, without speakers."

_vcsum_file = pinned_in("github.com/hahahawu/VCSum", "8e51d72e4e6f3af4074fd5b260b6f6d2e75e86c7")

_summaries = partial(DatasetSpec, file_format="jsonl", question_types=("judged_summary",), languages=("zh",))

LCSTS = _summaries(
    id="lcsts",
    evaluation_version="1.1",
    title="LCSTS",
    files=(moodbench_file("basic_ability/NLG/lcsts/test.json"),),
    adapter=adapt_lcsts,
    licence="research use on application (as known upstream, not verified); of the repackaging: Apache-2.0",
    paper="Hu et al. 2015, arXiv:1506.05865",
    expected_rows=300,
    differences=(JUDGED, *read_differences("lcsts")),
)

CNEWSUM = _summaries(
    id="cnewsum",
    title="CNewSum",
    files=(moodbench_file("basic_ability/NLG/CNewSum/test.simple.label.jsonl"),),
    adapter=adapt_cnewsum,
    licence="terms of the data not stated (the folder holds the MIT licence of other code)",
    paper="Wang et al. 2021, arXiv:2110.10874",
    expected_rows=300,
    differences=(JUDGED, *read_differences("cnewsum")),
)

VCSUM = _summaries(
    id="vcsum",
    title="VCSum",
    files=(
        _vcsum_file("vcsum_data/long_test.txt"),
        _vcsum_file("vcsum_data/overall_context.txt", None, record_format="jsonl"),
    ),
    adapter=adapt_vcsum,
    join_records=join_meetings,
    licence="MIT",
    paper="Wu et al. 2023, arXiv:2305.05280",
    differences=(JUDGED, VCSUM_SPEAKERS, *read_differences("vcsum")),
).with_alternative(
    files=(
        moodbench_file("basic_ability/NLG/vcsum_txt/long_test.txt"),
        moodbench_file("basic_ability/NLG/vcsum_txt/tmp/short_test.txt", record_format="jsonl"),
    ),
    expected_rows=162,
    differences=(
        JUDGED,
        VCSUM_SPEAKERS,
        "The meetings are put together from the segments of the short split, which give the turns of the long one exactly.",
    ),
)
