"""Show the graph behind a run or a file as a table: a graph of hundreds of files as a dozen groups."""

from collections import Counter
from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from flows.commands.console import folded, numbers, text_table, unbroken
from schemas.graph import LineageGraph, LineageNode, SourceName
from schemas.tables.layers import AGGREGATED, LAYERS
from tasks.text.number_format import counted

ORDER = (*reversed(AGGREGATED), *(name for name in reversed(tuple(LAYERS)) if name not in AGGREGATED))
"""Layers as a person reads them, totals first and items last; any other comes after these."""

SHOWN_DIGITS = 12
"""Of a hash or a revision: enough to look it up."""


def lineage_table(graph: LineageGraph, *, full: bool) -> Table:
    """Return what was asked for, then everything behind it, each row with what it was computed from.

    Nodes that are of one layer, or from one revision of a repository, are one row; with `full`, each is its own.
    """
    names = {node.id: node.id if full or node.id == graph.root else _group_of(node) for node in graph.nodes}
    groups: dict[str, list[LineageNode]] = {}
    for node in sorted(graph.nodes, key=lambda one: (one.id != graph.root, *_position(one))):
        groups.setdefault(names[node.id], []).append(node)
    above = {(names[edge.target], names[edge.source]) for edge in graph.edges}
    above |= {(names[node.id], names[node.rejected_of]) for node in graph.nodes if node.rejected_of in names}
    hashes = ("Fingerprint", "Content")
    table = text_table(unbroken("What"), folded("Which"), *numbers("Rows"), *hashes, "Code", "State", folded("Computed from"))
    for name, nodes in groups.items():
        parents = (_name(found[0], full=full) for parent, found in groups.items() if (name, parent) in above and parent != name)
        table.add_row(*map(escape, (*_cells(nodes), ", ".join(parents))))
    return table


def _group_of(node: LineageNode) -> str:
    return f"source:{_origin(node.source)}" if node.kind == "source" else f"{node.kind}:{node.layer}"


def _position(node: LineageNode) -> tuple[int, str, str]:
    place = ORDER.index(node.layer) if node.layer in ORDER else len(ORDER) + (node.kind == "source")
    return place, str(node.layer), node.id


def _cells(nodes: Sequence[LineageNode]) -> tuple[str, ...]:
    first, rows = nodes[0], [node.rows for node in nodes if node.rows is not None]
    hashes = (first.fingerprint, first.content_sha256) if len(nodes) == 1 else (None, None)
    code = dict.fromkeys(f"{node.package_version} @ {(node.git_commit or '?')[:8]}" for node in nodes if node.package_version)
    states = Counter(state for node in nodes if (state := _state(node)))
    told = ", ".join(f"{number} {state}" if len(nodes) > 1 else state for state, number in states.items())
    shown = ((digest or "")[:SHOWN_DIGITS] for digest in hashes)
    return (first.layer or first.kind, _which(nodes), f"{sum(rows):,}" if rows else "", *shown, ", ".join(code), told)


def _which(nodes: Sequence[LineageNode]) -> str:
    first = nodes[0]
    if first.kind == "source":
        return f"{_origin(first.source)}: {counted(len(nodes), 'file') if len(nodes) > 1 else _file(first)}"
    if len(nodes) > 1:
        return counted(len(nodes), "partition")
    return "/".join(value for _, value in first.place) if first.kind == "partition" else first.id.removeprefix("run:")


def _state(node: LineageNode) -> str:
    """Return what is wrong with a node; empty if nothing is."""
    return node.state if node.state in ("gone", "damaged") else "" if node.complete else "incomplete"


def _name(node: LineageNode, *, full: bool) -> str:
    """Return how a row is called where something is computed from it: with its hash where several have its name."""
    name, digest = node.layer or node.kind, node.fingerprint or node.content_sha256 or ""
    return f"{name} {digest[:SHOWN_DIGITS]}" if full else name


def _origin(name: SourceName | None) -> str:
    """Return the repository of a source file and its revision."""
    if name is None or not name.repository:
        return "no public repository" if name and name.note else "with the package"
    return f"{name.repository} at {(name.revision or '')[:SHOWN_DIGITS]}"


def _file(node: LineageNode) -> str:
    """Return the path of a source file, with what has to be known about it."""
    name = node.source or SourceName(path=node.id)
    notes = "".join(f" ({note})" for note in (name.member, name.note) if note)
    return f"{name.path or 'a file whose name is not known'}{notes}"
