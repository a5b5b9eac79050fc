"""Show the graph behind a run or a file as a tree: a graph of hundreds of files as a dozen groups."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.markup import escape
from rich.tree import Tree

from schemas.graph import LineageGraph, LineageNode
from schemas.tables.layers import AGGREGATED, LAYERS

ORDER = (*reversed(AGGREGATED), *(name for name in reversed(tuple(LAYERS)) if name not in AGGREGATED))
"""Layers as a person reads them, totals first and items last; any other comes after these."""

SHORT = 8
"""Digits of a hash that are shown."""

REVISION = 12
"""Digits of a source's revision and hash that are shown: enough to look it up."""


@dataclass(frozen=True)
class Group:
    """Nodes that are shown as one."""

    id: str
    nodes: tuple[LineageNode, ...]

    @property
    def first(self) -> LineageNode:
        """Return a node; what all of them have in common, it has too."""
        return self.nodes[0]

    @property
    def rows(self) -> int | None:
        """Return the rows of all its nodes; None if known of none."""
        known = [node.rows for node in self.nodes if node.rows is not None]
        return sum(known) if known else None

    @property
    def versions(self) -> tuple[str, ...]:
        """Return the versions of the code that wrote its nodes."""
        return tuple(dict.fromkeys(version for node in self.nodes if (version := code_version(node))))

    @property
    def lost(self) -> int:
        """Count the nodes whose file is gone or damaged."""
        return sum(node.state in {"gone", "damaged"} for node in self.nodes)


@dataclass(frozen=True)
class Grouped:
    """Groups, what each is computed from, and which of them was asked for."""

    root: str
    groups: dict[str, Group]
    parents: dict[str, tuple[str, ...]]

    def rejected_of(self, name: str) -> list[Group]:
        """Return the groups of rows that partitions of this group rejected."""
        ids = {node.id for node in self.groups[name].nodes}
        return [one for one in self.groups.values() if one.first.rejected_of in ids]


def group_nodes(graph: LineageGraph, *, full: bool) -> Grouped:
    """Group nodes that are of one layer, or from one revision of a repository; with `full`, none.

    What was asked for stays alone. Groups' parents are in the order of ORDER.
    """
    names = {node.id: node.id if full or node.id == graph.root else _group_of(node) for node in graph.nodes}
    members: dict[str, list[LineageNode]] = {}
    for node in graph.nodes:
        members.setdefault(names[node.id], []).append(node)
    parents: dict[str, set[str]] = {name: set() for name in members}
    for edge in graph.edges:
        if names[edge.source] != names[edge.target]:
            parents[names[edge.target]].add(names[edge.source])
    groups = {name: Group(name, tuple(nodes)) for name, nodes in members.items()}
    ordered = {name: tuple(sorted(found, key=lambda one: _position(groups[one]))) for name, found in parents.items()}
    return Grouped(graph.root, groups, ordered)


def _group_of(node: LineageNode) -> str:
    if node.kind == "source" and node.source:
        name = node.source
        return f"source:{name.repository or (name.path if name.note else None) or 'bundled'}@{name.revision}"
    return f"{node.kind}:{node.layer}"


def _position(found: Group) -> tuple[int, str, str]:
    node = found.first
    place = ORDER.index(node.layer) if node.layer in ORDER else len(ORDER) + (node.kind == "source")
    return place, str(node.layer), node.id


def code_version(node: LineageNode) -> str | None:
    """Return package version and commit that wrote a node; None if unknown."""
    if node.package_version is None:
        return None
    return f"{node.package_version} @ {node.git_commit[:SHORT]}" if node.git_commit else node.package_version


def place_name(node: LineageNode) -> str:
    """Return dataset, model, setting, ... of a partition in one word."""
    return "/".join(value for _, value in node.place)


def short(digest: str | None) -> str:
    """Return the first digits of a hash."""
    return digest[:SHORT] if digest else "-"


def counted(number: int, what: str) -> str:
    """Write a number of things in words."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def source_line(node: LineageNode) -> str:
    """Describe a source file in one line: repository, revision, path."""
    name = node.source
    if name is None:
        return node.id
    path = f"{name.path or 'a file whose name is not known'}{f' ({name.member})' if name.member else ''}"
    origin = f"{name.repository} at {(name.revision or '')[:REVISION]}: " if name.repository else ""
    return f"{origin}{path}{f' ({name.note})' if name.note else ''}"


def lineage_tree(found: Grouped) -> Tree:
    """Build the tree: the target at the top, what it is computed from below it; each group is unfolded once."""
    tree = Tree(_line(found.groups[found.root]), highlight=False)
    _grow(tree, found.root, found, {found.root})
    return tree


def _grow(tree: Tree, name: str, found: Grouped, unfolded: set[str]) -> None:
    for rejected in found.rejected_of(name):
        tree.add(f"{_line(rejected)} [dim](rows that broke a rule)[/dim]")
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
            tree.add(f"{line} [dim](from {_names(sets[index], found)}, below)[/dim]")
        else:
            unfolded.add(parent)
            _grow(tree.add(line), parent, found, unfolded)


def _names(names: Sequence[str], found: Grouped) -> str:
    layers = list(dict.fromkeys(found.groups[name].first.layer or "sources" for name in names))
    return escape(" and ".join(layers))


def _line(group: Group) -> str:
    if len(group.nodes) == 1:
        return _node_line(group.first)
    if group.first.kind == "source":
        return _sources_line(group)
    parts = [f"[bold]{escape(group.first.layer or group.id)}[/bold]", counted(len(group.nodes), "partition")]
    parts += [counted(group.rows, "row")] if group.rows is not None else []
    parts += [_dim(f"code {version}") for version in group.versions]
    parts += [f"[red]{group.lost} gone or damaged[/red]"] if group.lost else []
    return "  ".join(parts)


def _sources_line(group: Group) -> str:
    name = group.first.source
    origin = (
        f"{name.repository} at {(name.revision or '')[:REVISION]}"
        if name and name.repository
        else "files that come with the package"
    )
    return f"[cyan]source[/cyan]  {escape(origin)}  {counted(len(group.nodes), 'file')}"


def _node_line(node: LineageNode) -> str:
    if node.kind == "source":
        return f"[cyan]source[/cyan]  {escape(source_line(node))}  {_dim(f'sha256 {(node.content_sha256 or str())[:REVISION]}')}"
    if node.kind in {"run", "report"}:
        named = node.id.removeprefix("run:")
        parts = [f"[bold]{node.kind}[/bold]", escape(named), _dim(f"sha256 {short(node.content_sha256)}")]
    elif node.layer is None:
        return f"[red]gone[/red]  a partition with fingerprint {short(node.fingerprint)} that is not in the lake"
    else:
        parts = _partition_parts(node)
    version = code_version(node)
    return "  ".join([*parts, *([_dim(f"code {version}")] if version else []), *_state(node)])


def _partition_parts(node: LineageNode) -> list[str]:
    rows = counted(node.rows, "row") if node.rows is not None else "rows not known"
    hashes = f"fingerprint {short(node.fingerprint)} content {short(node.content_sha256)}"
    return [f"[bold]{escape(node.layer or '')}[/bold]", escape(place_name(node)), rows, _dim(hashes)]


def _state(node: LineageNode) -> list[str]:
    told = {"gone": "the file is gone", "damaged": "the file cannot be read"}.get(node.state)
    return [*([f"[red]{told}[/red]"] if told else []), *([] if node.complete else ["incomplete"])]


def _dim(text: str) -> str:
    return f"[dim]{escape(text)}[/dim]"
