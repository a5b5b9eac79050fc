"""Commands and options that pages name exist: an option of the command on its line, else of any; so do paths of `--set`."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from flows.commands.app import COMMANDS
from flows.commands.plan_fields import find_field, role_names
from schemas.errors import UsageError
from tests.docs.pages import FENCE, blocks, pages
from tests.flows.command import all_commands
from tests.rows import each_row

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
SPAN = re.compile(r"(`+)(.+?)\1", re.DOTALL)
PATH = re.compile(r"--(?:set|vary) +['\"]?([\w.]+)(?==)")
OTHER_PROGRAM = re.compile(r"(pip|uvx?|python|lm_eval|inspect|evalscope|docker|prefect|make|sha256sum|git|\w+\.py) ")
OTHER_PROGRAMS_ROW = re.compile(r"^\| (?:lm-evaluation-harness|Inspect|evalscope|`python [^|]+`) \|.*$", re.MULTILINE)
PLACEHOLDERS = ("PATH", "FIELD", "path", "ROLE")
OF_A_PACKAGE = ("solvers.interview.",)
"""Options of the setting that docs/how-to/own-package.md builds."""

ROOT_OPTIONS = {"--help", "--install-completion", "--version"}


@cache
def options_by_command() -> Mapping[tuple[str, ...], frozenset[str]]:
    return {
        words: frozenset(name for option in command.params for name in (*option.opts, *option.secondary_opts))
        for words, command in all_commands()
    }


def code_of(text: str, bodies: list[str]) -> Iterator[str]:
    """Yield each command line of the code blocks and each code span of the text around them."""
    for body in bodies:
        yield from body.replace("\\\n", " ").splitlines()
    yield from (" ".join(span.group(2).split()) for span in SPAN.finditer(FENCE.sub("", text)))


def allowed_options(code: str) -> frozenset[str]:
    """Return the options of the command that the code gives; those of all commands where it gives none."""
    commands = options_by_command()
    words = re.findall(r"moodflow ((?:[a-z]+ ?){1,2})", code)
    given = [tuple(text.split()) for text in words]
    fitting = [path for path in commands if any(path == part[: len(path)] for part in given)]
    return frozenset().union(*(commands[path] for path in fitting or commands))


def is_plan_path(path: str) -> bool:
    first, _, rest = path.partition(".")
    if rest in ("", "FIELD") and first in (*role_names(), "retrieval", "models"):
        return True
    if path.rpartition(".")[0] in PLACEHOLDERS or path in PLACEHOLDERS or path.startswith(OF_A_PACKAGE):
        return True
    try:
        find_field(path.replace("ROLE.", "judge."), "--set")
    except UsageError:
        return False
    return True


def unknown_in(code: str) -> list[str]:
    """Return the commands, options and paths in one line or span of code that do not exist."""
    unknown = []
    for part in re.split(r" (?:\||&&|;) ", code.removeprefix("$ ")):
        if OTHER_PROGRAM.match(part):
            continue
        allowed = allowed_options(part) | ROOT_OPTIONS
        unknown += [name for name in re.findall(r"(?<!import )\bmoodflow ([a-z]+)", part) if name not in COMMANDS]
        unknown += [name for name in OPTION.findall(part) if name not in allowed]
        if "models check" not in part:
            unknown += [path for path in PATH.findall(part) if not is_plan_path(path)]
    return unknown


@each_row("page", pages())
def test_options_of_page_exist(page: Path) -> None:
    text = OTHER_PROGRAMS_ROW.sub("", page.read_text(encoding="utf-8"))
    bodies = [block.body for block in blocks(page) if block.language in ("", "sh", "yaml")]
    assert {code: unknown for code in code_of(text, bodies) if (unknown := unknown_in(code))} == {}


@each_row(
    ("code", "unknown"),
    [
        ("moodflow run BENCHMARK --model NAME --unsent temperature", ["--unsent"]),
        ("--token-limit max_tokens", ["--token-limit"]),
        ("moodflow gc --dry-run --flips 3", ["--flips"]),
        ("moodflow ablate thinking", ["ablate"]),
        ("--flips 3", []),
        ("moodflow run esc-eval --set solvers.role_play.turns=3 --set too_lang=missing", ["too_lang"]),
        ("--vary retrieval.topk=1,4", ["retrieval.topk"]),
        ("--set judge.sampling.max_tokens=4000 --set folders.stereoset=DIR", []),
        ("docker compose up --build --detach", []),
        ("moodflow journal show --lake DIR && prefect deploy --all", []),
    ],
)
def test_wrong_options_are_found(code: str, unknown: list[str]) -> None:
    assert unknown_in(code) == unknown


def test_spans_and_joined_lines_are_read() -> None:
    text = "Name it with `--first` or ``--second X``.\n```sh\nmoodflow run X \\\n    --third\n```\n"
    body = "moodflow run X \\\n    --third\n"
    assert [OPTION.findall(code) for code in code_of(text, [body])] == [["--third"], ["--first"], ["--second"]]


def test_many_options_are_read() -> None:
    found = [name for page in pages() for code in code_of(page.read_text("utf-8"), []) for name in OPTION.findall(code)]
    assert len(found) > 100
