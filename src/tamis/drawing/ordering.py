"""Who stands above whom in each layer: barycentre sweeps that reduce crossings.

The layers are given, so of the method of Sugiyama, Tagawa and Toda (1981) only the second step is
needed. An edge over several layers goes through a dummy in each layer between. Every sweep sorts
the columns one after another by the mean place of their neighbours in the column just sorted; the
best order seen is kept, and the order given counts as seen.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

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
