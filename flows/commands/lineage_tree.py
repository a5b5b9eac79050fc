"""Show the graph behind a run or a file as a tree: a graph of hundreds of files as a dozen groups."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.markup import escape
from rich.tree import Tree

from schemas.graph import LineageGraph, LineageNode, SourceName
from schemas.tables.layers import AGGREGATED, LAYERS

ORDER = (*reversed(AGGREGATED), *(name for name in reversed(tuple(LAYERS)) if name not in AGGREGATED))
"""Layers as a person reads them, totals first and items last; any other comes after these."""

SHORT = 8
"""Digits of a hash that are shown."""

REVISION = 12
"""Digits of a source's revision and hash that are shown: enough to look it up."""


@dataclass(frozen=True)
class Grouped:
    """Nodes that are shown as one, what each group is computed from, and which of them was asked for."""

    root: str
    groups: dict[str, list[LineageNode]]
    parents: dict[str, tuple[str, ...]]


def group_nodes(graph: LineageGraph, *, full: bool) -> Grouped:
    """Group nodes that are of one layer, or from one revision of a repository; with `full`, none.

    What was asked for stays alone. Groups' parents are in the order of ORDER.
    """
    names = {node.id: node.id if full or node.id == graph.root else _group_of(node) for node in graph.nodes}
    groups: dict[str, list[LineageNode]] = {}
    for node in graph.nodes:
        groups.setdefault(names[node.id], []).append(node)
    parents: dict[str, set[str]] = {name: set() for name in groups}
    for edge in graph.edges:
        parents[names[edge.target]] |= {names[edge.source]} - {names[edge.target]}
    ordered = {name: tuple(sorted(found, key=lambda one: _position(groups[one][0]))) for name, found in parents.items()}
    return Grouped(graph.root, groups, ordered)


def _group_of(node: LineageNode) -> str:
    if node.kind == "source" and node.source:
        name = node.source
        return f"source:{name.repository or (name.path if name.note else None) or 'bundled'}@{name.revision}"
    return f"{node.kind}:{node.layer}"


def _position(node: LineageNode) -> tuple[int, str, str]:
    place = ORDER.index(node.layer) if node.layer in ORDER else len(ORDER) + (node.kind == "source")
    return place, str(node.layer), node.id


def lineage_tree(found: Grouped) -> Tree:
    """Build the tree: the target at the top, what it is computed from below it; each group is unfolded once."""
    tree = Tree(_line(found.groups[found.root]), highlight=False)
    _grow(tree, found.root, found, {found.root})
    return tree


def _grow(tree: Tree, name: str, found: Grouped, unfolded: set[str]) -> None:
    ids = {node.id for node in found.groups[name]}
    for group in found.groups.values():
        if group[0].rejected_of in ids:
            tree.add(f"{_line(group)} [dim](rows that broke a rule)[/dim]")
    parents = found.parents[name]
    sets = [found.parents[parent] for parent in parents]
    for index, parent in enumerate(parents):
        line = _line(found.groups[parent])
        if not sets[index]:
            tree.add(line)
        elif parent in unfolded:
            tree.add(f"{line} [dim](above)[/dim]")
        elif sets[index] in sets[index + 1 :]:
            # A later sibling has the same parents: they are shown there, and the siblings stay together.
            layers = dict.fromkeys(found.groups[above][0].layer or "sources" for above in sets[index])
            tree.add(f"{line} [dim](from {escape(' and '.join(layers))}, below)[/dim]")
        else:
            unfolded.add(parent)
            _grow(tree.add(line), parent, found, unfolded)


def _line(nodes: Sequence[LineageNode]) -> str:
    first = nodes[0]
    if len(nodes) == 1:
        return _node_line(first)
    if first.kind == "source":
        origin = _origin(first.source) or "files that come with the package"
        return f"[cyan]source[/cyan]  {escape(origin)}  {_counted(len(nodes), 'file')}"
    parts = [f"[bold]{escape(first.layer or _group_of(first))}[/bold]", _counted(len(nodes), "partition")]
    rows = [node.rows for node in nodes if node.rows is not None]
    parts += [_counted(sum(rows), "row")] if rows else []
    parts += dict.fromkeys(part for node in nodes for part in _code(node))
    lost = sum(node.state in {"gone", "damaged"} for node in nodes)
    parts += [f"[red]{lost} gone or damaged[/red]"] if lost else []
    return "  ".join(parts)


def _node_line(node: LineageNode) -> str:
    if node.kind == "source":
        return f"[cyan]source[/cyan]  {escape(_source(node))}  {_dim(f'sha256 {(node.content_sha256 or str())[:REVISION]}')}"
    if node.kind in {"run", "report"}:
        named = node.id.removeprefix("run:")
        parts = [f"[bold]{node.kind}[/bold]", escape(named), _dim(f"sha256 {_short(node.content_sha256)}")]
    elif node.layer is None:
        return f"[red]gone[/red]  a partition with fingerprint {_short(node.fingerprint)} that is not in the lake"
    else:
        place = "/".join(value for _, value in node.place)
        rows = _counted(node.rows, "row") if node.rows is not None else "rows not known"
        hashes = f"fingerprint {_short(node.fingerprint)} content {_short(node.content_sha256)}"
        parts = [f"[bold]{escape(node.layer)}[/bold]", escape(place), rows, _dim(hashes)]
    told = {"gone": "the file is gone", "damaged": "the file cannot be read"}.get(node.state)
    state = [*([f"[red]{told}[/red]"] if told else []), *([] if node.complete else ["incomplete"])]
    return "  ".join([*parts, *_code(node), *state])


def _source(node: LineageNode) -> str:
    """Describe a source file in one line: repository, revision, path."""
    name = node.source
    if name is None:
        return node.id
    path = f"{name.path or 'a file whose name is not known'}{f' ({name.member})' if name.member else ''}"
    origin = _origin(name)
    return f"{f'{origin}: ' if origin else ''}{path}{f' ({name.note})' if name.note else ''}"


def _origin(name: SourceName | None) -> str:
    return f"{name.repository} at {(name.revision or '')[:REVISION]}" if name and name.repository else ""


def _code(node: LineageNode) -> list[str]:
    """Return package version and commit that wrote a node, if they are known."""
    if node.package_version is None:
        return []
    commit = f" @ {node.git_commit[:SHORT]}" if node.git_commit else ""
    return [_dim(f"code {node.package_version}{commit}")]


def _short(digest: str | None) -> str:
    return digest[:SHORT] if digest else "-"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _dim(text: str) -> str:
    return f"[dim]{escape(text)}[/dim]"
