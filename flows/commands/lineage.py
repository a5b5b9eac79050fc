"""`moodflow lineage`: show what a run or a file of the lake was computed from, up to source files with their hashes."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated

import typer

from flows.commands import options as opt
from flows.commands.console import CommandResult, terminal_table
from schemas.dataset import PinnedFile, SourceFile
from schemas.documents.lake import LineageGraph, LineageNode, SourceName
from schemas.errors import SourceError, UsageError
from schemas.folders import DEFAULT_LAKE, Folder
from schemas.lineage import DatasetNotice, RunManifest
from schemas.printing import printable
from schemas.table import Column, Table, Value
from schemas.tables.layers import AGGREGATED, in_order
from tasks.datasets.catalogue import CATALOGUE
from tasks.lake.lake import Lake
from tasks.lake.manifest import MANIFEST, read_code_version, read_listed, read_manifests, resolve_run, run_folder
from tasks.lake.partitions import Holdings
from tasks.lineage.graph import NameSources, diagram_of_graph, graph_of_file, graph_of_run
from tasks.sources.files import name_source
from tasks.sources.locating import Locator, source_sha256, sources
from tasks.text.number_format import counted

SHOWN_DIGITS = 12
"""Of a hash or a revision: enough to look it up."""

OWN = "own file "
"""Begins what a manifest calls a user's own file."""

OWN_COPY = re.compile(r"(?P<kind>own files, [^:]+): (?P<path>.+?), sha256 (?P<sha256>[0-9a-f]{64})")
"""What a manifest says of a file of the user's folder that no hash shows to be the dataset's own."""

Target = Annotated[
    str,
    typer.Argument(metavar="RUN|FILE", help=f"{opt.HANDLES}; a file of the lake; or 8 or more digits of a fingerprint"),
]
Mermaid = Annotated[bool, typer.Option("--mermaid", help="print the layers as a Mermaid graph")]

app = typer.Typer(add_completion=False)


@app.command()
def lineage(target: Target, lake: opt.LakeFolder = None, mermaid: Mermaid = False, as_json: opt.AsJson = False) -> None:
    """Show what a run or a file was computed from, back to the source files and their hashes."""
    graph = read_graph(lake or DEFAULT_LAKE, target)
    if mermaid and not as_json:
        print(*map(printable, diagram_of_graph(graph)), sep="\n")  # noqa: T201  as it is, to be piped into a file
        return
    used = [f"Used by run {run}" for run in graph.runs] or ["No run uses it."] if not graph.root.startswith("run:") else []
    CommandResult(0, graph, [terminal_table(lineage_table(graph)), *used]).finish(as_json=as_json)


def read_graph(folder: Folder, target: str) -> LineageGraph:
    """Read the graph behind a run or a file of the lake."""
    lake = Lake(folder, read_code_version())
    try:
        manifest = read_listed(folder, resolve_run(folder, target))
    except UsageError as error:
        no_run = error  # it may be a file
    else:
        return graph_of_run(lake, manifest, name_sources([manifest]))
    names = name_sources(reversed(list(read_manifests(folder))))
    if path := _file_in_lake(folder, target):
        is_run = (run_folder(folder, path.removeprefix("runs/")) / MANIFEST).exists() and path.startswith("runs/")
        return graph_of_file(lake, f"{path}/{MANIFEST}" if is_run else path, names)
    if ref := Holdings.of(folder).starting_with(target):
        return graph_of_file(lake, ref.path, names)
    raise UsageError(
        f"{no_run.what}, and no such file in the lake",
        where=str(folder),
        expected=f"a file of the lake, or {no_run.expected}",
        got=no_run.got,
        next_step=no_run.next_step,
    )


def _file_in_lake(folder: Folder, target: str) -> str | None:
    """Return the path of a file relative to the lake, if it is there: given relative to it, to the current folder, or in full.

    Of folders, only those of runs have a lineage.
    """

    def is_kept(path: Folder) -> bool:
        return path.is_file() or (path / MANIFEST).is_file()

    inside = target.removeprefix(f"{folder}/").rstrip("/")
    if inside and not inside.startswith("/") and ".." not in inside.split("/") and is_kept(folder / inside):
        return inside
    given = Path(target).resolve()
    if not isinstance(folder, Path) or not is_kept(given):
        return None
    if given.is_relative_to(folder.resolve()):
        return given.relative_to(folder.resolve()).as_posix()
    raise UsageError(
        "the file is outside the lake",
        where=str(folder),
        expected="a file of this lake",
        got=target,
        next_step="give its lake with --lake DIR",
    )


def lineage_table(graph: LineageGraph) -> Table:
    """Return what was asked for, then everything behind it, each row with what it was computed from.

    Behind a run, nodes that are of one layer, or from one revision of a repository, are one row.
    """
    full = not graph.root.startswith("run:")
    names = {node.id: node.id if full or node.id == graph.root else _group_of(node) for node in graph.nodes}
    groups: dict[str, list[LineageNode]] = {}
    for node in sorted(graph.nodes, key=lambda entry: (entry.id != graph.root, *_position(entry))):
        groups.setdefault(names[node.id], []).append(node)
    above = {(names[edge.target], names[edge.source]) for edge in graph.edges}
    above |= {(names[node.id], names[node.rejected_of]) for node in graph.nodes if node.rejected_of in names}
    rows = []
    for name, nodes in groups.items():
        parents = (_name(group[0], full=full) for parent, group in groups.items() if (name, parent) in above and parent != name)
        rows.append((*_cells(nodes), ", ".join(parents)))
    texts = (Column(title) for title in ("Fingerprint", "Content", "Code", "State", "Computed from"))
    return Table((Column("What", "name"), Column("Which"), Column("Rows", "count"), *texts), rows)


def _group_of(node: LineageNode) -> str:
    return f"source:{_origin(node.source)}" if node.kind == "source" else f"{node.kind}:{node.layer}"


@cache
def _reading_order() -> list[str]:
    """Return the layers as a person reads them, totals first and items last; any other comes after these."""
    return [*reversed(AGGREGATED), *(layer for layer in reversed(in_order()) if layer not in AGGREGATED)]


def _position(node: LineageNode) -> tuple[int, str, str]:
    order = _reading_order()
    index = order.index(node.layer) if node.layer in order else len(order) + (node.kind == "source")
    return index, str(node.layer), node.id


def _cells(nodes: Sequence[LineageNode]) -> tuple[Value, ...]:
    first, rows = nodes[0], [node.rows for node in nodes if node.rows is not None]
    hashes = (first.fingerprint, first.content_sha256) if len(nodes) == 1 else (None, None)
    code = dict.fromkeys(f"{node.package_version} @ {(node.git_commit or '?')[:8]}" for node in nodes if node.package_version)
    states = Counter(state for node in nodes if (state := _state(node)))
    told = ", ".join(f"{number} {state}" if len(nodes) > 1 else state for state, number in states.items())
    digests = ((digest or "")[:SHOWN_DIGITS] for digest in hashes)
    return (first.layer or first.kind, _which(nodes), sum(rows) if rows else "", *digests, ", ".join(code), told)


def _which(nodes: Sequence[LineageNode]) -> str:
    first = nodes[0]
    if first.kind == "source":
        return f"{_origin(first.source)}: {counted(len(nodes), 'file') if len(nodes) > 1 else _file(first)}"
    if len(nodes) > 1:
        return counted(len(nodes), "partition")
    return "/".join(value for _, value in first.place) if first.kind == "partition" else first.id.removeprefix("run:")


def _state(node: LineageNode) -> str:
    return node.state if node.state in ("gone", "damaged") else "" if node.complete else "incomplete"


def _name(node: LineageNode, *, full: bool) -> str:
    """Return how a row is called where something is computed from it: with its hash where several have its name."""
    name, digest = node.layer or node.kind, node.fingerprint or node.content_sha256 or ""
    return f"{name} {digest[:SHOWN_DIGITS]}" if full else name


def _origin(name: SourceName | None) -> str:
    if name is None or not name.repository:
        return "no public repository" if name and name.note else "with the package"
    return f"{name.repository} at {(name.revision or '')[:SHOWN_DIGITS]}"


def _file(node: LineageNode) -> str:
    name = node.source or SourceName(path=node.id)
    notes = "".join(f" ({note})" for note in (name.member, name.note) if note)
    return f"{name.path or 'a file whose name is not known'}{notes}"


def name_sources(manifests: Iterable[RunManifest]) -> NameSources:
    """Return what names source files by the hashes that a partition holds: the catalogue, else what these manifests say."""
    notices, copies = dict[str, DatasetNotice](), dict[tuple[str, str], SourceName]()
    for notice in (notice for manifest in manifests for notice in manifest.datasets):
        notices[notice.id] = notice
        own = (OWN_COPY.match(source) for source in notice.sources)
        copies |= {(notice.id, copy["sha256"]): SourceName(path=copy["path"], note=copy["kind"]) for copy in own if copy}

    def name(dataset: str, hashes: Sequence[str]) -> list[SourceName]:
        noticed = notices.get(dataset)
        is_own = noticed is not None and any(source.startswith(OWN.strip()) for source in noticed.sources)
        for spec in (spec for spec in sources(CATALOGUE.get(dataset)) if len(spec.files) == len(hashes)):
            pairs = zip(spec.files, hashes, strict=True)
            names = [
                copies.get((dataset, digest)) or (_name_file(file) if _may_be(file, digest, unpinned=not is_own) else None)
                for file, digest in pairs
            ]
            if len(sure := [name for name in names if name]) == len(hashes):
                return sure
        return [_name_noticed(noticed, len(hashes))] * len(hashes)

    return name


def _may_be(file: SourceFile, digest: str, *, unpinned: bool) -> bool:
    """Return whether a file has this content; `unpinned`: whether one that no hash pins may have any."""
    if isinstance(file, PinnedFile) and file.sha256 is None:
        return unpinned
    try:
        return source_sha256([file], Locator()) == (digest,)
    except SourceError:
        return False  # it is not here to compare


def _name_file(file: SourceFile) -> SourceName:
    if isinstance(file, PinnedFile):
        return SourceName(repository=file.repository, revision=file.revision, path=file.path, member=file.member)
    return SourceName(path=f"data/bundled/{name_source(file)}")


def _name_noticed(notice: DatasetNotice | None, files: int) -> SourceName:
    if notice is None:
        return SourceName(note="neither the catalogue nor a manifest names it")
    only = notice.sources[0] if len(notice.sources) == 1 else ""
    if only.startswith(OWN.strip()):
        name = only.removeprefix(OWN).partition(", sha256 ")[0] if files == 1 and only.startswith(OWN) else None
        return SourceName(path=name, note="a file of the user's own" if name else only)
    if " at " in only:
        repository, _, revision = only.partition(" at ")
        return SourceName(repository=repository, revision=revision, note="the catalogue names other content now")
    return SourceName(note=f"{' and '.join(notice.sources)}, of which the catalogue names other content now")
