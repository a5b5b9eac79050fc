"""The very text that is sent, and the prompt files of every kind: versions, hash, and what a broken file says."""

from pathlib import Path
from typing import Any

import pytest

from schemas.api_capabilities import Sampling
from schemas.chat import EMBEDDED_MODEL, ModelEntry
from schemas.errors import UsageError
from schemas.item import Item
from schemas.json_yaml import read_yaml
from tasks.benchmarks.attunebench.annotate import AnnotatePrompts
from tasks.benchmarks.esc_eval.role_play import RolePlayPrompts
from tasks.benchmarks.longemotion.solvers.prompts import LongEmotionPrompts
from tasks.lake.partitions import hash_settings
from tasks.solvers.forecast import UnsentCalls
from tasks.solvers.prompts import PROMPTS, PromptFolder, Prompts, build_messages, prompted_types
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
    "longemotion/ec": ("1", "903f2d181ebe"),
    "longemotion/ed": ("1", "88e69693e562"),
    "longemotion/qa": ("1", "8c416525369b"),
    "longemotion/es": ("1", "ade5f4bc3582"),
    "longemotion/mc": ("1", "5eb4d1245502"),
    "longemotion/ee": ("1", "3da5354b6b0c"),
    "longemotion/sage": ("1", "170eede2740d"),
    "longemotion/critic": ("1", "ac56b0ce1c22"),
    "longemotion/search": ("1", "f2403bb75cb5"),
    "role_play/seeker": ("1", "67226f27e076"),
    "annotate/calls": ("1", "3db2c7e0913d"),
}
"""Version and hash of each prompt file's texts and limit. If a hash changes, so must the version."""


@pytest.mark.parametrize(("item", "text"), [(SINGLE, SINGLE_TEXT), (UMBRELLA, UMBRELLA_TEXT)])
def test_an_item_is_one_user_message(item: Item, text: str) -> None:
    messages = build_messages(item, Prompts.load())
    assert [(message.role, message.content) for message in messages] == [("user", text)]


def test_a_changed_prompt_gets_a_new_version() -> None:
    by_type, long = Prompts.load().by_type, LongEmotionPrompts.load()
    files: dict[str, Any] = {name: by_type[name] for name in prompted_types()}
    files |= {f"longemotion/{name}": getattr(long, name) for name in LongEmotionPrompts.model_fields}
    files["role_play/seeker"] = RolePlayPrompts.load().seeker
    files["annotate/calls"] = AnnotatePrompts.load().calls
    texts = {name: file.model_dump(exclude={"version"}, exclude_none=True) for name, file in files.items()}
    assert {name: (file.version, hash_settings(texts[name])[:12]) for name, file in files.items()} == PINNED


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


async def test_limit_of_prompt_holds_for_embedded_model_only() -> None:
    assert Prompts.load().by_type["single_choice"].max_tokens == 16
    sampling = Sampling(max_tokens=4096, temperature=0.5, seed=3)
    embedded = ModelEntry(name=EMBEDDED_MODEL, sampling=sampling)
    served = ModelEntry(name="listener", base_url="http://localhost/v1", sampling=sampling)
    assert await sampling_of(embedded) == Sampling(max_tokens=16, temperature=0.5, seed=3)
    assert await sampling_of(served) == sampling
    # An entry may ask for less.
    assert (await sampling_of(ModelEntry(name=EMBEDDED_MODEL, sampling=Sampling(max_tokens=4)))).max_tokens == 4


def edited(name: str, old: str, new: str) -> dict[str, Any]:
    """A prompt file of ours, changed, as a blueprint's own."""
    text = (PROMPTS / f"{name}.yaml").read_text(encoding="utf-8")
    assert old in text
    return {name: read_yaml(text.replace(old, new))}


@pytest.mark.parametrize(
    ("kind", "name", "old", "new", "same"),
    [
        (Prompts, "single_choice", "right option only", "best option only", False),
        (Prompts, "single_choice", 'version: "1"', 'version: "2"', False),
        (Prompts, "single_choice", "max_tokens: 16", "max_tokens: 17", False),
        (Prompts, "single_choice", "# One right option.", "# Another remark.", True),
        (LongEmotionPrompts, "longemotion/search", "at most {searches} times", "up to {searches} times", False),
        (LongEmotionPrompts, "longemotion/qa", "# Emotion QA:", "# QA:", True),
    ],
)
def test_hash_follows_texts_and_not_remarks(kind: type[PromptFolder], name: str, old: str, new: str, *, same: bool) -> None:
    assert (kind.load(edited(name, old, new)).sha256 == kind.load().sha256) is same


@pytest.mark.parametrize(
    ("kind", "name", "old", "new", "got"),
    [
        (Prompts, "single_choice", "    {options}\n", "", "expected the fields ['question', 'options']"),
        (Prompts, "single_choice", "{context}", "{contxt}", "expected the fields ['context']"),
        (Prompts, "single_choice", "right option only.", "right option of {n} only.", "expected the fields []"),
        (Prompts, "single_choice", "max_tokens: 16", "max_tokens: 0", "greater than or equal to 1"),
        (
            LongEmotionPrompts,
            "longemotion/ec",
            "    Choices: {options}\n",
            "",
            "question: expected the fields ['question', 'options']",
        ),
        (
            LongEmotionPrompts,
            "longemotion/sage",
            "entity: {subject}",
            "entity: {name}",
            "expected the fields ['subject', 'piece']",
        ),
        (
            LongEmotionPrompts,
            "longemotion/ee",
            "Write more than 3,000 tokens",
            "Write {n} tokens",
            "length_demand: expected the fields []",
        ),
        (
            LongEmotionPrompts,
            "longemotion/es",
            "    symptoms:\n      heading: S",
            "    signs:\n      heading: S",
            "expected the aspects causes",
        ),
        (LongEmotionPrompts, "longemotion/critic", "  pack: |-", "  pakc: |-", "pack"),
    ],
)
def test_a_broken_prompt_file_is_told(kind: type[PromptFolder], name: str, old: str, new: str, got: str) -> None:
    with pytest.raises(UsageError, match="the prompt files cannot be used") as caught:
        kind.load(edited(name, old, new))
    assert got in str(caught.value.got)


@pytest.mark.parametrize(
    "field",
    [
        "{question.__class__}",
        "{question[0]}",
        "{question!r}",
        "{question:>9}",
        "{question:{options.__class__}}",
        "{0}",
        "{{question}}",
    ],
)
@pytest.mark.parametrize(("kind", "name"), [(Prompts, "single_choice"), (LongEmotionPrompts, "longemotion/ec")])
def test_a_field_is_a_name_alone(kind: type[PromptFolder], name: str, field: str) -> None:
    with pytest.raises(UsageError, match=rf"(?s){name}\.yaml.*question.*other braces doubled") as caught:
        kind.load(edited(name, "{question}", field))
    assert field in str(caught.value.got) or field == "{{question}}"  # which is the text {question}, and no field


@pytest.mark.parametrize(
    "instruction", ["Fill in {question.text}.", "Fill in { Question }.", "It is {0.__class__}.", "Of {{question}}."]
)
def test_a_text_without_fields_has_none(instruction: str) -> None:
    with pytest.raises(UsageError, match=r"instruction: expected the fields \[\], since nothing is put into this text"):
        Prompts.load(edited("single_choice", "Reply with the letter of the right option only.", instruction))


@pytest.mark.parametrize(
    ("instruction", "sent"),
    [
        ('Reply {"answer": {"letter": "A"}}, or {}.', 'Reply {"answer": {"letter": "A"}}, or {}.'),
        ('Reply {{"answer": {{"letter": "A"}}}}, or {{}}.', 'Reply {"answer": {"letter": "A"}}, or {}.'),
    ],
)
def test_braces_of_json_are_literal(instruction: str, sent: str) -> None:
    file = edited("single_choice", "Reply with the letter of the right option only.", instruction)["single_choice"]
    file["en"]["question"] = '{{"q": 1}}\n{options}\n{question}'
    (message,) = build_messages(SINGLE, Prompts.load({"single_choice": file}))
    shown = 'Text:\nAda lost her umbrella {again}.\n\n{"q": 1}\nA. Glad\nB. Annoyed\nHow does Ada feel?'
    assert message.content == f"{shown}\n\n{sent}"


def test_files_are_read_once_and_missing_reported(tmp_path: Path) -> None:
    class Elsewhere(RolePlayPrompts):
        folder = tmp_path

    assert Prompts.load() is Prompts.load()
    with pytest.raises(UsageError, match=r"seeker\.yaml"):
        Elsewhere.load()
