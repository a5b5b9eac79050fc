"""The graph behind a run or a file as a tree on a terminal."""

from collections.abc import Sequence

from rich.markup import escape
from rich.tree import Tree

from schemas.graph import LineageNode
from tasks.lineage.grouping import REVISION, Group, Grouped, code_version, counted, place_name, short, source_line


def lineage_tree(found: Grouped) -> Tree:
    """What was asked for at the top, what it is computed from below it; each group is unfolded once."""
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
