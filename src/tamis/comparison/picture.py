"""Graphs side by side in one drawing: every column stands at the same place in all panels.

Edges are drawn against a reference: the truth, the first of the graphs that were given, or what
most methods found. The four kinds of lines differ in black and white too.

A comparison is saved as this picture, everything of it as JSON, or its edges as CSV.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import networkx as nx

from tamis.atomic import check_place, write_files
from tamis.comparison.graphs import Compared, Pair
from tamis.comparison.model import Changes, Comparison, changes_between
from tamis.drawing.layout import Layout, Point, curves, lay_out
from tamis.drawing.pictures import ENDINGS as PICTURES
from tamis.drawing.pictures import INK, draw_box, rendered, require_matplotlib
from tamis.errors import SettingError
from tamis.formats.graph import in_order
from tamis.result import show

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOKS: dict[str, tuple[str, tuple[float, ...], float]] = {
    "same": (INK, (), 1.3),
    "more": ("#b3261e", (7.0, 2.5), 1.9),
    "turned": ("#c2571a", (7.0, 2.0, 1.2, 2.0), 1.9),
    "less": ("#7a8794", (1.2, 2.2), 1.3),
}
"""Colour, dashes and width of an edge by how it compares with the reference."""
INCH = 96.0
"""Units of the layout to an inch."""
NARROWEST, WIDEST, LARGEST = 3.4, 16.0, 120.0
"""Inches that a title needs, that panels side by side take together, and beyond which nothing
grows."""
TITLE, LEGEND = 0.5, 0.6
"""Inches above a panel for its title, and below all of them for the legend."""

LONGEST = 32
"""Letters of a graph's name that are shown."""


def draw(comparison: Comparison) -> Figure:
    """One panel for each graph; the truth comes first."""
    require_matplotlib()
    from matplotlib.figure import Figure

    panels = [*([] if comparison.truth is None else [comparison.truth]), *comparison.graphs]
    if not panels:
        raise SettingError("there is no graph to draw, as no method gave one; the table says why")
    layout = layout_of(comparison)
    width, height = max(layout.width / INCH, NARROWEST), layout.height / INCH
    side_by_side = min(len(panels), max(2, int(WIDEST / width)))
    rows = math.ceil(len(panels) / side_by_side)
    whole = (width * side_by_side, (height + TITLE) * rows + LEGEND)
    shrunk = min(1.0, LARGEST / max(whole))
    figure = Figure(figsize=(max(whole[0] * shrunk, 4.5), whole[1] * shrunk))
    bottom = LEGEND / whole[1]
    for k, graph in enumerate(panels):
        across, down = 1 / side_by_side, (1 - bottom) / rows
        left, top = across * (k % side_by_side), 1 - down * (k // side_by_side)
        panel = down * height / (height + TITLE)
        axes = figure.add_axes((left, top - down, across, panel))
        _panel(axes, comparison, graph, layout, 72.0 / INCH * shrunk)
    _legend(figure, comparison)
    return figure


def reference_of(comparison: Comparison) -> Compared:
    """What the edges of each graph are compared with."""
    if comparison.truth is not None:
        return comparison.truth
    return comparison.graphs[0] if comparison.table is None else majority(comparison)


def majority(comparison: Comparison) -> Compared:
    """The edges that more than half of the graphs have, directed as more of them do."""
    often = [edge for edge in comparison.agreement if 2 * edge.edge > edge.graphs]
    return Compared(
        "most graphs",
        comparison.columns,
        frozenset((e.parent, e.child) for e in often if e.forward > e.backward),
        frozenset(in_order(e.parent, e.child) for e in often if e.forward == e.backward),
    )


def layout_of(comparison: Comparison) -> Layout:
    """Places for all columns and routes for the edges of all graphs.

    The graphs together may have cycles, so an arrow that would close one is laid out the other way
    round; the reference comes first.
    """
    joint: nx.DiGraph[str] = nx.DiGraph()
    joint.add_nodes_from(comparison.columns)
    reference = reference_of(comparison)
    listed = [(edge.parent, edge.child) for edge in comparison.agreement]
    wanted = [*sorted(reference.arrows), *listed, *sorted(reference.undirected)]
    for tail, head in wanted:
        if joint.has_edge(tail, head) or joint.has_edge(head, tail):
            continue
        turned = nx.has_path(joint, head, tail)
        joint.add_edge(*((head, tail) if turned else (tail, head)))
    layers = [list(layer) for layer in nx.topological_generations(joint)]
    return lay_out(layers, list(joint.edges))


def kinds_in(comparison: Comparison, graph: Compared) -> dict[Pair, str]:
    """Every pair with an edge in the graph or in the reference, and how the two compare.

    An arrow against an undirected edge is a change between graphs that were given. Of methods,
    some of which direct no edge at all, it is none.
    """
    found = changes_between(reference_of(comparison), graph)
    settled = "turned" if comparison.table is None else "same"
    kinds = {
        "same": "same", "appeared": "more", "apart": "more", "vanished": "less",
        "turned": "turned", "directed": settled, "undirected": settled,
    }  # fmt: skip
    pairs = {in_order(*e): kinds[kind] for kind in Changes.__slots__ for e in getattr(found, kind)}
    mine = graph.skeleton
    return {pair: kind if pair in mine else "less" for pair, kind in pairs.items()}


def _panel(
    axes: Axes, comparison: Comparison, graph: Compared, layout: Layout, scale: float
) -> None:
    axes.set_axis_off()
    axes.set(xlim=(0, layout.width), ylim=(layout.height, 0))
    axes.set_aspect("equal")
    kinds = kinds_in(comparison, graph)
    for pair in sorted(kinds, key=lambda pair: (kinds[pair] != "less", pair)):
        _edge(axes, comparison, graph, layout, pair, kinds[pair], scale)
    _nodes(axes, graph, layout, scale)
    name = _short(graph.name) if graph != comparison.truth else f"truth: {_short(graph.name)}"
    title = f"{name}\n{_counts(comparison, graph, kinds)}"
    axes.set_title(title, fontsize=11 * min(scale * INCH / 72, 1), color=INK, parse_math=False)


def _counts(comparison: Comparison, graph: Compared, kinds: dict[Pair, str]) -> str:
    words = f"{graph.n_edges} edge{'' if graph.n_edges == 1 else 's'}"
    if graph == reference_of(comparison):
        return words
    numbers = {kind: list(kinds.values()).count(kind) for kind in LOOKS}
    said = {"more": "more", "less": "missing", "turned": "turned"}
    return ", ".join([words, *(f"{numbers[k]} {word}" for k, word in said.items() if numbers[k])])


def _edge(
    axes: Axes,
    comparison: Comparison,
    graph: Compared,
    layout: Layout,
    pair: Pair,
    kind: str,
    scale: float,
) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    drawn = reference_of(comparison) if kind == "less" else graph
    start = pair if pair in layout.routes else (pair[1], pair[0])
    points = _points(layout.routes[start])
    if drawn.kind_of(*start) == "backward":
        points.reverse()
    headless = drawn.kind_of(*start) == "undirected"
    colour, dashes, width = LOOKS[kind]
    axes.add_patch(
        FancyArrowPatch(
            path=Path(points, [Path.MOVETO, *[Path.CURVE4] * (len(points) - 1)]),
            arrowstyle="-" if headless else "-|>",
            mutation_scale=10 * scale,
            linewidth=width * scale,
            linestyle=(0, dashes) if dashes else "-",
            color=colour,
            shrinkA=0,
            shrinkB=0,
            zorder=1,
        )
    )


def _points(route: tuple[Point, ...]) -> list[Point]:
    return [route[0], *(point for piece in curves(route) for point in piece)]


def _nodes(axes: Axes, graph: Compared, layout: Layout, scale: float) -> None:
    held = set(graph.columns)
    for name, box in layout.boxes.items():
        if name in held:
            draw_box(axes, box, scale)
        else:
            draw_box(axes, box, scale, ink=LOOKS["less"][0], paper="none", line=":")


def _legend(figure: Figure, comparison: Comparison) -> None:
    from matplotlib.lines import Line2D

    what = "the truth" if comparison.truth else _short(reference_of(comparison).name)
    used = {kind for graph in comparison.graphs for kind in kinds_in(comparison, graph).values()}
    words = {
        "same": f"as in {what}",
        "more": f"not in {what}",
        "turned": f"other direction than in {what}",
        "less": f"in {what}, not here",
    }
    handles, labels = [], []
    for kind, (colour, dashes, width) in LOOKS.items():
        if kind in used:
            style: Any = (0, dashes) if dashes else "-"
            handles.append(Line2D([], [], color=colour, linestyle=style, linewidth=width))
            labels.append(words[kind])
    if any(graph.undirected for graph in comparison.graphs):
        handles.append(Line2D([], [], color=INK, linewidth=LOOKS["same"][2], visible=False))
        labels.append("without a head: undirected")
    legend = figure.legend(
        handles,
        labels,
        loc="lower center",
        ncols=_side_by_side(figure, labels),
        frameon=False,
        fontsize=9,
        handlelength=3.2,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


def _side_by_side(figure: Figure, labels: list[str]) -> int:
    """How many entries of the legend stand side by side: all of them, or two where it is narrow."""
    letters = sum(map(len, labels)) + 8 * len(labels)
    return max(len(labels), 1) if letters / 11 < figure.get_figwidth() else 2


def _short(name: str) -> str:
    """A name of a graph in one line, not too long."""
    text = show(name)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


ENDINGS = (".json", ".csv", *PICTURES)
Path = str | os.PathLike[str]


def save(comparison: Comparison, *paths: Path) -> None:
    """Check every path, make every content, then write."""
    if not paths:
        raise SettingError("save needs a path, such as 'comparison.json'")
    places = check_outputs(paths)
    write_files({place: _content(comparison, _ending(place)) for place in places})


def check_outputs(paths: Iterable[Path], endings: tuple[str, ...] = ENDINGS) -> list[str]:
    """The paths; refused if one cannot be written, before the work that it is to hold."""
    places = [os.fspath(path) for path in paths]
    for place in places:
        if _ending(place) not in endings:
            raise SettingError(
                f"the ending of {place!r} must say the format: one of {', '.join(endings)}"
            )
        if _ending(place) in PICTURES:
            require_matplotlib()
        check_place(place)
    return places


def _ending(place: str) -> str:
    return os.path.splitext(place)[1].lower()


def _content(comparison: Comparison, ending: str) -> bytes:
    if ending == ".json":
        text = json.dumps(comparison.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)
        return f"{text}\n".encode()
    if ending == ".csv":
        return _csv(comparison)
    return rendered(comparison.plot(), ending)


def _csv(comparison: Comparison) -> bytes:
    """A line for each edge; names are quoted and numbers are not."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    rows = comparison.edge_rows()
    writer.writerow(rows[0] if rows else ("parent", "child"))
    writer.writerows(row.values() for row in rows)
    return text.getvalue().encode()
