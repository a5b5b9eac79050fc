"""The tutorial is executed in order, with the scripted models that it speaks of, and prints what the page shows."""

import re
import shlex
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from tasks.scoring.blueprints import load_blueprint
from tests.docs.pages import HEADING, NOT_EXECUTED, ROOT, blocks
from tests.flows.command import ended
from tests.flows.scripted import policy, reply_in_part
from tests.model_server import ModelServer

PAGE, TRANSLATION = ROOT / "docs" / "tutorial.md", ROOT / "docs" / "zh" / "tutorial.md"
LEFT_OUT = "…"


def joined(text: str) -> str:
    """Return the text on one line, as no width of a terminal breaks it."""
    return " ".join(text.split())


def is_shown_in(output: str, block: str) -> bool:
    """Whether the output has the lines of the block in this order, anything in place of what is left out."""
    parts = [re.escape(joined(part)) for line in block.splitlines() for part in line.split(LEFT_OUT)]
    return re.search(".*?".join(parts), joined(output)) is not None


def test_block_shows_lines_in_order() -> None:
    assert is_shown_in("a  total of\n 3\nnext", "a total of 3\nnext")
    assert is_shown_in("a\nb\nc", "a\n…\nc")
    assert not is_shown_in("a\nb\nc", "c\na")


@pytest.mark.long
@pytest.mark.usefixtures("prefect_server")
def test_commands_print_what_tutorial_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    datasets = tuple(load_blueprint("moodbench-mini").datasets)
    good, bad = policy(datasets, "gold"), policy(datasets, "wrong")
    models = partial(reply_in_part, 75, good, bad), partial(reply_in_part, 85, good, bad), good
    output, shown = "", 0
    with ExitStack() as stack:
        urls = [stack.enter_context(ModelServer(reply)).base_url for reply in models]
        for block in blocks(PAGE):
            if block.language == "sh" and block.word not in NOT_EXECUTED:
                body = block.body.replace("\\\n", "")
                command = re.sub(r"http://localhost:800(\d)/v1", lambda found: urls[int(found[1])], body)
                done = ended(*shlex.split(command)[1:])
                assert done.status == 0, (command, done.err)
                output = done.out
            elif block == ("text", "", block.body):
                shown += 1
                assert is_shown_in(output, block.body), (block.body, output)
    assert shown >= 6


def test_translation_has_blocks_of_tutorial() -> None:
    assert list(blocks(TRANSLATION)) == list(blocks(PAGE))


def test_translated_glossary_has_terms_in_order() -> None:
    terms, translated = (
        HEADING.findall((ROOT / name).read_text("utf-8")) for name in ("docs/glossary.md", "docs/zh/glossary.md")
    )
    sections = ["What is evaluated", "How it is asked", "What is stored", "What a score says", "When a model changes"]
    inside = [re.search(r"（(.+)）$", term) for term in translated[1:]]
    assert [found[1] for found in inside if found] == [term for term in terms[1:] if term not in sections]
