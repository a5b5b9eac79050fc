"""`moodflow lineage`: show what a run or a file of the lake was computed from, up to source files with their hashes."""

from pathlib import Path
from typing import Annotated

import typer

from flows.commands import options as opt
from flows.commands.console import print_json, terminal
from schemas.errors import UsageError
from schemas.folders import DEFAULT_LAKE, Folder
from schemas.graph import LineageGraph
from schemas.printing import printable

Target = Annotated[
    str,
    typer.Argument(metavar="RUN|FILE", help="a run, a file of the lake, or 8 or more first digits of a partition's fingerprint"),
]
Mermaid = Annotated[bool, typer.Option("--mermaid", help="print the layers as a mermaid graph")]
Full = Annotated[bool, typer.Option("--full", help="show each partition of a run, not one line per layer")]


def lineage(
    target: Target, lake: opt.LakeFolder = None, mermaid: Mermaid = False, full: Full = False, as_json: opt.AsJson = False
) -> None:
    """Show what a run or a file was computed from, up to source files and their hashes."""
    from flows.commands.lineage_table import lineage_table  # noqa: PLC0415
    from tasks.lineage.graph import diagram_of_graph  # noqa: PLC0415

    graph = read_graph(lake or DEFAULT_LAKE, target)
    if as_json:
        print_json(graph.model_dump(mode="json", by_alias=True))
        return
    if mermaid:
        print(*map(printable, diagram_of_graph(graph)), sep="\n")  # noqa: T201  as it is, to be piped into a file
        return
    of_file = not graph.root.startswith("run:")
    used = [f"Used by run {run}" for run in graph.runs] or ["No run uses it."]
    terminal().print(lineage_table(graph, full=full or of_file), *(used if of_file else []), sep="\n")


def read_graph(folder: Folder, target: str) -> LineageGraph:
    """Read the graph behind a run or a file of the lake.

    Raises:
        UsageError: the lake holds nothing of that name, or the file is outside the lake.
        LakeError: a manifest cannot be read.
    """
    from tasks.lake.finding import Holdings  # noqa: PLC0415
    from tasks.lake.lake import Lake  # noqa: PLC0415
    from tasks.lake.manifest import MANIFEST, list_runs, read_code_version, read_manifest, read_manifests, run_folder  # noqa: PLC0415
    from tasks.lineage.graph import graph_of_file, graph_of_run  # noqa: PLC0415
    from tasks.runs.source_names import SourceNames  # noqa: PLC0415

    lake = Lake(folder, read_code_version())
    runs = list_runs(folder)
    if target in runs:
        manifest = read_manifest(folder, target)
        return graph_of_run(lake, manifest, SourceNames.of([manifest]))
    names = SourceNames.of(reversed(list(read_manifests(folder))))
    if path := _file_in_lake(folder, target):
        is_run = (run_folder(folder, path.removeprefix("runs/")) / MANIFEST).exists() and path.startswith("runs/")
        return graph_of_file(lake, f"{path}/{MANIFEST}" if is_run else path, names)
    if ref := Holdings.of(folder).named(target):
        return graph_of_file(lake, ref.path, names)
    raise UsageError(
        "the lake holds no such run and no such file",
        where=str(folder),
        expected=f"a file of the lake, or a run: {', '.join(runs[:3]) or 'none yet'}",
        got=target,
        next_step="moodflow runs list shows the runs; --lake names another lake",
    )


def _is_told(path: Folder) -> bool:
    """Return whether a path is a file, or the folder of a run: of other folders no lineage is kept."""
    return path.is_file() or (path / "manifest.json").is_file()


def _file_in_lake(folder: Folder, target: str) -> str | None:
    """Return the path of a file relative to the lake, if it is there: given relative to it, to the current folder, or in full."""
    inside = target.removeprefix(f"{folder}/").rstrip("/")
    if inside and not inside.startswith("/") and ".." not in inside.split("/") and _is_told(folder / inside):
        return inside
    given = Path(target).resolve()
    if not isinstance(folder, Path) or not _is_told(given):
        return None
    if given.is_relative_to(folder.resolve()):
        return given.relative_to(folder.resolve()).as_posix()
    raise UsageError(
        "the file is outside the lake",
        where=str(folder),
        expected="a file of this lake",
        got=target,
        next_step="name the lake it belongs to with --lake",
    )
