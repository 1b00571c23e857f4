"""The loops that count blocks: sums are added to what earlier blocks gave, and nothing is folded.

Planes come as ``blocks[block, plane, word]``. The planes of a column stand together, from
``first[column]`` on, but the columns may be in any order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis.counting.compiled import Codes, Ints, Words, compiled, inner, popcount, whole
from tamis.counting.tables import (
    close_levels,
    context_masks,
    count_common,
    table_from_planes,
)

Pairs = NDArray[np.int64]


@inner
def n_cells_of(arities: Ints, variables: Ints, start: int, stop: int) -> int:
    """The cells of the table of ``variables[start:stop]``."""
    n_cells = whole(1)
    for v in range(start, stop):
        n_cells *= arities[variables[v]]
    return n_cells


@inner
def is_counted(place: int, n_planes: int, with_pairs: bool) -> bool:
    """Whether a cell has to be counted: all but those that fix no level or, where the joint counts
    of all pairs of planes are at hand, one."""
    return place >= n_planes or (place >= 0 and not with_pairs)


@compiled
def add_masked(
    blocks: Words,
    first: Ints,
    arities: Ints,
    with_pairs: bool,
    variables: Ints,
    variables_start: Ints,
    candidates: Ints,
    candidates_start: Ints,
    sums_start: Ints,
    sums: Ints,
) -> None:
    """Count the cells of contexts, alone and with each plane of their candidates.

    The sums of context b are ``sums[sums_start[b] : sums_start[b + 1]]``, a row for each cell that
    is counted: its own count, then one for each plane. As in memory, last levels mean "any".
    """
    for g in range(blocks.shape[0]):
        words = blocks[g]
        n_planes = words.shape[0]
        for b in range(variables_start.shape[0] - 1):
            begins, ends = variables_start[b], variables_start[b + 1]
            where = np.empty(n_cells_of(arities, variables, begins, ends), dtype=np.int64)
            masks = context_masks(words, first, arities, variables, begins, ends, where)
            at = sums_start[b]
            for e in range(where.shape[0]):
                place = where[e]
                if not is_counted(place, n_planes, with_pairs):
                    continue
                mask = place - n_planes
                if mask >= 0:
                    sums[at] += count_common(masks, mask, masks, mask)
                at += 1
                for c in range(candidates_start[b], candidates_start[b + 1]):
                    k = candidates[c]
                    for q in range(first[k], first[k] + arities[k] - 1):
                        if mask >= 0:
                            sums[at] += count_common(masks, mask, words, q)
                        else:
                            sums[at] += count_common(words, place, words, q)
                        at += 1


@inner
def whole_counts(
    sums: Ints,
    at: int,
    where: Ints,
    ones: Ints,
    pairs: Pairs,
    n_rows: int,
    first: Ints,
    arities: Ints,
    candidates: Ints,
    start: int,
    stop: int,
    counts: Ints,
) -> None:
    """A row for every cell: those that were counted, and those that are known without."""
    n_planes = ones.shape[0]
    with_pairs = pairs.shape[0] > 0
    width = counts.shape[1]
    for e in range(where.shape[0]):
        place = where[e]
        if is_counted(place, n_planes, with_pairs):
            for j in range(width):
                counts[e, j] = sums[at + j]
            at += width
        if place >= n_planes:
            continue
        counts[e, 0] = ones[place] if place >= 0 else n_rows
        j = 0
        for c in range(start, stop):
            k = candidates[c]
            for q in range(first[k], first[k] + arities[k] - 1):
                j += 1
                if place < 0:
                    counts[e, j] = ones[q]
                elif with_pairs:
                    counts[e, j] = pairs[place, q]


@compiled
def lay_out(
    no_words: Words,
    first: Ints,
    arities: Ints,
    ones: Ints,
    pairs: Pairs,
    n_rows: int,
    variables: Ints,
    variables_start: Ints,
    candidates: Ints,
    candidates_start: Ints,
    sums_start: Ints,
    sums: Ints,
    margins: Ints,
    cells: Ints,
) -> None:
    """From sums over all blocks to tables: the margins of the contexts end to end, and the tables
    of their candidates, ``cells[(s, x), y]``.

    ``no_words`` are planes of no words: what the cells of a context are does not depend on rows.
    """
    margin_at = whole(0)
    cells_at = whole(0)
    for b in range(variables_start.shape[0] - 1):
        begins, ends = variables_start[b], variables_start[b + 1]
        n_cells = n_cells_of(arities, variables, begins, ends)
        where = np.empty(n_cells, dtype=np.int64)
        context_masks(no_words, first, arities, variables, begins, ends, where)
        width = whole(1)
        for c in range(candidates_start[b], candidates_start[b + 1]):
            width += arities[candidates[c]] - 1
        counts = np.empty((n_cells, width), dtype=np.int64)
        whole_counts(
            sums, sums_start[b], where, ones, pairs, n_rows, first, arities, candidates,
            candidates_start[b], candidates_start[b + 1], counts,
        )  # fmt: skip
        close_levels(counts, width, arities, variables, begins, ends)
        margin = margins[margin_at : margin_at + n_cells]
        for e in range(n_cells):
            margin[e] = counts[e, 0]
        start = whole(1)
        for c in range(candidates_start[b], candidates_start[b + 1]):
            n_candidate = arities[candidates[c]]
            size = n_cells * n_candidate
            table = cells[cells_at : cells_at + size]
            table_from_planes(counts, start, margin, n_candidate, table)
            start += n_candidate - 1
            cells_at += size
        margin_at += n_cells


@compiled
def decode(blocks: Words, start: int, arity: int, out: Codes) -> None:
    """The codes of a column in these blocks, from its planes; rows in no plane have the last."""
    n_words = blocks.shape[2]
    for i in range(out.shape[0]):
        out[i] = arity - 1
    for g in range(blocks.shape[0]):
        for level in range(arity - 1):
            for w in range(n_words):
                left = blocks[g, start + level, w]
                base = (g * n_words + w) * 64
                while left != np.uint64(0):
                    rest = left & (left - np.uint64(1))
                    # The ones below the lowest one are as many as its place.
                    place = popcount((left ^ rest) - np.uint64(1))
                    out[base + np.int64(place)] = level
                    left = rest


@compiled
def add_rows(cell_of_row: Ints, codes: Codes, n_candidate: int, cells: Ints) -> None:
    """Add rows to the table of a candidate."""
    for i in range(cell_of_row.shape[0]):
        cells[cell_of_row[i] * n_candidate + np.int64(codes[i])] += 1
