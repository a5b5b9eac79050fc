"""The very text that is sent."""

import shutil
from pathlib import Path

import pytest

from schemas.api_capabilities import Sampling
from schemas.chat import EMBEDDED_MODEL, ModelEntry
from schemas.errors import UsageError
from schemas.item import Item
from schemas.question_types import QuestionType
from tasks.lake.fingerprint import hash_settings
from tasks.solvers.base import UnsentCalls
from tasks.solvers.prompts import PROMPTED, PROMPTS, Prompts, build_messages
from tests.tasks.solvers.asking import ask_item

SINGLE = Item(
    language="en",
    question_type="single_choice",
    context="Ada lost her umbrella {again}.",
    question="How does Ada feel?",
    options=("Glad", "Annoyed"),
)
SINGLE_TEXT = """Text:
Ada lost her umbrella {again}.

Question: How does Ada feel?
A. Glad
B. Annoyed

Reply with the letter of the right option only."""

UMBRELLA = Item(
    language="zh", question_type="single_choice", context="小安丢了雨伞。", question="小安有什么感受？", options=("高兴", "恼火")
)
UMBRELLA_TEXT = """文本：
小安丢了雨伞。

问题：小安有什么感受？
A. 高兴
B. 恼火

请只回答正确选项的字母。"""

PINNED = {
    "single_choice": ("1", "fa7d65f10bdc"),
    "multiple_answer": ("1", "094b0e00f847"),
    "extractive": ("2", "8afb26c5e500"),
    "open_ended": ("1", "34690a52a1e6"),
    "ordered_recall": ("1", "36fe6413b3d7"),
    "ranking": ("2", "f24a2185f2a6"),
    "questionnaire": ("1", "e084d82e95a9"),
    "judged_summary": ("1", "3d90a5857d20"),
}
"""Version and hash of each prompt file's texts and limit. If a hash changes, so must the version."""


@pytest.mark.parametrize(("item", "text"), [(SINGLE, SINGLE_TEXT), (UMBRELLA, UMBRELLA_TEXT)])
def test_an_item_is_one_user_message(item: Item, text: str) -> None:
    messages = build_messages(item, Prompts.load())
    assert [(message.role, message.content) for message in messages] == [("user", text)]


@pytest.mark.parametrize("question_type", PROMPTED)
def test_a_changed_prompt_gets_a_new_version(question_type: QuestionType) -> None:
    prompt = Prompts.load().by_type[question_type]
    assert (prompt.version, hash_settings(prompt.model_dump(exclude={"version"}, exclude_none=True))[:12]) == PINNED[
        question_type
    ]


@pytest.mark.parametrize("context", [None, ""])
def test_without_a_context_its_block_is_left_out(context: str | None) -> None:
    (message,) = build_messages(SINGLE.model_copy(update={"context": context}), Prompts.load())
    assert message.content == SINGLE_TEXT.partition("\n\n")[2]


def test_letters_go_on_after_z() -> None:
    options = tuple(f"feeling {number}" for number in range(28))
    (message,) = build_messages(SINGLE.model_copy(update={"options": options}), Prompts.load())
    lines = message.content.splitlines()
    start = lines.index("A. feeling 0")
    assert lines[start + 25 : start + 28] == ["Z. feeling 25", "AA. feeling 26", "AB. feeling 27"]


async def sampling_of(entry: ModelEntry) -> Sampling:
    return (await ask_item(SINGLE, entry, UnsentCalls())).request.sampling


async def test_the_limit_of_the_prompt_holds_for_the_embedded_model_only() -> None:
    assert Prompts.load().by_type["single_choice"].max_tokens == 16
    sampling = Sampling(max_tokens=4096, temperature=0.5, seed=3)
    embedded = ModelEntry(name=EMBEDDED_MODEL, sampling=sampling)
    served = ModelEntry(name="listener", base_url="http://localhost/v1", sampling=sampling)
    assert await sampling_of(embedded) == Sampling(max_tokens=16, temperature=0.5, seed=3)
    assert await sampling_of(served) == sampling


async def test_an_entry_may_ask_the_embedded_model_for_less() -> None:
    assert (await sampling_of(ModelEntry(name=EMBEDDED_MODEL, sampling=Sampling(max_tokens=4)))).max_tokens == 4


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(PROMPTS, tmp_path / "prompts"))


def edit(folder: Path, old: str, new: str) -> None:
    file = folder / "single_choice.yaml"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("right option only", "best option only", False),
        ('version: "1"', 'version: "2"', False),
        ("max_tokens: 16", "max_tokens: 17", False),
        ("# One right option.", "# Another remark.", True),
    ],
)
def test_the_hash_follows_the_texts_and_not_the_remarks(folder: Path, old: str, new: str, *, same: bool) -> None:
    edit(folder, old, new)
    assert (Prompts.load(folder).sha256 == Prompts.load().sha256) is same


@pytest.mark.parametrize(
    ("old", "new", "got"),
    [
        ("    {options}\n", "", "expected the fields ['question', 'options']"),
        ("{context}", "{contxt}", "expected the fields ['context']"),
        ("right option only.", "right option of {n} only.", "expected the fields []"),
        ("max_tokens: 16", "max_tokens: 0", "greater than or equal to 1"),
        ("en:", "en: [", "while scanning"),
    ],
)
def test_a_broken_prompt_file_is_told(folder: Path, old: str, new: str, got: str) -> None:
    edit(folder, old, new)
    with pytest.raises(UsageError) as caught:
        Prompts.load(folder)
    assert caught.value.where == str(folder)
    assert got in str(caught.value.got)


def test_a_missing_prompt_file_is_told(folder: Path) -> None:
    (folder / "ranking.yaml").unlink()
    with pytest.raises(UsageError, match=r"ranking\.yaml"):
        Prompts.load(folder)
