"""A lineage graph as one SVG that needs nothing else: sources on the left, what was asked for on the right."""

from collections.abc import Iterable
from html import escape

from schemas.graph import LineageNode
from tasks.lineage.grouping import Group, Grouped, code_version, counted, place_name, short, source_line

WIDTH, HEIGHT = 270, 62
GAP_X, GAP_Y, MARGIN = 70, 16, 24
LETTERS, NAME_LETTERS = 38, 30
"""That fit into a box: into a line, and into the first one, which is bold."""

DETOUR = 80
"""How far an edge that skips a column leaves the straight way, which a box may be in."""

STYLE = """
svg { --paper: #ffffff; --box: #f4f6f8; --ink: #1f2933; --muted: #55606c; --line: #8793a0;
  --source: #0f6e84; --run: #4f7a10; --lost: #b3261e; background: var(--paper); }
@media (prefers-color-scheme: dark) { svg { --paper: #14181d; --box: #20262d; --ink: #e8ecf0; --muted: #a9b4bf; --line: #6b7783;
  --source: #58bdd2; --run: #a6cf5e; --lost: #ff8a80; } }
.paper { fill: var(--paper); }
rect.box { fill: var(--box); stroke: var(--line); stroke-width: 1; }
.source rect.box { stroke: var(--source); } .run rect.box, .report rect.box { stroke: var(--run); stroke-width: 2; }
.lost rect.box { stroke: var(--lost); stroke-dasharray: 5 3; }
text { font: 12px system-ui, sans-serif; fill: var(--muted); } text.name { font-weight: 600; font-size: 13px; fill: var(--ink); }
.lost text.name { fill: var(--lost); }
path { fill: none; stroke: var(--line); stroke-width: 1.2; }
g:hover > rect.box { stroke-width: 3; }
"""


def draw(found: Grouped) -> str:
    """The drawing; each box has a title with what does not fit into it."""
    places = _places(found)
    width = MARGIN + max(x for x, _ in places.values()) + WIDTH + MARGIN
    height = MARGIN + max(y for _, y in places.values()) + HEIGHT + MARGIN
    edges = "".join(
        _edge(places[parent], places[name]) for name, parents in found.parents.items() for parent in parents
    )  # first, so that boxes cover them
    boxes = "".join(_box(found.groups[name], place) for name, place in places.items())
    title = escape(f"Lineage of {found.root.removeprefix('run:')}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="{title}"><title>{title}</title><style>{STYLE}</style>'
        f'<rect class="paper" width="{width}" height="{height}"/>{edges}{boxes}</svg>\n'
    )


def _places(found: Grouped) -> dict[str, tuple[int, int]]:
    """Left upper corner of each box: a column per rank, in it the order of what the boxes are computed from."""
    columns: dict[int, list[str]] = {}
    for name, rank in found.ranks.items():
        columns.setdefault(_column(found, name, rank), []).append(name)
    tallest = max(len(names) for names in columns.values())
    heights: dict[str, float] = {}
    places: dict[str, tuple[int, int]] = {}
    for position, column in enumerate(sorted(columns)):
        middle = {name: _mean(heights[one] for one in found.parents[name]) for name in columns[column]}
        names = sorted(columns[column], key=lambda name: (middle[name], name))
        top = (tallest - len(names)) * (HEIGHT + GAP_Y) // 2
        for row, name in enumerate(names):
            places[name] = (MARGIN + position * (WIDTH + GAP_X), MARGIN + top + row * (HEIGHT + GAP_Y))
            heights[name] = places[name][1]
    return places


def _column(found: Grouped, name: str, rank: int) -> int:
    # What was asked for stands alone at the right, whatever its rank.
    return max(found.ranks.values()) + 1 if name == found.root else rank


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0


def _edge(start: tuple[int, int], end: tuple[int, int]) -> str:
    x1, y1, x2, y2 = start[0] + WIDTH, start[1] + HEIGHT / 2, end[0], end[1] + HEIGHT / 2
    bend, down = (x2 - x1) / 2, DETOUR if x2 - x1 > GAP_X else 0
    return f'<path d="M{x1} {y1:g} C{x1 + bend:g} {y1 + down:g} {x2 - bend:g} {y2 + down:g} {x2} {y2:g}"/>'


def _box(group: Group, place: tuple[int, int]) -> str:
    x, y = place
    name, *lines = _lines(group)
    texts = f'<text class="name" x="{x + 10}" y="{y + 20}">{_fitted(name, NAME_LETTERS)}</text>'
    texts += "".join(
        f'<text x="{x + 10}" y="{y + 37 + 15 * index}">{_fitted(line, LETTERS)}</text>' for index, line in enumerate(lines)
    )
    lost = " lost" if group.lost else ""
    return (
        f'<g class="{group.first.kind}{lost}"><title>{escape(_title(group))}</title>'
        f'<rect class="box" x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="6"/>{texts}</g>'
    )


def _lines(group: Group) -> tuple[str, str, str]:
    node, count = group.first, len(group.nodes)
    if node.kind == "source":
        return _source_lines(group)
    if node.kind in {"run", "report"}:
        return node.kind, node.id.removeprefix("run:"), f"sha256 {short(node.content_sha256)}"
    rows = counted(group.rows, "row") if group.rows is not None else "rows not known"
    if count > 1:
        lost = f", {group.lost} gone or damaged" if group.lost else ""
        return str(node.layer), f"{count} partitions, {rows}{lost}", f"code {', '.join(group.versions) or 'not known'}"
    told = f"{node.state}, " if group.lost else ""
    return (
        node.layer or "gone",
        place_name(node) or short(node.fingerprint),
        f"{told}{rows}, content {short(node.content_sha256)}",
    )


def _source_lines(group: Group) -> tuple[str, str, str]:
    node, name = group.first, group.first.source
    origin = name.repository if name and name.repository else "comes with the package" if name and not name.note else "own file"
    if len(group.nodes) == 1:
        return _end(node.path or "source", NAME_LETTERS), _end(origin, LETTERS), f"sha256 {short(node.content_sha256)}"
    return (
        _end(origin, NAME_LETTERS),
        f"{len(group.nodes)} files",
        f"revision {name.revision[:12]}" if name and name.revision else "",
    )


def _end(text: str, letters: int) -> str:
    """The end of a path says more than its beginning."""
    return text if len(text) <= letters else f"…{text[1 - letters :]}"


def _fitted(text: str, letters: int) -> str:
    return escape(text if len(text) <= letters else f"{text[: letters - 1]}…")


def _title(group: Group) -> str:
    return "\n".join(_described(node) for node in group.nodes)


def _described(node: LineageNode) -> str:
    if node.kind == "source":
        return f"{source_line(node)}, sha256 {node.content_sha256}"
    told = [node.path or f"a partition with fingerprint {node.fingerprint} that is not in the lake"]
    told += [counted(node.rows, "row")] if node.rows is not None else []
    told += [f"content {node.content_sha256}"] if node.content_sha256 else []
    told += [f"code {version}"] if (version := code_version(node)) else []
    return ", ".join([*told, *([node.state] if node.state in {"gone", "damaged"} else [])])
