"""Build the graph behind a run or a file, from manifests and footers."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal

from schemas.errors import LakeError, UsageError
from schemas.graph import LineageEdge, LineageGraph, LineageNode, SourceName
from schemas.lineage import SOURCES, Footer, PartitionRef, RunManifest, by_name
from tasks.lake.finding import REJECTED, Holdings, located, relative
from tasks.lake.lake import Lake
from tasks.lake.manifest import MANIFEST, list_runs, read_manifest, run_folder

RUNS = "runs"
NameSources = Callable[[str, Sequence[str]], Sequence[SourceName]]
"""Names of a dataset's source files, given its id and their hashes; one name for each hash."""


def layer_diagram(partitions: Iterable[tuple[str, int | None]], edges: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Draw layers as a mermaid graph, one line of text at a time.

    Args:
        partitions: layer and rows of each partition; rows may be unknown.
        edges: pairs of layers, the second computed from the first.
    """
    listed = list(partitions)
    rows: Counter[str] = Counter()
    for layer, number in listed:
        rows[layer] += number or 0
    yield "graph TD"
    for layer, count in Counter(layer for layer, _ in listed).items():
        yield f'    {layer}["{layer}<br/>{count} partition{"s" if count > 1 else ""}<br/>{rows[layer]} rows"]'
    yield from (f"    {above} --> {below}" for above, below in sorted(set(edges)))


def diagram_of_run(manifest: RunManifest) -> Iterator[str]:
    """Draw the layers of a run as a mermaid graph."""
    known = by_name(manifest.partitions)
    edges = ((known[one].layer, ref.layer) for ref in manifest.partitions for one in ref.parents if one in known)
    return layer_diagram(((ref.layer, ref.rows) for ref in manifest.partitions), edges)


def diagram_of_graph(graph: LineageGraph) -> Iterator[str]:
    """Draw the layers of a graph as a mermaid graph; source files and a partition of which nothing is known are left out."""
    layers = {node.id: node.layer for node in graph.nodes if node.layer}
    edges = ((layers[one.source], layers[one.target]) for one in graph.edges if {one.source, one.target} <= layers.keys())
    return layer_diagram(((node.layer, node.rows) for node in graph.nodes if node.layer), edges)


@dataclass
class GraphBuilder:
    """Collects nodes and edges, each once."""

    lake: Lake
    name_sources: NameSources
    nodes: dict[str, LineageNode] = field(default_factory=dict)
    edges: dict[LineageEdge, None] = field(default_factory=dict)

    def add(self, node: LineageNode) -> str:
        """Keep a node, and return its id."""
        return self.nodes.setdefault(node.id, node).id

    def link(self, source: str, target: str) -> None:
        """Keep an edge."""
        self.edges[LineageEdge(source=source, target=target)] = None

    def graph(self, root: str, runs: Sequence[str] = ()) -> LineageGraph:
        """Return what was found."""
        return LineageGraph(root=root, nodes=tuple(self.nodes.values()), edges=tuple(self.edges), runs=tuple(runs))


def graph_of_run(lake: Lake, manifest: RunManifest, name_sources: NameSources) -> LineageGraph:
    """Build the graph of everything behind one run: its reports are not, they follow from it.

    Edges to the run come from partitions that no other partition of it is computed from. A partition whose file is gone or
    damaged is a node that says so.

    Args:
        lake: that the run is in.
        manifest: of the run.
        name_sources: names a dataset's source files.
    """
    builder = GraphBuilder(lake, name_sources)
    root = _add_run(builder, manifest)
    return builder.graph(root, [manifest.run])


def graph_of_file(lake: Lake, path: str, name_sources: NameSources) -> LineageGraph:
    """Build the graph of everything behind one file of the lake, and find the runs whose manifests name it.

    Args:
        lake: that the file is in.
        path: of the file, relative to the lake.
        name_sources: names a dataset's source files.

    Raises:
        UsageError: no lineage is kept of such a file.
        LakeError: the manifest of a run cannot be read.
    """
    if path.startswith(f"{RUNS}/"):
        return _graph_of_run_file(lake, path, name_sources)
    if (ref := located(path)) is None:
        raise UsageError(
            "no lineage is kept of this file",
            where=str(lake.root),
            expected="a run, a partition (<layer>/.../<fingerprint>.parquet), or a file of a run's folder",
            got=path,
            next_step="moodflow runs list shows the runs",
        )
    builder, holdings = GraphBuilder(lake, name_sources), Holdings.of(lake.root)
    root = _add_rejected(builder, ref) if ref.layer.endswith(REJECTED) else _add_upstream(builder, [ref], {}, holdings)[0]
    using = list_runs(lake.root, lambda manifest: any(one.path == path for one in manifest.partitions))
    return builder.graph(root, using)


def _graph_of_run_file(lake: Lake, path: str, name_sources: NameSources) -> LineageGraph:
    _, run, name = path.split("/", 2)
    manifest = read_manifest(lake.root, run)
    if name == MANIFEST:
        return graph_of_run(lake, manifest, name_sources)
    builder = GraphBuilder(lake, name_sources)
    run_node = _add_run(builder, manifest)
    report = LineageNode(
        id=path,
        kind="report",
        place=(("run", run),),
        path=path,
        content_sha256=sha256((lake.root / path).read_bytes()).hexdigest(),
        package_version=manifest.package_version,
        git_commit=manifest.git_commit,
    )
    builder.link(run_node, builder.add(report))
    return builder.graph(path, [run])


def _add_run(builder: GraphBuilder, manifest: RunManifest) -> str:
    path = run_folder(builder.lake.root, manifest.run) / MANIFEST
    node = LineageNode(
        id=f"run:{manifest.run}",
        kind="run",
        place=(("benchmark", manifest.benchmark),),
        path=relative(path, builder.lake.root),
        content_sha256=sha256(path.read_bytes()).hexdigest(),
        settings={"plan": manifest.plan, "blueprint_sha256": manifest.blueprint_sha256},
        package_version=manifest.package_version,
        git_commit=manifest.git_commit,
    )
    root, known = builder.add(node), by_name(manifest.partitions)
    listed = _add_upstream(builder, manifest.partitions, known, Holdings.of(builder.lake.root))
    used = {edge.source for edge in builder.edges}
    for last in [one for one in listed if one not in used]:
        builder.link(last, root)
    return root


def _add_upstream(
    builder: GraphBuilder, refs: Iterable[PartitionRef], known: Mapping[str, PartitionRef], holdings: Holdings
) -> list[str]:
    """Add partitions and all they are computed from; return the ids of those that were given."""
    listed = list(refs)
    left, seen = list(listed), {ref.identity for ref in listed}
    while left:
        ref = left.pop()
        footer, state = _read(builder.lake, ref)
        described = footer.partition if footer else ref
        node = builder.add(_partition_node(ref, footer, state))
        _add_sources(builder, node, described, footer)
        if sibling := holdings.rejected.get(ref.fingerprint):
            _add_rejected(builder, sibling, rejected_of=node)
        for parent in described.parents:
            found = known.get(parent) or _held(builder.lake, holdings, parent)
            builder.link(found.path if found else builder.add(_unknown_node(parent)), node)
            if found and parent not in seen:
                seen.add(parent)
                left.append(found)
    return [ref.path for ref in listed]


def _held(lake: Lake, holdings: Holdings, parent: str) -> PartitionRef | None:
    """Return the partition of the lake that another one names so; null if it has other replies by now."""
    found = holdings.find(parent)
    footer = _read(lake, found)[0] if found else None
    return None if footer and parent not in by_name([footer.partition]) else found


def _add_rejected(builder: GraphBuilder, ref: PartitionRef, rejected_of: str | None = None) -> str:
    footer, state = _read(builder.lake, ref)
    node = builder.add(_partition_node(ref, footer, state).model_copy(update={"rejected_of": rejected_of}))
    _add_sources(builder, node, ref, footer)
    return node


def _add_sources(builder: GraphBuilder, node: str, ref: PartitionRef, footer: Footer | None) -> None:
    hashes: list[str] = footer.settings.get(SOURCES, []) if footer else []
    if not hashes:
        return
    for digest, name in zip(hashes, builder.name_sources(ref.key("dataset"), hashes), strict=True):
        place = (("repository", name.repository),) if name.repository else ()
        path = name.path or "unknown"
        source = LineageNode(
            id=f"source:{name.repository or 'own'}/{path}{f'!{name.member}' if name.member else ''}@{digest}",
            kind="source",
            place=place,
            path=path,
            content_sha256=digest,
            state="recorded",
            source=name,
        )
        builder.link(builder.add(source), node)


def _read(lake: Lake, ref: PartitionRef) -> tuple[Footer | None, Literal["present", "gone", "damaged"]]:
    if not lake.path(ref).exists():
        return None, "gone"
    try:
        footer = lake.read_footer(ref)
    except LakeError:
        return None, "damaged"
    return (footer, "present") if footer.partition.fingerprint == ref.fingerprint else (None, "damaged")


def _partition_node(ref: PartitionRef, footer: Footer | None, state: Literal["present", "gone", "damaged"]) -> LineageNode:
    """Return the node of a partition; of a file that cannot be read with what a manifest says, or its name."""
    described = footer.partition if footer else ref
    counted = footer is not None or len(ref.content_sha256) == len(ref.fingerprint)
    more: dict[str, Any] = {}
    if footer:
        more = {"settings": footer.settings, "package_version": footer.package_version, "git_commit": footer.git_commit}
    return LineageNode(
        id=ref.path,
        kind="partition",
        layer=ref.layer,
        place=ref.place,
        path=ref.path,
        rows=described.rows if counted else None,
        content_sha256=described.content_sha256 if counted else None,
        fingerprint=ref.fingerprint,
        state=state,
        complete=ref.complete,
        **more,
    )


def _unknown_node(identity: str) -> LineageNode:
    """Return the node of a parent that is named and nowhere to be found: not even its layer is known."""
    return LineageNode(id=f"partition:{identity}", kind="partition", fingerprint=identity.partition(".")[0], state="gone")
