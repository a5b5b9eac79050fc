"""Texts to be summed up in Chinese: LCSTS, CNewSum, VCSum."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from schemas.item import Item, Record

# The file puts a sentence that states the task before each text; here the question states it.
LCSTS_TASK = re.compile(r"在本任务中[^。]*摘要。")

# Words are divided by spaces. Those between two characters of Latin text or numbers may be the text's own and stay.
_LATIN = r"\u0021-\u007e\u00c0-\u024f"
_CHINESE = rf"[^{_LATIN}\s]"
_NUMBER_PARTS = re.compile(r"(?<=\d) ([.:/]) (?=\d)|(?<=\d) (?=[%.])")
_MARKS = re.compile(rf"(?<={_CHINESE})\s*([-,;:!?])\s*|\s*([-,;:!?])\s*(?={_CHINESE})")
_DIVIDERS = re.compile(rf"\s+(?={_CHINESE}|$)|(?<={_CHINESE})\s+")


def adapt_lcsts(record: Record) -> Iterable[Item]:
    """`input` is a news message behind a fixed sentence that states the task; `output` is its reference summary, a headline.

    Raises:
        ValueError: the text does not start with that sentence.
    """
    fields = record.fields
    task = LCSTS_TASK.match(fields["input"])
    if task is None:
        raise ValueError("the text does not start with the sentence that states the task")
    text = fields["input"][task.end() :]
    return [_summary_item(text, "请用一句话概括这则新闻，写成标题那样的摘要。", fields["output"])]


def adapt_cnewsum(record: Record) -> Iterable[Item]:
    """`article` lists sentences, `summary` is the reference; both are divided into words, which is undone."""
    fields = record.fields
    text = "".join(_join_words(sentence) for sentence in fields["article"])
    return [_summary_item(text, "请为这篇新闻写一段简短的摘要。", _join_words(fields["summary"]))]


def adapt_vcsum(record: Record) -> Iterable[Item]:
    """`context` lists turns, each a list of sentences, `speaker` who speaks in each; `summary` is of the whole."""
    fields = record.fields
    turns = zip(fields["speaker"], fields["context"], strict=True)
    text = "\n".join(f"发言人{speaker}：{''.join(sentences)}" for speaker, sentences in turns)
    return [_summary_item(text, "请为这次会议写一段摘要，概括讨论的主要内容。", fields["summary"])]


def join_meetings(records: Sequence[Record]) -> list[Record]:
    """Give each summary the transcript of its meeting, found by `id` in the file that holds all transcripts.

    Raises:
        ValueError: a meeting has no transcript, or one of another length than its last `eos_index` says.
    """
    transcripts = {record.fields["id"]: record.fields for record in records if "summary" not in record.fields}
    return [_join(record, [transcripts.get(record.fields["id"])]) for record in records if "summary" in record.fields]


def join_segments(records: Sequence[Record]) -> list[Record]:
    """Give each summary the transcript of its meeting, put together from the segments `<id>_<number>` in order of the numbers.

    Raises:
        ValueError: the segments do not give exactly as many turns as the meeting's last `eos_index` says.
    """
    segments: dict[str, dict[int, Any]] = {}
    for record in records:
        if "summary" not in record.fields:
            meeting, number = record.fields["id"].split("_")
            segments.setdefault(meeting, {})[int(number)] = record.fields
    joined = []
    for record in records:
        if "summary" in record.fields:
            parts = segments.get(record.fields["id"], {})
            joined.append(_join(record, [parts[number] for number in sorted(parts)]))
    return joined


def _join(record: Record, parts: Sequence[Any]) -> Record:
    found = [part for part in parts if part is not None]
    context = [turn for part in found for turn in part["context"]]
    speaker = [number for part in found for number in part["speaker"]]
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
    )


def _join_words(text: str) -> str:
    text = _NUMBER_PARTS.sub(lambda found: found[1] or "", text)
    text = _MARKS.sub(lambda found: found[1] or found[2], text)
    return _DIVIDERS.sub("", text).strip()
