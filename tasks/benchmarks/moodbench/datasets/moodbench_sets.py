"""MoodBench1 to MoodBench4, the sets its authors built: per row a situation, a question and lettered options, in Chinese."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from schemas.dataset import DatasetSpec
from schemas.item import Record
from tasks.benchmarks.moodbench.datasets.release import moodbench_file
from tasks.datasets.options import choice, shuffle_options

# Files have no header. These are the columns of those whose names end in _un and _ma, in _re and in _er.
FOUR_OPTION_COLUMNS = ("id", "text", "option_a", "option_b", "option_c", "option_d", "gold", "category", "subcategory")
SIX_OPTION_COLUMNS = (*FOUR_OPTION_COLUMNS[:6], "option_e", "option_f", "gold", "category", "subcategory")
REPLY_COLUMNS = (*FOUR_OPTION_COLUMNS[:7], "code")
# A situation may mention a 问题 of its own: the last line that starts with the word divides.
SITUATION_AND_QUESTION = re.compile(r"(?s)(.+)\n\s*问题[:：]\s*(.+)")


def _divide(record: Record) -> dict[str, str | list[str]]:
    """Divide situation and question, else raise ValueError; replies have no category, and a `code` of unknown meaning."""
    fields = record.fields
    _, situation, question, _ = SITUATION_AND_QUESTION.split(fields["text"].strip())
    name = PurePosixPath(record.file).stem.removesuffix("_er").replace("_", " ")
    subset = f"{fields['category']}: {fields['subcategory']}" if "category" in fields else name
    options = [text for name, text in fields.items() if name.startswith("option_")]
    return {"situation": situation, "question": question, "options": options, "subset": subset}


_SUBTASKS = "emo_ability/PQEmotion/emotional_subtask"
_ASPECTS = ("Context_of_Emotion", "Dynamic_Changes_in_Emotion", "Modes_of_Emotional_Expression", "Sources_of_Emotion")


def _describe(
    number: int, kind: str, files: Sequence[str], columns: tuple[str, ...], *differences: str, shuffled: bool = False
) -> DatasetSpec:
    """Describe a set; of its rows the released code asks 300, all but the first of each file."""
    rows = 300 + len(files)
    letters = "ABCDEF"[: columns.index("gold") - columns.index("option_a")]
    options = {letter: f"{{options[{index}]}}" for index, letter in enumerate(letters)}
    ask = choice("{question}", options, gold="gold", read=_divide, context="{situation}", language="zh", subset="{subset}")
    lost = (
        f"The files have no header; the released code takes the first row of each for one and loses it (300 of {rows} are left)."
    )
    return DatasetSpec(
        id=f"moodbench{number}",
        title=f"MoodBench{number}, {kind}",
        files=tuple(moodbench_file(f"{_SUBTASKS}/{name}.csv") for name in files),
        columns=columns,
        adapter=(lambda record: shuffle_options(ask(record), record)) if shuffled else ask,
        languages=("zh",),
        licence="CC BY-NC-SA 4.0",
        paper="MoodBench 1.0: An Evaluation Benchmark for Emotional Companionship Dialogue Systems, section 4",
        expected_rows=rows,
        differences=(lost, *differences),
    )


MOODBENCH1 = _describe(
    1,
    "emotion recognition",
    [f"{aspect}_re" for aspect in _ASPECTS],
    SIX_OPTION_COLUMNS,
    "Task as in the paper, coarse-grained recognition; the released weights have it at fine-grained recognition.",
)
MOODBENCH2 = _describe(
    2,
    "causes of emotions",
    [f"{aspect}_un" for aspect in _ASPECTS],
    FOUR_OPTION_COLUMNS,
    "Options are shown in an order drawn per item; as released, the right one is A in 214 of 304 rows (70.4 %).",
    "Level low as in the paper; the released weights have it at medium.",
    "38 situations also occur in MoodBench1; the question here names the emotion that is asked for there.",
    shuffled=True,
)
MOODBENCH3 = _describe(
    3,
    "strategy selection",
    ["person_scenarios_ma", "social_scenarios_ma"],
    FOUR_OPTION_COLUMNS,
    "Level high as in the paper; the released weights have it at medium.",
)
MOODBENCH4 = _describe(
    4,
    "empathetic replies",
    ["Emotional_counseling_er", "Psychological_guidance_er"],
    REPLY_COLUMNS,
    "The released code runs these files twice under two names; they count once here, as in the paper.",
)
