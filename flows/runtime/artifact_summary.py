"""Write the markdown summary of a run for the Prefect UI."""

from collections.abc import Iterator, Mapping
from typing import Any

from schemas.lineage import RunManifest
from tasks.analysis.number_format import counted
from tasks.lineage.graph import diagram_of_run

Lines = Iterator[str]


def summarise(text: str, manifest: RunManifest, links: Mapping[str, str]) -> str:
    """Write the whole page.

    Args:
        text: report.md of the run, its summary on one page.
        manifest: of the run.
        links: addresses by name: the report, which may be a path, then tables.
    """
    sections = (
        [text.rstrip()],
        calls_lines(manifest),
        link_lines(links),
        ["", "## Layers", "", "```mermaid", *diagram_of_run(manifest), "```"],
    )
    return "\n".join(line for section in sections for line in section)


def calls_lines(manifest: RunManifest) -> Lines:
    """Write how often models were called, and what has no score."""
    calls = manifest.calls
    yield from ("", "## Calls", "")
    yield f"{calls.sent} sent, {calls.answered} answered, {calls.from_journal} from the journal, {calls.failed} failed."
    yield from ("", "Whose replies were scored:", "", *map(_whose, manifest.plan.get("models", ())))
    if manifest.missing:
        gaps = len({gap.dataset for gap in manifest.missing})
        yield from ("", f"Without a score, or not of every model or row: {counted(gaps, 'dataset')}; see `failures`.")


def _whose(entry: Mapping[str, Any]) -> str:
    places = dict.fromkeys(entry[name] for name in ("identity", "base_url") if entry.get(name))
    return f"- `{entry['name']}`: {', asked at '.join(f'`{place}`' for place in places)}"


def link_lines(links: Mapping[str, str]) -> Lines:
    """Write where report and tables are."""
    yield from ("", "## Where to look", "")
    for name, address in links.items():
        yield f"- {name}: " + (f"[{address}]({address})" if address.startswith("http") else f"`{address}`")
