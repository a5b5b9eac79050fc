"""A graph of hundreds of files as a dozen groups: one per layer, one per source repository."""

from dataclasses import dataclass

from schemas.graph import LineageGraph, LineageNode, ranks

ORDER = (
    "totals",
    "ability_scores",
    "sub_ability_scores",
    "level_scores",
    "task_scores",
    "dataset_scores",
    "normalized_scores",
    "raw_scores",
    "setting_gains",
    "needle_scores",
    "agreements",
    "ablations",
    "item_scores",
    "judgements",
    "responses",
    "retrievals",
    "chunks",
    "contexts",
    "items",
)
"""Layers from the last to the first, as a person reads them; any other comes after these."""

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
        """What all its nodes have in common, it has too."""
        return self.nodes[0]

    @property
    def rows(self) -> int | None:
        """Of all its nodes; None if it is known of none."""
        known = [node.rows for node in self.nodes if node.rows is not None]
        return sum(known) if known else None

    @property
    def versions(self) -> tuple[str, ...]:
        """Code that wrote its nodes."""
        return tuple(dict.fromkeys(version for node in self.nodes if (version := code_version(node))))

    @property
    def lost(self) -> int:
        """Nodes whose file is gone or damaged."""
        return sum(node.state in {"gone", "damaged"} for node in self.nodes)


@dataclass(frozen=True)
class Grouped:
    """Groups, what each is computed from, and which of them was asked for."""

    root: str
    groups: dict[str, Group]
    parents: dict[str, tuple[str, ...]]
    ranks: dict[str, int]
    runs: tuple[str, ...] = ()

    def rejected_of(self, name: str) -> list[Group]:
        """Groups of the rows that partitions of this group refused."""
        ids = {node.id for node in self.groups[name].nodes}
        return [one for one in self.groups.values() if one.first.rejected_of in ids]


def group(graph: LineageGraph, *, full: bool) -> Grouped:
    """Put nodes together that are of one layer, or from one revision of a repository; with `full`, none.

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
    return Grouped(graph.root, groups, ordered, ranks(ordered), graph.runs)


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
    """Package version and commit that wrote a node; None if it is not known."""
    if node.package_version is None:
        return None
    return f"{node.package_version} @ {node.git_commit[:SHORT]}" if node.git_commit else node.package_version


def place_name(node: LineageNode) -> str:
    """Dataset, model, setting, ... of a partition in one word."""
    return "/".join(value for _, value in node.place)


def short(digest: str | None) -> str:
    """The first digits of a hash."""
    return digest[:SHORT] if digest else "-"


def counted(number: int, what: str) -> str:
    """A number of things in words."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def source_line(node: LineageNode) -> str:
    """A source file in one line: where it is from, its revision, path."""
    name = node.source
    if name is None:
        return node.id
    path = f"{name.path or 'a file whose name is not known'}{f' ({name.member})' if name.member else ''}"
    origin = f"{name.repository} at {(name.revision or '')[:REVISION]}: " if name.repository else ""
    return f"{origin}{path}{f' ({name.note})' if name.note else ''}"
