"""Reference pages of the command line: one per group of commands, and one of the variables of the environment."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import typer

from docs.generate import reference_documents
from docs.generate.markdown import block, joined, table, toctree, write_page
from docs.generate.reference_text import code, facts, prose, row_name, sentence, slug, texts_below
from flows.commands.app import COMMANDS, load_command, overview
from flows.commands.plan_options import ENVIRONMENT
from schemas.documents.document import DOCUMENTS
from schemas.plan import Plan
from tasks.models.capabilities.providers import load_providers

ROOT = Path(__file__).resolve().parents[2]
VALUES = {"<int>": "N", "<int range>": "N", "<float>": "X", "<float range>": "X"}
"""What stands for the value of an option that says nothing else."""

VARIABLE = re.compile(r"MOODFLOW_[A-Z_]+")


def leaves(command: Any, *path: str) -> Iterator[tuple[str, Any]]:
    """Yield the words and the object of every command that has none below it."""
    for name, inner in getattr(command, "commands", {}).items():
        yield from leaves(inner, *path, name)
    if not hasattr(command, "commands"):
        yield " ".join(path), command


@cache
def commands() -> Mapping[str, tuple[Any, str]]:
    """Return every command by its words, with the group that it belongs to."""
    return {words: (leaf, COMMANDS[name][2]) for name in COMMANDS for words, leaf in leaves(load_command(name), name)}


def page_of(group: str) -> str:
    """Return the name of the page of a group of commands, without suffix."""
    return group.lower()


def write(folder: Path) -> None:
    """Write the pages of the command line into a folder of their own."""
    groups = list(dict.fromkeys(group for *_, group in COMMANDS.values()))
    for group in groups:
        text = joined(f"# {group}", *(command_section(words) for words, (_, of) in commands().items() if of == group))
        write_page(folder / f"{page_of(group)}.md", text)
    write_page(folder / "environment.md", environment_page())
    write_page(folder / "index.md", index_page(groups))


def index_page(groups: list[str]) -> str:
    """Return the page that lists all commands, by group, and says what their exit statuses mean."""
    says, _, statuses = str(overview.__doc__).partition("Exit status: ")
    rows = [part.strip(" .\n").partition(" ") for part in statuses.split(",")]
    tables = []
    for group in groups:
        listed = [(words, leaf) for words, (leaf, of) in commands().items() if of == group]
        links = [
            (f"[{code(words)}]({page_of(group)}.md#{slug(f'moodflow {words}')})", first_line(leaf)) for words, leaf in listed
        ]
        tables.append(joined(f"## {group}", table(("Command", "What it does"), links)))
    return joined(
        "# Command line",
        sentence(says.strip()),
        *tables,
        "## Exit statuses",
        table(("Status", "Meaning"), [(row_name(status, "exit status"), prose(meaning)) for status, _, meaning in rows]),
        "## Options of every command",
        "`--help` (`-h`) explains a command. `moodflow --version` prints the version; `moodflow --install-completion` "
        "installs the completion of commands, options and paths of `--set` in the shell.",
        toctree([*map(page_of, groups), "environment"]),
    )


def first_line(command: Any) -> str:
    """Return the sentence that the help of a command begins with."""
    return prose(str(command.help).partition("\n\n")[0])


def command_section(words: str) -> str:
    """Return what is to be known of a command: its help, usage, arguments and options, and the document that it prints."""
    command, _ = commands()[words]
    context = typer.Context(command, info_name=f"moodflow {words}")
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option" and not each.hidden]
    document = f"[{code(words)}](../documents/{reference_documents.page_of(words)}.md)" if words in DOCUMENTS else ""
    return joined(
        f"## {code(f'moodflow {words}')}",
        *map(prose, str(command.help).split("\n\n")),
        block("text", usage(command, context)),
        table(("Argument", "Required", "What it is"), [argument_row(words, each) for each in arguments]),
        table(("Option", "What it does"), [option_row(words, each, context) for each in options]),
        facts(("Document of `--json`", document), ("Exit status", "[0, 1, 2 or 130](index.md#exit-statuses)")),
    )


def usage(command: Any, context: Any) -> str:
    """Return how a command is written, as its help shows it."""
    return (
        str(command.get_usage(context))
        .removeprefix("Usage: ")
        .replace("{", "")
        .replace("}", "")
        .replace("[[", "[")
        .replace("]]", "]")
    )


def argument_row(words: str, argument: Any) -> tuple[str, ...]:
    """Return the row of an argument, with an anchor such as compare-before."""
    shown = str(argument.metavar or argument.name).strip("[]{}")
    return row_name(argument.name, words, shown=shown), "yes" if argument.required else "", prose(argument.help or "")


def option_row(words: str, option: Any, context: Any) -> tuple[str, ...]:
    """Return the row of an option, with an anchor such as run-dry-run."""
    names: list[str] = [*option.opts, *option.secondary_opts]
    kind = str(option.display_type(context))
    value = option.metavar or ("" if kind == "<bool>" else VALUES.get(kind, "TEXT"))
    shown = [row_name(names[0], words, shown=f"{names[0]} {value}".strip()), *map(code, names[1:])]
    default = option.get_default(context)
    usual = "" if default in (None, False, (), []) else f"default {code('on' if default is True else default)}"
    variable = f"or the variable {code(option.envvar)}" if option.envvar else ""
    return ", ".join(shown), "; ".join(filter(None, (prose(option.help or ""), usual, variable)))


def environment_page() -> str:
    """Return the page of the variables of the environment."""
    rows = [(row_name(name), prose(says)) for name, says in sorted(variables().items())]
    keys = [(code(provider.api_key_env), prose(provider.title)) for provider in load_providers() if provider.api_key_env]
    return joined(
        "# Environment variables",
        "An option wins over its variable. Prefect, OpenLineage, the clients of object stores and proxies have variables of "
        "their own, which hold as their documentation says.",
        table(("Variable", "What it says"), rows),
        "## Keys of providers",
        "A key is named by `--api-key-env NAME` or `api_key_env` of a model's entry, never given. These are the usual names:",
        table(("Variable", "Provider"), keys),
    )


@cache
def variables() -> Mapping[str, str]:
    """Return what each variable of ours is for: of `compose.yaml`, of an option, of a field of the plan, or of the code."""
    served = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    said = {
        name: f"of `compose.yaml`: {says}" for name, says in re.findall(r"^# +(MOODFLOW_[A-Z]+): (.+)$", served, re.MULTILINE)
    }
    for words, (command, _) in commands().items():
        of_options = {option.envvar: option for option in command.params if getattr(option, "envvar", None)}
        said |= {name: f"as {option.opts[0]} of `moodflow {words}`: {option.help}" for name, option in of_options.items()}
    fields = {name: f"as {path} of a plan: {Plan.model_fields[path].description}" for name, path in ENVIRONMENT.items()}
    return said | fields | dict(described_constants())


def described_constants() -> Iterator[tuple[str, str]]:
    """Yield the variables that constants of the code name, with the text below each."""
    for path in sorted(path for room in ("flows", "tasks", "schemas") for path in (ROOT / room).rglob("*.py")):
        if VARIABLE.search(path.read_text(encoding="utf-8")):
            for value, says in texts_below(str(path)).values():
                if isinstance(value, str) and VARIABLE.fullmatch(value):
                    yield value, says.removeprefix("Environment variable: ")
