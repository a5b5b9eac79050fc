"""The graph behind a run or a file, and its diagram."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from schemas.documents.lake import LineageGraph, LineageNode, SourceName
from schemas.errors import UsageError
from schemas.lineage import PartitionKey, PartitionRef
from schemas.tables.scores import TaskScores
from tasks.lake.lake import Lake
from tasks.lake.manifest import write_manifest
from tasks.lake.partitions import Holdings, located, partition_key
from tasks.lineage.graph import diagram_of_graph, diagram_of_run, graph_of_file, graph_of_run
from tests.tasks.lineage.traced_steps import CODE, make_frame
from tests.tasks.reporting.example_run import manifest

HASHES = ["b" * 64, "c" * 64]


def names(_dataset: str, hashes: Sequence[str]) -> list[SourceName]:
    return [SourceName(repository="github.com/o/n", revision="f" * 40, path=f"{digest[0]}.json") for digest in hashes]


def key(layer: str, dataset: str, parents: Sequence[PartitionRef] = (), **settings: object) -> PartitionKey:
    return partition_key(layer, {"dataset": dataset}, settings, [ref.identity for ref in parents], "1")


class Small:
    """Two datasets: items from two files each, replies (of the second incomplete), scores, totals; all of one schema."""

    def __init__(self, root: Path) -> None:
        self.lake = Lake(root, CODE)
        # First, since next to a file with other columns than its layer has, these rows would be those of another file.
        self.lake.write_rejected(key("items", "a", source_sha256=HASHES), make_frame(3))
        self.items = [self.write(key("items", name, source_sha256=HASHES)) for name in ("a", "b")]
        self.replies = [self.write(key("responses", "a", [self.items[0]]))]
        self.replies += [self.write(key("responses", "b", [self.items[1]]), complete=False)]
        self.scores = [
            self.write(key("item_scores", reply.key("dataset"), [reply, item]))
            for reply, item in zip(self.replies, self.items, strict=True)
        ]
        self.abilities = self.write(key("ability_scores", "all", self.scores))
        self.totals = self.write(key("totals", "all", [self.abilities]))
        partitions = (*self.items, *self.replies, *self.scores, self.abilities, self.totals)
        self.manifest = manifest(run="r1", benchmark="small", package_version="1.2.3", git_commit=None, partitions=partitions)
        write_manifest(root, self.manifest)

    def write(self, at: PartitionKey, *, complete: bool = True) -> PartitionRef:
        return self.lake.write(at, make_frame(), TaskScores, complete=complete)

    def of_run(self) -> LineageGraph:
        return graph_of_run(self.lake, self.manifest, names)


@pytest.fixture
def small(tmp_path: Path) -> Small:
    return Small(tmp_path / "lake")


def source(letter: str) -> str:
    return f"source:github.com/o/n/{letter}.json@{letter * 64}"


def node_of(graph: LineageGraph, identity: str) -> LineageNode:
    return next(node for node in graph.nodes if node.id == identity)


def edges(graph: LineageGraph) -> set[tuple[str, str]]:
    return {(edge.source, edge.target) for edge in graph.edges}


def test_a_run_is_traced_to_its_source_files(small: Small) -> None:
    graph = small.of_run()
    rejected = small.items[0].path.replace("items/", "items_rejected/")
    wanted = {(source(letter), ref.path) for letter in "bc" for ref in small.items}
    wanted |= {(source(letter), rejected) for letter in "bc"}
    for item, reply, score in zip(small.items, small.replies, small.scores, strict=True):
        wanted |= {(item.path, reply.path), (reply.path, score.path), (item.path, score.path), (score.path, small.abilities.path)}
    assert edges(graph) == {*wanted, (small.abilities.path, small.totals.path), (small.totals.path, "run:r1")}
    assert node_of(graph, rejected).rejected_of == small.items[0].path
    assert {node.state for node in graph.nodes} == {"present", "recorded"}
    totals = node_of(graph, small.totals.path)
    assert (totals.layer, totals.rows, totals.content_sha256) == ("totals", 2, small.totals.content_sha256)
    assert (totals.package_version, totals.git_commit, totals.settings) == ("1.2.3", "a" * 40, {"evaluation_version": "1"})
    assert node_of(graph, source("b")).content_sha256 == "b" * 64


def test_graph_of_file_has_ancestors_and_runs(small: Small) -> None:
    reply = small.replies[1]
    assert ".incomplete." in reply.path
    graph = graph_of_file(small.lake, reply.path, names)
    assert edges(graph) == {(small.items[1].path, reply.path), *((source(one), small.items[1].path) for one in "bc")}
    assert (graph.root, graph.runs, node_of(graph, reply.path).complete) == (reply.path, ("r1",), False)


def test_rejected_rows_share_sources_without_runs(small: Small) -> None:
    path = small.items[0].path.replace("items/", "items_rejected/")
    graph = graph_of_file(small.lake, path, names)
    assert edges(graph) == {(source(one), path) for one in "bc"}
    assert (node_of(graph, path).rows, graph.runs) == (3, ())


def test_a_report_comes_from_its_run(small: Small) -> None:
    report = Path(str(small.lake.root)) / "runs" / "r1" / "report.html"
    report.write_bytes(b"abc")
    graph = graph_of_file(small.lake, "runs/r1/report.html", names)
    assert ("run:r1", "runs/r1/report.html") in edges(graph)
    assert (node_of(graph, graph.root).content_sha256 or "").startswith("ba7816bf")  # of "abc", FIPS 180
    assert len(graph.nodes) == len(small.of_run().nodes) + 1


def test_lost_parent_is_marked_node(small: Small) -> None:
    small.lake.path(small.items[0]).unlink()
    gone = node_of(small.of_run(), small.items[0].path)
    # The manifest still knows it; its sources were in its footer.
    assert (gone.state, gone.rows, gone.settings) == ("gone", 2, {})
    alone = graph_of_file(small.lake, small.replies[0].path, names)
    unknown = node_of(alone, f"partition:{small.items[0].fingerprint}")
    assert (unknown.state, unknown.layer, unknown.rows) == ("gone", None, None)


def test_damaged_file_is_marked_node(small: Small) -> None:
    Path(str(small.lake.path(small.scores[0]))).write_bytes(b"PAR1 and nothing else")
    graph = small.of_run()
    assert node_of(graph, small.scores[0].path).state == "damaged"
    # What it was computed from is in the manifest.
    assert (small.replies[0].path, small.scores[0].path) in edges(graph)


def test_what_is_no_partition_has_no_lineage(small: Small) -> None:
    with pytest.raises(UsageError, match="this file has no lineage"):
        graph_of_file(small.lake, "journal/replies.sqlite", names)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (f"items/dataset=a%2Fb/{'0' * 64}.parquet", (("dataset", "a/b"),)),
        (f"items/dataset=a/{'0' * 63}.parquet", None),
        (f"items/{'0' * 64}.parquet", ()),
        (f"embeddings/x/{'0' * 64}.parquet", None),
        (".", None),
        ("notes.txt", None),
    ],
)
def test_name_of_file_says_where_it_belongs(path: str, place: tuple[tuple[str, str], ...] | None) -> None:
    found = located(path)
    assert (found.place if found else None) == place


def test_first_digits_of_fingerprint_name_partition(small: Small) -> None:
    holdings = Holdings.of(small.lake.root)
    found = holdings.starting_with(small.totals.fingerprint[:8])
    assert found is not None
    assert found.path == small.totals.path
    assert holdings.starting_with(small.totals.fingerprint[:7]) is None
    one, other = ("0" * 8 + letter * 56 for letter in "ab")
    both = {name: small.totals.model_copy(update={"fingerprint": name}) for name in (one, other)}
    with pytest.raises(UsageError, match="2 partitions match this prefix"):
        Holdings(both).starting_with("0" * 8)


def test_layers_of_run_are_mermaid_graph(small: Small) -> None:
    lines = list(diagram_of_run(small.manifest))
    edges = {("items", "responses"), ("items", "item_scores"), ("responses", "item_scores")}
    edges |= {("item_scores", "ability_scores"), ("ability_scores", "totals")}
    assert lines[0] == "graph TD"
    assert '    items["items<br/>2 partitions<br/>4 rows"]' in lines
    assert '    totals["totals<br/>1 partition<br/>2 rows"]' in lines
    assert [line for line in lines if "-->" in line] == [f"    {above} --> {below}" for above, below in sorted(edges)]
    # The same is found from the files; there, rejected rows are known, too.
    found = list(diagram_of_graph(small.of_run()))
    assert set(found) == {*lines, '    items_rejected["items_rejected<br/>1 partition<br/>3 rows"]'}
    assert list(diagram_of_graph(graph_of_file(small.lake, small.items[0].path, names)))[1:2] == [
        '    items["items<br/>1 partition<br/>2 rows"]'
    ]
