"""LCSTS, CNewSum and VCSum: word spaces, task sentence, meetings put together."""

import re
from pathlib import Path

import pytest

from schemas.dataset import PinnedFile
from schemas.item import Record
from tasks.datasets.catalogue import find_dataset
from tasks.datasets.moodbench.summaries import LCSTS_TASK, adapt_cnewsum, adapt_lcsts, adapt_vcsum, join_meetings
from tests.tasks.datasets.real_datasets import adapt, here, items_of, records_of


def test_lcsts_refuses_a_text_without_the_task_sentence() -> None:
    record = Record(fields={"input": "别的文本。", "output": "摘要"}, file="test.json", row=4)
    with pytest.raises(ValueError, match="does not start with the sentence"):
        adapt_lcsts(record)


@pytest.mark.parametrize(
    ("divided", "joined"),
    [
        ("今天 气温 1 ℃ , 明天 - 2 ℃ 。", "今天气温1℃,明天-2℃。"),
        ("股价 上涨 0 . 05 % , 收 于 8 : 30 前", "股价上涨0.05%,收于8:30前"),
        ("他 说 : “ thank you very much ” 。", "他说:“thank you very much”。"),
        ("共 有 3 GB 内存 , 46 家 公司", "共有3 GB内存,46家公司"),
        ("进入 1 / 4 决赛", "进入1/4决赛"),
        ("9 · 19 声明", "9·19声明"),
    ],
)
def test_spaces_between_chinese_words_go_and_those_of_latin_text_stay(divided: str, joined: str) -> None:
    item = adapt(adapt_cnewsum, article=[divided, divided], summary=divided)
    assert item.references == (joined,)
    assert item.context == joined * 2


def meeting(**changed: object) -> Record:
    return Record(fields={"id": "7", "eos_index": [0, 2], "summary": "总结", **changed}, file="long.txt", row=0)


def segment(name: str, speaker: list[int]) -> Record:
    fields = {"id": name, "context": [[f"{name}的第{turn}句。", "完。"] for turn in range(len(speaker))], "speaker": speaker}
    return Record(fields=fields, file="short.txt", row=0)


def test_a_meeting_is_joined_in_order_of_its_segments_also_where_a_number_is_missing() -> None:
    (joined,) = join_meetings([meeting(), segment("7_10", [2]), segment("7_2", [1, 3]), segment("8_0", [9])])
    assert (joined.file, joined.row) == ("long.txt", 0)
    item = adapt_vcsum(joined)
    assert item.context == "发言人1：7_2的第0句。完。\n发言人3：7_2的第1句。完。\n发言人2：7_10的第0句。完。"
    assert item.references == ("总结",)


def test_a_meeting_finds_its_transcript_by_id() -> None:
    (joined,) = join_meetings([meeting(), segment("6", [5]), segment("7", [1, 2, 1])])
    assert joined.fields["speaker"] == [1, 2, 1]


@pytest.mark.parametrize(("segments", "turns"), [([], 0), ([segment("7_0", [1, 2])], 2)])
def test_a_meeting_with_turns_missing_is_refused(segments: list[Record], turns: int) -> None:
    with pytest.raises(ValueError, match=f"meeting 7 has {turns} turns of {turns} speakers, not 3"):
        join_meetings([meeting(), *segments])


def test_vcsum_shares_its_summaries_between_both_sources() -> None:
    spec = find_dataset("vcsum")
    assert spec.alternative is not None
    hashes = [file.sha256 for entry in (spec, spec.alternative) for file in entry.files[:1] if isinstance(file, PinnedFile)]
    assert len(hashes) == 2
    assert len(set(hashes)) == 1


def test_lcsts_shows_no_task_sentence_and_names_its_four_repeats(mirror: Path) -> None:
    items = items_of("lcsts", mirror)
    assert not items["context"].str.contains(LCSTS_TASK.pattern).any()
    assert items.select("context", "references").is_duplicated().sum() == 8
    assert items["item_id"].n_unique() == 300
    # The dictionary: 137 characters on average, 28 of them the sentence's.
    assert items["context"].str.len_chars().mean() == pytest.approx(137 - 28, abs=1)


def test_cnewsum_keeps_every_character_that_is_not_a_space(mirror: Path) -> None:
    records = records_of("cnewsum", mirror)
    items = items_of("cnewsum", mirror)
    for record, context, references in zip(records, items["context"], items["references"].to_list(), strict=True):
        assert re.sub(r"\s", "", context) == re.sub(r"\s", "", "".join(record.fields["article"]))
        assert re.sub(r"\s", "", references[0]) == re.sub(r"\s", "", record.fields["summary"])
    assert not items["context"].str.contains(r"[\u4e00-\u9fff]\s+[\u4e00-\u9fff]").any()


def test_vcsum_meetings_have_the_lengths_of_the_dictionary(mirror: Path) -> None:
    spec = here("vcsum", mirror)
    assert spec.join_records is not None
    records = spec.join_records(records_of("vcsum", mirror))
    lengths = [sum(len(sentence) for turn in record.fields["context"] for sentence in turn) for record in records]
    assert (min(lengths), max(lengths), sum(lengths) // 26) == (4190, 44043, 13420)
    by_id = {record.fields["id"]: record.fields for record in records}
    # Of these two meetings one segment number is missing: its turns stand in the segment before.
    assert (len(by_id["97"]["speaker"]), len(by_id["110"]["speaker"])) == (81, 28)
