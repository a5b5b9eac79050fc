"""The prompt files of long items: versions, hash, and what a broken file says."""

import json
import re
import shutil
from pathlib import Path

import pytest

from schemas.context import ASPECTS
from schemas.errors import UsageError
from tasks.lake.fingerprint import hash_settings
from tasks.solvers.longemotion.prompts import LongEmotionPrompts

PINNED = {
    "ec": ("1", "903f2d181ebe"),
    "ed": ("1", "88e69693e562"),
    "qa": ("1", "8c416525369b"),
    "es": ("1", "ade5f4bc3582"),
    "mc": ("1", "5eb4d1245502"),
    "ee": ("1", "3da5354b6b0c"),
    "sage": ("1", "170eede2740d"),
    "critic": ("1", "ac56b0ce1c22"),
    "search": ("1", "f2403bb75cb5"),
}
"""Version and hash of each file's texts and limit. If a hash changes, so must the version."""


@pytest.mark.parametrize("name", LongEmotionPrompts.model_fields)
def test_a_changed_prompt_gets_a_new_version(name: str) -> None:
    worded = getattr(LongEmotionPrompts.load(), name)
    assert (worded.version, hash_settings(worded.model_dump(exclude={"version"}))[:12]) == PINNED[name]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_replies_are_asked_for_in_the_published_form(language: str) -> None:
    def form(name: str) -> str:
        instruction = getattr(getattr(LongEmotionPrompts.load(), name), language).instruction
        (found,) = re.findall(r"```json\n(.*?)\n```", instruction, re.DOTALL)
        return str(found)

    assert list(json.loads(form("ec"))) == ["Emotion"]
    assert form("ed") == '{"index": n}'
    assert tuple(json.loads(form("es"))) == ASPECTS


def test_texts_are_loaded_once() -> None:
    assert LongEmotionPrompts.load() is LongEmotionPrompts.load()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(LongEmotionPrompts.folder, tmp_path / "prompts"))


def edit(folder: Path, name: str, old: str, new: str) -> None:
    file = folder / f"{name}.yaml"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "old", "new", "same"),
    [
        ("search", "at most {searches} times", "up to {searches} times", False),
        ("sage", 'version: "1"', 'version: "2"', False),
        ("critic", "max_tokens: 24", "max_tokens: 25", False),
        ("qa", "# Emotion QA:", "# QA:", True),
    ],
)
def test_the_hash_follows_the_texts_and_not_the_remarks(folder: Path, name: str, old: str, new: str, *, same: bool) -> None:
    edit(folder, name, old, new)
    assert (LongEmotionPrompts.load(folder).sha256 == LongEmotionPrompts.load().sha256) is same


@pytest.mark.parametrize(
    ("name", "old", "new", "got"),
    [
        ("ec", "    Choices: {options}\n", "", "question: expected the fields ['question', 'options']"),
        ("ed", "{count} segments, one", "segments, one", "segments: expected the fields ['count', 'segments']"),
        ("sage", "entity: {subject}", "entity: {name}", "ec_finentity: expected the fields ['subject', 'piece']"),
        ("ee", "Write more than 3,000 tokens", "Write more than {n} tokens", "length_demand: expected the fields []"),
        ("ee", "    - title: 阶段五：回顾与整合\n", "    - name: 五\n", "title"),
        (
            "es",
            "    symptoms:\n      heading: Symptoms\n",
            "    signs:\n      heading: Symptoms\n",
            "expected the aspects causes",
        ),
        ("critic", "  pack: |-", "  pakc: |-", "pack"),
    ],
)
def test_a_broken_prompt_file_is_told(folder: Path, name: str, old: str, new: str, got: str) -> None:
    edit(folder, name, old, new)
    with pytest.raises(UsageError) as caught:
        LongEmotionPrompts.load(folder)
    assert caught.value.where == str(folder)
    assert got in str(caught.value.got)
