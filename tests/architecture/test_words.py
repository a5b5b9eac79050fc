"""General rooms name no benchmark: its words stand in its own room, in data and in the demo."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.commands.app import COMMANDS
from schemas import question_types
from schemas.benchmark import GENERAL, benchmarks
from schemas.question_types import QUESTION_TYPES
from tasks.solvers import plain
from tasks.solvers.registry import SOLVERS
from tests.architecture.test_imports import OURS, ROOT

MAY = ("tasks/benchmarks/", "flows/commands/demo.py")
"""Where benchmarks' words stand; the help of the demo, too, tells what it is about."""

ENGLISH = {"annotate", "annotation"}
"""Words of benchmarks that mean something else elsewhere."""

SHORTEST = 3
"""Letters of a word that tells: `ed` and `es` stand in many."""


def own_words() -> set[str]:
    """Names of benchmarks, and of their settings, helper roles, question types and tasks, from the registries."""
    names = {benchmark.name for _, benchmark in benchmarks() if benchmark is not GENERAL} | {"attune"}
    solvers = [solver for solver in SOLVERS.values() if solver not in plain.SOLVERS]
    types = QUESTION_TYPES.keys() - {row.name for row in question_types.GENERAL}
    roles = {role for solver in solvers for role in solver.roles}
    return names | {solver.setting for solver in solvers} | roles | types | plain.CONTEXT_SOLVERS.keys()


WORDS = sorted(word for word in own_words() - ENGLISH if len(word) >= SHORTEST)
PATTERN = re.compile(
    "|".join(rf"(?<![a-z0-9]){word.replace('_', '[-_ ]?')}(?![a-z0-9])" for word in WORDS if word != "attune") + "|attune",
    re.IGNORECASE,
)


def breaches(root: Path) -> Iterator[str]:
    """Benchmarks' words in modules and templates beneath `root`, as `path: word`."""
    for path in sorted(file for folder in OURS for kind in ("*.py", "*.jinja") for file in (root / folder).rglob(kind)):
        name = path.relative_to(root).as_posix()
        if not name.startswith(MAY):
            text = path.read_text(encoding="utf-8").replace(COMMANDS["demo"][1], "")
            yield from (f"{name}: {match[0]}" for match in PATTERN.finditer(text))


def test_no_general_room_names_a_benchmark() -> None:
    assert list(breaches(ROOT)) == []


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ('"""As LongEmotion has it."""', "LongEmotion"),
        ("ESC_EVAL = 1", "ESC_EVAL"),
        ('if options.setting == "coem":', "coem"),
        ("# of emotion expression", "emotion expression"),
        ("def ask_the_sage(): ...", "sage"),
        ("def is_attuned(): ...", "attune"),
    ],
)
def test_planted_word_is_found(tmp_path: Path, line: str, word: str) -> None:
    module = tmp_path / "tasks" / "metrics" / "planted.py"
    module.parent.mkdir(parents=True)
    module.write_text(f"message = usage = fragment = 1\n{line}\n", encoding="utf-8")
    assert list(breaches(tmp_path)) == [f"tasks/metrics/planted.py: {word}"]


def test_room_of_benchmark_may_name_it(tmp_path: Path) -> None:
    module = tmp_path / "tasks" / "benchmarks" / "planted.py"
    module.parent.mkdir(parents=True)
    module.write_text("LONGEMOTION = 1\n", encoding="utf-8")
    assert list(breaches(tmp_path)) == []


def test_plain_english_words_are_still_benchmarks_words() -> None:
    assert own_words() >= ENGLISH
