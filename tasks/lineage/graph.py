"""Build the graph behind a run or a file, from manifests and footers."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from schemas.documents.lake import LineageEdge, LineageGraph, LineageNode, NodeState, SourceName
from schemas.errors import LakeError, UsageError
from schemas.lineage import SOURCES, Footer, PartitionRef, RunManifest, by_name
from tasks.lake.lake import Lake
from tasks.lake.manifest import MANIFEST, read_manifest, read_manifests, run_folder
from tasks.lake.partitions import REJECTED, Holdings, located, relative

NameSources = Callable[[str, Sequence[str]], Sequence[SourceName]]
"""Names of a dataset's source files, given its id and their hashes; one name for each hash."""


def layer_diagram(partitions: Iterable[tuple[str, int | None]], edges: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Draw layers as a mermaid graph, one line of text at a time.

    `partitions`: layer and rows of each partition; rows may be unknown. `edges`: pairs of layers, the second computed from the
    first.
    """
    rows = defaultdict[str, list[int]](list)
    for layer, number in partitions:
        rows[layer].append(number or 0)
    yield "graph TD"
    for layer, numbers in rows.items():
        yield f'    {layer}["{layer}<br/>{len(numbers)} partition{"s" if len(numbers) > 1 else ""}<br/>{sum(numbers)} rows"]'
    yield from (f"    {above} --> {below}" for above, below in sorted(set(edges)))


def diagram_of_run(manifest: RunManifest) -> Iterator[str]:
    """Draw the layers of a run as a mermaid graph."""
    refs = by_name(manifest.partitions)
    edges = ((refs[parent].layer, ref.layer) for ref in manifest.partitions for parent in ref.parents if parent in refs)
    return layer_diagram(((ref.layer, ref.rows) for ref in manifest.partitions), edges)


def diagram_of_graph(graph: LineageGraph) -> Iterator[str]:
    """Draw the layers of a graph as a mermaid graph; source files and a partition of which nothing is known are left out."""
    layers = {node.id: node.layer for node in graph.nodes if node.layer}
    edges = ((layers[edge.source], layers[edge.target]) for edge in graph.edges if {edge.source, edge.target} <= layers.keys())
    return layer_diagram(((node.layer, node.rows) for node in graph.nodes if node.layer), edges)


def graph_of_run(lake: Lake, manifest: RunManifest, name_sources: NameSources, file: str | None = None) -> LineageGraph:
    """Build the graph of everything behind one run: its reports are not, they follow from it.

    Edges to the run come from partitions that no other partition of it is computed from. A partition whose file is gone or
    damaged is a node that says so. `file`: one of the run's folder, relative to the lake, to build the graph of this file.
    """
    builder = _GraphBuilder(lake, name_sources)
    root = builder.add_run(manifest)
    if file is not None:
        report = _file_node(lake, manifest, file, id=file, kind="report", place=(("run", manifest.run),))
        builder.link(root, builder.add(report))
        root = file
    return builder.graph(root, [manifest.run])


def graph_of_file(lake: Lake, path: str, name_sources: NameSources) -> LineageGraph:
    """Build the graph of everything behind one file, by its path in the lake, and find the runs whose manifests name it.

    UsageError: no lineage is kept of such a file. LakeError: the manifest of a run cannot be read.
    """
    if path.startswith("runs/"):
        _, run, name = path.split("/", 2)
        return graph_of_run(lake, read_manifest(lake.root, run), name_sources, None if name == MANIFEST else path)
    if (ref := located(path)) is None:
        raise UsageError(
            "this file has no lineage",
            where=str(lake.root),
            expected="a run, a partition (<layer>/.../<fingerprint>.parquet), or a file of a run's folder",
            got=path,
            next_step="moodflow runs list shows the runs",
        )
    builder = _GraphBuilder(lake, name_sources)
    if ref.layer.endswith(REJECTED):
        builder.add_partition(ref)
    else:
        builder.add_upstream([ref], {})
    used_by = (manifest.run for manifest in read_manifests(lake.root) if any(ref.path == path for ref in manifest.partitions))
    return builder.graph(path, tuple(used_by))


class _GraphBuilder:
    """Collects nodes and edges, each once."""

    def __init__(self, lake: Lake, name_sources: NameSources) -> None:
        self._lake = lake
        self._name_sources = name_sources
        self._holdings = Holdings.of(lake.root)
        self._nodes: dict[str, LineageNode] = {}
        self._edges: dict[LineageEdge, None] = {}

    def add(self, node: LineageNode) -> str:
        """Keep a node, and return its id."""
        return self._nodes.setdefault(node.id, node).id

    def link(self, source: str, target: str) -> None:
        """Keep an edge."""
        self._edges[LineageEdge(source=source, target=target)] = None

    def graph(self, root: str, runs: Sequence[str]) -> LineageGraph:
        """Return what was found."""
        return LineageGraph(root=root, nodes=tuple(self._nodes.values()), edges=tuple(self._edges), runs=tuple(runs))

    def add_run(self, manifest: RunManifest) -> str:
        """Add a run and all it is computed from; return its id."""
        path = relative(run_folder(self._lake.root, manifest.run) / MANIFEST, self._lake.root)
        settings = {"plan": manifest.plan, "blueprint_sha256": manifest.blueprint_sha256}
        benchmark = (("benchmark", manifest.benchmark),)
        node = _file_node(self._lake, manifest, path, id=f"run:{manifest.run}", kind="run", place=benchmark, settings=settings)
        root = self.add(node)
        self.add_upstream(manifest.partitions, by_name(manifest.partitions))
        used = {edge.source for edge in self._edges}
        for last in [ref.path for ref in manifest.partitions if ref.path not in used]:
            self.link(last, root)
        return root

    def add_upstream(self, refs: Iterable[PartitionRef], refs_of_run: Mapping[str, PartitionRef]) -> None:
        """Add partitions and all they are computed from; `refs_of_run` has those that a manifest names."""
        left = list(refs)
        seen = {ref.identity for ref in left}
        while left:
            ref = left.pop()
            node, described = self.add_partition(ref)
            if sibling := self._holdings.rejected.get(ref.fingerprint):
                self.add_partition(sibling, rejected_of=node)
            for parent in described.parents:
                held = refs_of_run.get(parent) or self._held(parent)
                # Of a parent that is nowhere to be found not even its layer is known.
                lost = LineageNode(id=f"partition:{parent}", kind="partition", fingerprint=parent.partition(".")[0], state="gone")
                self.link(held.path if held else self.add(lost), node)
                if held and parent not in seen:
                    seen.add(parent)
                    left.append(held)

    def _held(self, parent: str) -> PartitionRef | None:
        """Return the partition of the lake that another one names so; null if it has other replies by now."""
        ref = self._holdings.find(parent)
        footer = _read(self._lake, ref)[0] if ref else None
        return None if footer and parent not in by_name([footer.partition]) else ref

    def add_partition(self, ref: PartitionRef, rejected_of: str | None = None) -> tuple[str, PartitionRef]:
        """Add a partition and its source files; of a file that cannot be read with what a manifest says, or its name."""
        footer, state = _read(self._lake, ref)
        described = footer.partition if footer else ref
        counted = footer is not None or len(ref.content_sha256) == len(ref.fingerprint)
        node = LineageNode(
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
            rejected_of=rejected_of,
            **(footer.model_dump(exclude={"partition"}) if footer else {}),
        )
        self.add(node)
        hashes: list[str] = footer.settings.get(SOURCES, []) if footer else []
        names = self._name_sources(ref.key("dataset"), hashes) if hashes else []
        for digest, name in zip(hashes, names, strict=True):
            self.link(self.add(_source_node(digest, name)), node.id)
        return node.id, described


def _file_node(lake: Lake, manifest: RunManifest, path: str, **more: Any) -> LineageNode:
    return LineageNode(
        path=path,
        content_sha256=sha256((lake.root / path).read_bytes()).hexdigest(),
        package_version=manifest.package_version,
        git_commit=manifest.git_commit,
        **more,
    )


def _source_node(digest: str, name: SourceName) -> LineageNode:
    path = name.path or "unknown"
    return LineageNode(
        id=f"source:{name.repository or 'own'}/{path}{f'!{name.member}' if name.member else ''}@{digest}",
        kind="source",
        place=(("repository", name.repository),) if name.repository else (),
        path=path,
        content_sha256=digest,
        state="recorded",
        source=name,
    )


def _read(lake: Lake, ref: PartitionRef) -> tuple[Footer | None, NodeState]:
    if not lake.path(ref).exists():
        return None, "gone"
    try:
        footer = lake.read_footer(ref)
    except LakeError:
        return None, "damaged"
    return (footer, "present") if footer.partition.fingerprint == ref.fingerprint else (None, "damaged")
