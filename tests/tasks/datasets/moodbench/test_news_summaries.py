"""LCSTS, CNewSum and VCSum: word spaces, task sentence, meetings put together."""

import pytest

from schemas.dataset import PinnedFile
from schemas.item import Record
from tasks.datasets.catalogue import find_dataset
from tasks.datasets.moodbench.summaries import adapt_cnewsum, adapt_lcsts, adapt_vcsum, join_meetings
from tests.tasks.datasets.real_datasets import adapt


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
