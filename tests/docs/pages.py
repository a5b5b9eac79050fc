"""Pages of the documentation: their fenced blocks, their links, and the commands they print."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", flags=re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(?<!!)\[[^\]]+\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(?P<text>.+?)\s*$", flags=re.MULTILINE)

NOT_EXECUTED = {
    "background": "runs until Ctrl-C; tests/flows/service/test_serve_running.py starts and stops it",
    "server": "needs a server and a worker that stay; tests/flows/service/test_shared_server.py has both",
    "store": "needs an object store; tests/flows/test_runs_in_a_store.py runs such commands against one",
    "docker": "needs Docker; tests/flows/service/test_shared_server.py runs the services as processes",
    "weights": "installs, or asks the small model; .ci/run does both, and tests/flows/commands/test_demo.py reads the plan",
    "cluster": "needs a cluster; its options are read here, tests/flows/runtime/test_clusters.py runs both kinds",
}
"""Second words of `sh` blocks that are not executed here, and why."""

DOWNLOAD = "download"
"""Second word of `sh` blocks that download files. They are executed where there is a mirror of these."""


class Block(NamedTuple):
    """A fenced block: its language, the word behind it (a file's name, or a key of NOT_EXECUTED), its text."""

    language: str
    word: str
    body: str


def pages() -> list[Path]:
    """README and every page below docs/, and the READMEs that lead there."""
    readmes = ("parquet/README.md", "benchmarks/README.md", "data/bundled/README.md")
    outside = [ROOT / name for name in ("README.md", "README.zh.md", "CONTRIBUTING.md", *readmes)]
    return [*outside, *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path) -> Iterator[Block]:
    for found in FENCE.finditer(page.read_text(encoding="utf-8")):
        language, _, word = found["info"].strip().partition(" ")
        yield Block(language, word, found["body"])


def anchors(page: Path) -> set[str]:
    """What a link may name behind `#`, as GitHub makes it of headings."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = (found["text"].lower() for found in HEADING.finditer(text))
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in headings}
