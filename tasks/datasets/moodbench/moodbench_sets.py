"""MoodBench1 to MoodBench4, the sets its authors built: per row a situation, a question and lettered options, in Chinese."""

import re
from functools import partial
from pathlib import PurePosixPath

from schemas.dataset import DatasetSpec
from schemas.item import Item, Record
from tasks.datasets.options import label_item, shuffle_options
from tasks.datasets.pinned_files import moodbench_file

# Files have no header. These are the columns of those whose names end in _un and _ma, in _re and in _er.
FOUR_OPTION_COLUMNS = ("id", "text", "option_a", "option_b", "option_c", "option_d", "gold", "category", "subcategory")
SIX_OPTION_COLUMNS = (*FOUR_OPTION_COLUMNS[:6], "option_e", "option_f", "gold", "category", "subcategory")
REPLY_COLUMNS = (*FOUR_OPTION_COLUMNS[:7], "code")
# A situation may mention a 问题 of its own: the last line that starts with the word divides.
SITUATION_AND_QUESTION = re.compile(r"(?s)(.+)\n\s*问题[:：]\s*(.+)")


def adapt_moodbench(record: Record) -> Item:
    """Situation and question share the cell `text`, divided by 问题:; `gold` is the letter of the right option.

    `subset`: category and subcategory; of replies, which have none, the file. The meaning of their `code` is not documented.
    """
    fields = record.fields
    divided = SITUATION_AND_QUESTION.fullmatch(fields["text"].strip())
    if divided is None:
        raise ValueError("no line of the text starts with 问题:")
    options = {name[-1].upper(): text for name, text in fields.items() if name.startswith("option_")}
    name = PurePosixPath(record.file).stem.removesuffix("_er").replace("_", " ")
    item = label_item(divided[1].strip(), divided[2], options, fields["gold"], language="zh")
    subset = f"{fields['category']}: {fields['subcategory']}" if "category" in fields else name
    return item.model_copy(update={"subset": subset})


def adapt_moodbench_causes(record: Record) -> Item:
    """As `adapt_moodbench`, in an order drawn per item: the release has the right option at A in seven rows of ten."""
    return shuffle_options(adapt_moodbench(record), record)


_SUBTASKS = "emo_ability/PQEmotion/emotional_subtask"
_ASPECTS = ("Context_of_Emotion", "Dynamic_Changes_in_Emotion", "Modes_of_Emotional_Expression", "Sources_of_Emotion")
_choices = partial(
    DatasetSpec,
    languages=("zh",),
    licence="CC BY-NC-SA 4.0",
    paper="MoodBench 1.0: An Evaluation Benchmark for Emotional Companionship Dialogue Systems, section 4",
)

MOODBENCH1 = _choices(
    id="moodbench1",
    title="MoodBench1, emotion recognition",
    files=tuple(moodbench_file(f"{_SUBTASKS}/{aspect}_re.csv") for aspect in _ASPECTS),
    columns=SIX_OPTION_COLUMNS,
    adapter=adapt_moodbench,
    required=SIX_OPTION_COLUMNS,
    expected_rows=304,
    differences=(
        "The files have no header; the released code takes the first row of each for one and loses it (300 of 304 are left).",
        "Task as in the paper, coarse-grained recognition; the released weights have it at fine-grained recognition.",
    ),
)

MOODBENCH2 = _choices(
    id="moodbench2",
    title="MoodBench2, causes of emotions",
    files=tuple(moodbench_file(f"{_SUBTASKS}/{aspect}_un.csv") for aspect in _ASPECTS),
    columns=FOUR_OPTION_COLUMNS,
    adapter=adapt_moodbench_causes,
    required=FOUR_OPTION_COLUMNS,
    expected_rows=304,
    differences=(
        "The files have no header; the released code takes the first row of each for one and loses it (300 of 304 are left).",
        "Options are shown in an order drawn per item; as released, the right one is A in 214 of 304 rows (70.4 %).",
        "Level low as in the paper; the released weights have it at medium.",
        "38 situations also occur in MoodBench1; the question here names the emotion that is asked for there.",
    ),
)

MOODBENCH3 = _choices(
    id="moodbench3",
    title="MoodBench3, strategy selection",
    files=(
        moodbench_file(f"{_SUBTASKS}/person_scenarios_ma.csv"),
        moodbench_file(f"{_SUBTASKS}/social_scenarios_ma.csv"),
    ),
    columns=FOUR_OPTION_COLUMNS,
    adapter=adapt_moodbench,
    required=FOUR_OPTION_COLUMNS,
    expected_rows=302,
    differences=(
        "The files have no header; the released code takes the first row of each for one and loses it (300 of 302 are left).",
        "Level high as in the paper; the released weights have it at medium.",
    ),
)

MOODBENCH4 = _choices(
    id="moodbench4",
    title="MoodBench4, empathetic replies",
    files=(
        moodbench_file(f"{_SUBTASKS}/Emotional_counseling_er.csv"),
        moodbench_file(f"{_SUBTASKS}/Psychological_guidance_er.csv"),
    ),
    columns=REPLY_COLUMNS,
    adapter=adapt_moodbench,
    required=REPLY_COLUMNS,
    expected_rows=302,
    differences=(
        "The files have no header; the released code takes the first row of each for one and loses it (300 of 302 are left).",
        "The released code runs these files twice under two names; they count once here, as in the paper.",
    ),
)
