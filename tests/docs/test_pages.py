"""What pages print is so: links lead somewhere, quoted messages are the program's, blocks are executed or say why not."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from flows.commands import stages
from flows.commands.docs import find_page, list_sources
from schemas.metrics import METRICS
from schemas.plan import Plan
from tests.docs.pages import DOWNLOAD, FENCE, LINK, NOT_EXECUTED, ROOT, anchors, blocks, pages
from tests.flows.command import ended
from tests.rows import each_row

EXECUTED = ("README", "docs/operations.md", "docs/how-to", "docs/judges.md", "docs/tutorial.md", "docs/zh/tutorial.md")
SYNOPSES = tuple(
    f"docs/{page}.md" for page in ("batches", "journal", "replies-by-file", "longemotion", "esc-eval", "attunebench")
)
"""Pages whose blocks without a language show the forms of commands, with placeholders."""

OF_THE_READER = ("rubrics/warmth.yaml", "rubrics/friendship.yaml")
"""Files that a page tells its reader to write."""

PLACES = re.compile(r"\\?\{[^{}]*\}")


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@each_row("page", pages())
def test_links_lead_to_files_and_headings(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    dead = []
    for target in (found["target"] for found in LINK.finditer(text)):
        if target.startswith(("http://", "https://")):
            continue
        path, _, anchor = target.partition("#")
        to = (page.parent / path).resolve() if path else page
        if not to.exists() or (anchor and anchor not in anchors(to)):
            dead.append(target)
    assert dead == []


def test_there_are_links_to_check() -> None:
    assert sum(len(LINK.findall(page.read_text(encoding="utf-8"))) for page in pages()) > 30


@each_row("page", pages())
def test_command_is_in_block_that_is_executed(page: Path) -> None:
    """Either the page is executed, or its blocks show forms only."""
    for block in blocks(page):
        if block.language == "sh":
            assert named(page).startswith(EXECUTED)
            assert not block.word or block.word in {DOWNLOAD, *NOT_EXECUTED}
        elif block.language == "" and re.search(r"^moodflow ", block.body, flags=re.MULTILINE):
            assert named(page) in SYNOPSES


@each_row("page", pages())
def test_commands_name_nothing_beside_the_checkout(page: Path) -> None:
    assert [block.body for block in blocks(page) if "../" in block.body and block.language in {"", "sh", "text"}] == []


def test_the_translation_has_the_commands_of_the_readme() -> None:
    assert list(blocks(ROOT / "README.zh.md")) == list(blocks(ROOT / "README.md"))
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 90


def test_every_unexecuted_block_has_reason_and_tests() -> None:
    words = {block.word for page in pages() for block in blocks(page) if block.language == "sh" and block.word}
    assert words == {DOWNLOAD, *NOT_EXECUTED}
    for reason in NOT_EXECUTED.values():
        assert all((ROOT / path).is_file() for path in re.findall(r"tests/\S+\.py", reason))


def test_options_of_commands_that_need_cluster_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Plan] = []
    monkeypatch.setattr(stages, "execute", lambda _stage, plan, **_: made.append(plan))
    commands = [
        line for block in blocks(ROOT / "docs/operations.md") if block.word == "cluster" for line in block.body.splitlines()
    ]
    statuses = [ended(*command.split()[1:]).status for command in commands]
    assert statuses == [0]
    assert [(plan.runner, plan.runner_address) for plan in made] == [("dask", "tcp://10.0.0.5:8786")]


def test_compose_has_what_operations_says_of_it() -> None:
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    services = yaml.safe_load(text)["services"]
    assert set(services) == {"database", "server", "deploy", "worker"}
    assert {"POSTGRES_PASSWORD", "MOODFLOW_AUTH"} == set(re.findall(r"\$\{(\w+):\?", text))
    assert "lake:/work/parquet" in services["worker"]["volumes"]
    assert services["worker"]["env_file"] == [{"path": "models.env", "required": False}]
    assert services["server"]["ports"] == ["127.0.0.1:${MOODFLOW_PORT:-4200}:4200"]
    assert "MOODFLOW_URL" in text
    assert services["deploy"]["command"][0].endswith("&& moodflow automations")
    assert "MOODFLOW_WEBHOOK" in services["deploy"]["environment"]


@pytest.mark.parametrize("command", ["serve", "automations", "verify", "gc", "explain", "lineage", "compare", "leaderboard"])
def test_options_in_tables_and_prose_exist(command: str) -> None:
    """Options that operations.md gives for a command are among those it has."""
    text = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if re.search(rf"`?moodflow {command}\b", line)]
    given = {option for line in lines for option in re.findall(r"--[a-z][a-z-]+", line)}
    known = set(re.findall(r"--[a-z][a-z-]+", ended(command, "--help").out))
    assert given <= known


def symptoms() -> list[str]:
    text = (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8")
    return [found for line in text.splitlines() for found in re.findall(r"^\| `([^`]+)` \|", line)]


def source() -> str:
    """All string parts of the code: neighbouring literals joined, fields of f-strings left open."""
    files = [path for folder in ("flows", "tasks", "schemas") for path in (ROOT / folder).rglob("*.py")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    return PLACES.sub("…", re.sub(r'"\s*\n\s*f?"', "", text))


def test_quoted_messages_are_the_programs_own() -> None:
    code = source()
    assert [message for message in symptoms() if message not in code] == []
    assert len(symptoms()) >= 40


def test_pages_that_messages_name_are_in_checkout() -> None:
    names = set(re.findall(r"moodflow docs ([a-z][a-z/-]*[a-z])", source()))
    assert {"failures", "own-dataset"} <= names
    assert [name for name in names if not find_page(name, list(list_sources()))] == []


@each_row("page", pages())
def test_what_is_to_be_installed_exists(page: Path) -> None:
    """MoodFlow is on no index; `pip install "moodflow[EXTRA]"` adds to an install that is there."""
    assert wrong_installs(page.read_text("utf-8")) == []


def test_installs_that_messages_name_exist() -> None:
    assert wrong_installs(source()) == wrong_installs((ROOT / "action.yml").read_text("utf-8")) == []
    assert wrong_installs("pip install moodflow\npip install 'moodflow[s3]' 'moodflow[gold]'") == ["moodflow", "moodflow[gold]"]


def wrong_installs(text: str) -> list[str]:
    """Return what the text has pip install that it cannot find: MoodFlow by its name alone, or an extra that there is not."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    lines = re.findall(r"pip install ([^`\n]+)", text)
    named = [found for line in lines for found in re.finditer(r"(?<![\w/])moodflow(?:\[([\w,]+)\])?(?![\w/])", line)]
    return [found[0] for found in named if not found[1] or not {*found[1].split(",")} <= extras.keys()]


@each_row("page", pages())
def test_files_that_pages_name_exist(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8")) if named(page) != "docs/methodology.md" else page.read_text("utf-8")
    paths = re.findall(r"(?<![\w/.-])(?:tasks|tests|schemas|data|benchmarks)/[\w/.-]*\w(?:\.py|\.yaml|\.md|\.json)\b", text)
    assert [path for path in paths if not (ROOT / path).is_file() and path not in OF_THE_READER] == []


def test_modules_that_methodology_names_exist() -> None:
    written = (ROOT / "docs/methodology.md").read_text(encoding="utf-8")
    paths = set(re.findall(r"(?<![\w/])(?:\w+/)+\w+\.py", written))
    assert len(paths) >= 30
    assert [path for path in paths if not any((ROOT / folder / path).is_file() for folder in ("", "tasks"))] == []


def test_methodology_has_section_for_every_layer_of_numbers() -> None:
    written = (ROOT / "docs/methodology.md").read_text(encoding="utf-8")
    headings = {word for line in re.findall(r"^## (.+)$", written, flags=re.MULTILINE) for word in re.split(r", | and ", line)}
    layers = set(re.findall(r"^\| (`.+?`) \|", (ROOT / "parquet/README.md").read_text(encoding="utf-8"), flags=re.MULTILINE))
    names = {name for cell in layers for name in re.findall(r"`(\w+)`", cell)}
    assert len(names) >= 18
    assert names <= headings


def test_methodology_has_every_metric() -> None:
    written = (ROOT / "docs/methodology.md").read_text(encoding="utf-8")
    assert [metric for metric in METRICS if f"`{metric}`" not in written] == []


def test_where_change_goes_names_what_exists() -> None:
    rows = re.findall(r"^\| (?!I want|---)(.+) \|$", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), flags=re.MULTILINE)
    code = source()
    assert len(rows) >= 15
    for change, files, version, test in (row.split(" | ") for row in rows):
        paths = re.findall(r"`([a-z]\w*/[^`]+|[a-z][\w.]*)`", f"{files} {test}")
        assert [path for path in paths if not [*ROOT.glob(path.rstrip("/"))]] == [], change
        assert [name for name in re.findall(r"`(\w+_VERSION)`", version) if f"\n{name} = " not in code] == [], change


def test_comparability_has_versions_of_code() -> None:
    written = (ROOT / "docs/comparability.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`\w+_VERSION`.*?) \| (\d+) \|", written, flags=re.MULTILINE)
    stated = {name: version for names, version in rows for name in re.findall(r"`(\w+)`", names)}
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tasks").rglob("*.py")]
    assert stated == dict(found for text in texts for found in re.findall(r'^(\w+_VERSION) = "(\d+)"$', text, re.MULTILINE))


def test_citation_has_version_and_title_of_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    own = {"version": project["version"], "license": project["license"], "abstract": project["description"]}
    assert {name: citation[name] for name in own} == own
    assert f"version = {{{project['version']}}}" in (ROOT / "docs/cite.md").read_text(encoding="utf-8")
