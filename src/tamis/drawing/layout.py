"""Where everything stands: columns for layers, boxes for nodes, curves for edges.

Units are points at the size at which a label has ``FONT`` points; y grows downwards. A picture
may scale them as a whole.

Who stands above whom in a layer is found by barycentre sweeps that reduce crossings. The layers
are given, so of the method of Sugiyama, Tagawa and Toda (1981) only the second step is needed. An
edge over several layers goes through a dummy in each layer between. Every sweep sorts the columns
one after another by the mean place of their neighbours in the column just sorted; the best order
seen is kept, and the order given counts as seen.
"""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.drawing.looks import labels_of, width_of

Arrow = tuple[str, str]
Cell = str | tuple[str, str, int]
"""A node by its name, or the dummy of an edge in a column."""

SWEEPS = 24


@dataclass(frozen=True)
class Columns:
    """The cells of each column from top to bottom, and the segments between neighbours."""

    cells: tuple[tuple[Cell, ...], ...]
    segments: tuple[tuple[tuple[Cell, Cell], ...], ...]
    """For each gap, the pairs of a cell on its left and a cell on its right."""
    chains: dict[Arrow, tuple[Cell, ...]]
    """The cells that each edge goes through, its ends included."""

    @property
    def crossings(self) -> int:
        """How many pairs of segments cross."""
        return _crossings(self.cells, self.segments)


def columns_of(layers: Sequence[Sequence[str]], edges: Iterable[Arrow]) -> Columns:
    """Cells in the order given: nodes, then dummies."""
    column = {name: j for j, layer in enumerate(layers) for name in layer}
    joined = sorted(set(edges), key=lambda e: (column[e[0]], column[e[1]], *e))
    cells: list[list[Cell]] = [list(layer) for layer in layers]
    segments: list[list[tuple[Cell, Cell]]] = [[] for _ in layers[1:]]
    chains = {}
    for parent, child in joined:
        chain: list[Cell] = [parent]
        for j in range(column[parent] + 1, column[child]):
            chain.append((parent, child, j))
            cells[j].append(chain[-1])
        chain.append(child)
        for j, pair in enumerate(pairwise(chain), start=column[parent]):
            segments[j].append(pair)
        chains[parent, child] = tuple(chain)
    return Columns(tuple(map(tuple, cells)), tuple(map(tuple, segments)), chains)


def untangled(columns: Columns, sweeps: int = SWEEPS) -> Columns:
    """Layers reordered to have as few crossings as sweeps back and forth can find."""
    best, fewest = columns.cells, columns.crossings
    cells = list(columns.cells)
    left, right = _neighbours(columns)
    since = 0
    for sweep in range(sweeps):
        if fewest == 0 or since >= 6:
            break
        forwards = sweep % 2 == 0
        _sweep(cells, left if forwards else right, forwards=forwards)
        now = _crossings(cells, columns.segments)
        since += 1
        if now < fewest:
            best, fewest, since = tuple(cells), now, 0
    return Columns(best, columns.segments, columns.chains)


def _neighbours(columns: Columns) -> tuple[dict[Cell, list[Cell]], dict[Cell, list[Cell]]]:
    """The neighbours of each cell to its left and to its right."""
    left: dict[Cell, list[Cell]] = {}
    right: dict[Cell, list[Cell]] = {}
    for segments in columns.segments:
        for a, b in segments:
            left.setdefault(b, []).append(a)
            right.setdefault(a, []).append(b)
    return left, right


def _sweep(
    cells: list[tuple[Cell, ...]],
    neighbours: dict[Cell, list[Cell]],
    *,
    forwards: bool,
) -> None:
    """Sort every column but the first of the sweep by the places in the column before it."""
    numbers = range(len(cells)) if forwards else range(len(cells) - 1, -1, -1)
    places: dict[Cell, float] = {}
    for j in numbers:
        own = {cell: (i + 0.5) / len(cells[j]) for i, cell in enumerate(cells[j])}
        wanted = {
            cell: _mean([places[b] for b in neighbours[cell]]) if cell in neighbours else own[cell]
            for cell in cells[j]
        }
        # Sorting is stable: where the means are equal the order stays.
        cells[j] = tuple(sorted(cells[j], key=lambda cell: wanted[cell]))
        places = {cell: (i + 0.5) / len(cells[j]) for i, cell in enumerate(cells[j])}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _crossings(
    cells: Sequence[Sequence[Cell]], segments: Sequence[Sequence[tuple[Cell, Cell]]]
) -> int:
    """Two segments cross if their ends are in opposite orders: inversions of the right ends."""
    total = 0
    for j, pairs in enumerate(segments):
        above = {cell: i for i, cell in enumerate(cells[j])}
        below = {cell: i for i, cell in enumerate(cells[j + 1])}
        seen: list[int] = []
        for _, end in sorted((above[a], below[b]) for a, b in pairs):
            total += len(seen) - bisect_right(seen, end)
            insort(seen, end)
    return total


FONT = 12.0
LETTER = 0.6 * FONT
"""The width of an ordinary letter, generously."""
BOX = 26.0
"""The height of a node's box."""
SLOT, THIN = 36.0, 9.0
"""The height that a node takes in its column, and that an edge takes which passes through."""
MARGIN, HEADING = 14.0, 18.0
"""Around the picture, and above it for the titles of the layers."""
STRAIGHTENING = 12
"""Passes that pull each cell to its neighbours."""
PORTS = BOX - 8.0
"""How far the ends of a node's edges may spread along its side."""

SHAPE = 0.5
"""Height over width of the frame that a drawing is looked at in: a taller one is wrapped."""
TALL = 600.0
"""The height of a drawing that is seen at once; none that is lower is wrapped."""
MOST_PARTS = 4
"""Into how many columns a long layer is wrapped, at most."""
ALONE = "No arrows"
"""The title of the tray."""
TRAY = 560.0
"""The least width of the tray, whose rows are otherwise as wide as the graph."""

Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A node's place: the middle of its box, its size, its label and its layer, from 0."""

    x: float
    y: float
    width: float
    label: str
    layer: int


@dataclass(frozen=True)
class Layout:
    """A layered drawing of a DAG, and below it a tray of the nodes without edges."""

    boxes: dict[str, Box]
    routes: dict[Arrow, tuple[Point, ...]]
    """The points of each edge from parent to child; neighbours are joined by a curve that leaves
    and arrives horizontally (``curves``)."""
    headings: tuple[tuple[int, float], ...]
    """The layers that have edges: their number, from 1, and the x of their middle."""
    tray: tuple[str, ...]
    """The nodes without edges; their boxes are below the graph."""
    graph: Point
    """Width and height without the tray."""
    width: float
    height: float
    crossings: int


class Column(NamedTuple):
    """Nodes below each other: a layer, or a part of a long one."""

    layer: int
    names: tuple[str, ...]


def lay_out(layers: Sequence[Sequence[str]], edges: Iterable[Arrow]) -> Layout:
    """Draw a DAG whose every edge points to a later layer.

    Parameters
    ----------
    layers : sequence of sequences of str
        The nodes, first layer first.
    edges : iterable of (parent, child)
        Each from a layer to a later one.

    Returns
    -------
    Layout
        Long layers are wrapped into several columns where that makes the whole easier to see, and
        nodes without edges are in the tray.
    """
    edges = sorted(set(edges))
    joined = {name for edge in edges for name in edge}
    columns = [
        Column(j, own)
        for j, layer in enumerate(layers)
        if (own := tuple(name for name in layer if name in joined))
    ]
    labels = labels_of(name for layer in layers for name in layer)
    graph = _best(columns, edges, labels)
    alone = [Column(j, (n,)) for j, own in enumerate(layers) for n in own if n not in joined]
    return _with_tray(graph, alone, labels)


def _best(columns: Sequence[Column], edges: Sequence[Arrow], labels: Mapping[str, str]) -> Layout:
    """The drawing that can be shown largest: as it is, or with long layers wrapped."""
    best = _drawn(columns, edges, labels)
    longest = max((len(column.names) for column in columns), default=0)
    for parts in range(2, MOST_PARTS + 1):
        if best.height <= max(SHAPE * best.width, TALL):
            break
        wrapped = _wrapped(columns, edges, math.ceil(longest / parts))
        best = min(best, _drawn(wrapped, edges, labels), key=_extent)
    return best


def _extent(layout: Layout) -> float:
    return max(layout.width, layout.height / SHAPE)


def _wrapped(columns: Sequence[Column], edges: Sequence[Arrow], most: int) -> list[Column]:
    """Layers cut into columns of at most ``most`` nodes. Nodes with more children than parents go
    to the right, so that their edges stay short."""
    leaning: Counter[str] = Counter(parent for parent, _ in edges)
    leaning.subtract(child for _, child in edges)
    found = []
    for layer, names in columns:
        size = math.ceil(len(names) / math.ceil(len(names) / most))
        ordered = sorted(names, key=lambda name: leaning[name])
        found += [Column(layer, tuple(ordered[i : i + size])) for i in range(0, len(names), size)]
    return found


def _drawn(columns: Sequence[Column], edges: Sequence[Arrow], labels: Mapping[str, str]) -> Layout:
    """The drawing of these columns, without a tray."""
    names = [column.names for column in columns]
    cells = untangled(columns_of(names, edges))
    widths = [max(_width(labels[n]) for n in column) for column in names]
    heights = _straightened(cells)
    gaps = [_gap(cells, heights, j) for j in range(len(columns) - 1)]
    middles = _middles(widths, gaps)
    top = min(heights.values(), default=0.0) - SLOT / 2 - MARGIN - HEADING
    at = {cell: y - top for cell, y in heights.items()}
    boxes = {
        name: Box(middles[j], at[name], widths[j], labels[name], column.layer)
        for j, column in enumerate(columns)
        for name in column.names
    }
    width = middles[-1] + widths[-1] / 2 + MARGIN if middles else 0.0
    height = max(at.values()) + SLOT / 2 + MARGIN if at else 0.0
    routes = _routes(cells, boxes, at, middles, widths)
    headings = _headings(columns, middles)
    return Layout(boxes, routes, headings, (), (width, height), width, height, cells.crossings)


def _width(label: str) -> float:
    return width_of(label) * LETTER + 16


def _headings(columns: Sequence[Column], middles: Sequence[float]) -> tuple[tuple[int, float], ...]:
    found: dict[int, list[float]] = {}
    for column, x in zip(columns, middles, strict=True):
        found.setdefault(column.layer + 1, []).append(x)
    return tuple((layer, (xs[0] + xs[-1]) / 2) for layer, xs in found.items())


def _with_tray(graph: Layout, alone: Sequence[Column], labels: Mapping[str, str]) -> Layout:
    """The drawing with a tray below it: rows of boxes, each as wide as its label."""
    if not alone:
        return graph
    width = max(graph.width, TRAY)
    boxes = dict(graph.boxes)
    left, y = MARGIN, graph.height + HEADING + SLOT / 2 + 4
    for layer, (name,) in alone:
        wide = _width(labels[name])
        if left > MARGIN and left + wide > width - MARGIN:
            left, y = MARGIN, y + SLOT
        boxes[name] = Box(left + wide / 2, y, wide, labels[name], layer)
        left += wide + MARGIN
    tray = tuple(column.names[0] for column in alone)
    return replace(graph, boxes=boxes, tray=tray, width=width, height=y + SLOT / 2 + MARGIN)


def curves(points: Sequence[Point]) -> list[tuple[Point, Point, Point]]:
    """The cubic pieces of a route after its first point: two control points and an end each."""
    pieces = []
    for (x, y), (to_x, to_y) in pairwise(points):
        middle = (x + to_x) / 2
        pieces.append(((middle, y), (middle, to_y), (to_x, to_y)))
    return pieces


def _size(cell: Cell) -> float:
    return SLOT if isinstance(cell, str) else THIN


def _straightened(columns: Columns) -> dict[Cell, float]:
    """A y for every cell: in order, far enough apart, and near its neighbours.

    For one column this is a regression with fixed least distances, isotonic once those are
    subtracted; the columns take turns.
    """
    offsets = [_offsets(cells) for cells in columns.cells]
    ys = [own - own.mean() if len(own) else own for own in offsets]
    links = _links(columns)
    for turn in range(STRAIGHTENING):
        numbers = range(len(ys)) if turn % 2 == 0 else range(len(ys) - 1, -1, -1)
        for j in numbers:
            if len(ys[j]):
                ys[j] = _pulled(ys, links[j], offsets[j], j)
    return {
        cell: float(y)
        for cells, own in zip(columns.cells, ys, strict=True)
        for cell, y in zip(cells, own, strict=True)
    }


def _offsets(cells: Sequence[Cell]) -> NDArray[np.float64]:
    """The y of each cell if all stand as close as they may."""
    sizes = np.array([_size(cell) for cell in cells], dtype=np.float64)
    return np.cumsum(sizes) - sizes / 2 if len(sizes) else sizes


Links = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
"""Of one column: own place, the neighbour's column and place, and the strength of the pull."""


def _links(columns: Columns) -> list[Links]:
    places = [{cell: i for i, cell in enumerate(cells)} for cells in columns.cells]
    found: list[list[tuple[int, int, int, float]]] = [[] for _ in columns.cells]
    for j, segments in enumerate(columns.segments):
        for a, b in segments:
            # An edge that passes through should be straight before all others.
            strength = 1.0 + 2.0 * (not isinstance(a, str)) + 2.0 * (not isinstance(b, str))
            i, k = places[j][a], places[j + 1][b]
            found[j].append((i, j + 1, k, strength))
            found[j + 1].append((k, j, i, strength))
    return [
        (
            np.array([one[0] for one in links], dtype=np.int64),
            np.array([one[1] for one in links], dtype=np.int64),
            np.array([one[2] for one in links], dtype=np.int64),
            np.array([one[3] for one in links], dtype=np.float64),
        )
        for links in found
    ]


def _pulled(
    ys: Sequence[NDArray[np.float64]], links: Links, offsets: NDArray[np.float64], j: int
) -> NDArray[np.float64]:
    own, column, place, strength = links
    there = np.zeros(len(own))
    for other in (j - 1, j + 1):
        chosen = column == other
        if chosen.any():
            there[chosen] = ys[other][place[chosen]]
    pull = np.bincount(own, weights=strength, minlength=len(offsets))
    total = np.bincount(own, weights=strength * there, minlength=len(offsets))
    # Cells that nothing pulls stay where they are, and yield.
    wanted = np.where(pull > 0, total / np.where(pull > 0, pull, 1.0), ys[j])
    weights = np.where(pull > 0, pull, 1e-3)
    return _rising((wanted - offsets).tolist(), weights.tolist()) + offsets


def _rising(values: Sequence[float], weights: Sequence[float]) -> NDArray[np.float64]:
    """The nearest values that never fall: neighbours that do are pooled (isotonic regression).

    scikit-learn's checks its arguments for longer than this takes.
    """
    pools: list[tuple[float, float, int]] = []
    for value, weight in zip(values, weights, strict=True):
        mean, mass, size = value, weight, 1
        while pools and pools[-1][0] >= mean:
            before, more, many = pools.pop()
            mean = (before * more + mean * mass) / (more + mass)
            mass, size = mass + more, size + many
        pools.append((mean, mass, size))
    return np.repeat([mean for mean, _, _ in pools], [size for _, _, size in pools])


def _gap(columns: Columns, heights: dict[Cell, float], j: int) -> float:
    """The width between two columns: wider where edges are many or climb far."""
    segments = columns.segments[j]
    climb = max((abs(heights[a] - heights[b]) for a, b in segments), default=0.0)
    return 56.0 + min(4.0 * math.sqrt(len(segments)) + 0.12 * climb, 180.0)


def _middles(widths: Sequence[float], gaps: Sequence[float]) -> list[float]:
    middles: list[float] = []
    left = MARGIN
    for width, gap in zip(widths, [*gaps, 0.0], strict=False):
        middles.append(left + width / 2)
        left += width + gap
    return middles


def _routes(
    columns: Columns,
    boxes: dict[str, Box],
    at: dict[Cell, float],
    middles: Sequence[float],
    widths: Sequence[float],
) -> dict[Arrow, tuple[Point, ...]]:
    starts, ends = _ports(columns, at)
    column_of = {cell: j for j, cells in enumerate(columns.cells) for cell in cells}
    routes = {}
    for (parent, child), chain in columns.chains.items():
        first, last = boxes[parent], boxes[child]
        points = [(first.x + first.width / 2, starts[parent, child])]
        for cell in chain[1:-1]:
            j = column_of[cell]
            half = widths[j] / 2
            points += [(middles[j] - half, at[cell]), (middles[j] + half, at[cell])]
        points.append((last.x - last.width / 2, ends[parent, child]))
        routes[parent, child] = tuple(points)
    return routes


def _ports(
    columns: Columns, at: dict[Cell, float]
) -> tuple[dict[Arrow, float], dict[Arrow, float]]:
    """The y at which each edge leaves its parent and reaches its child: side by side."""
    leaving: dict[str, list[tuple[float, Arrow]]] = {}
    arriving: dict[str, list[tuple[float, Arrow]]] = {}
    for edge, chain in columns.chains.items():
        leaving.setdefault(edge[0], []).append((at[chain[1]], edge))
        arriving.setdefault(edge[1], []).append((at[chain[-2]], edge))
    return _spread(leaving, at), _spread(arriving, at)


def _spread(
    ends: dict[str, list[tuple[float, Arrow]]], at: dict[Cell, float]
) -> dict[Arrow, float]:
    found = {}
    for name, edges in ends.items():
        step = min(7.0, PORTS / max(len(edges) - 1, 1))
        for i, (_, edge) in enumerate(sorted(edges)):
            found[edge] = at[name] + step * (i - (len(edges) - 1) / 2)
    return found
