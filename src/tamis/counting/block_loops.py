"""The loops that count blocks: sums are added to what earlier blocks gave, and nothing is folded.

Planes come as ``blocks[block, plane, word]``. The planes of a column stand together, from
``first[column]`` on, but the columns may be in any order.
"""

from __future__ import annotations

import numpy as np

from tamis.counting.compiled import Codes, Ints, Words, compiled, inner, popcount, whole
from tamis.counting.in_planes import (
    close_levels,
    context_masks,
    count_common,
    table_from_planes,
)

Wanted = tuple[Ints, Ints, Ints, Ints, Ints]
"""Sets and their candidates, laid end to end, where those of each set begin, and where its sums do
among all sums: a row for each cell that is counted, its own count and one for each plane."""
Known = tuple[Ints, Ints, int]
"""The rows of each plane, those of each pair of planes, or nothing, and the number of all rows."""


@inner
def n_cells_of(arities: Ints, members: Ints) -> int:
    """The cells of the table of these columns."""
    n_cells = whole(1)
    for k in members:
        n_cells *= arities[k]
    return n_cells


@inner
def is_counted(place: int, n_planes: int, with_pairs: bool) -> bool:
    """Whether a cell has to be counted: all but those that fix no level or, where the joint counts
    of all pairs of planes are at hand, one."""
    return place >= n_planes or (place >= 0 and not with_pairs)


@compiled
def add_masked(
    blocks: Words, first: Ints, arities: Ints, with_pairs: bool, wanted: Wanted, sums: Ints
) -> None:
    """Count the cells of sets, alone and with each plane of their candidates. As in memory, last
    levels mean "any"."""
    variables, variables_start, candidates, candidates_start, sums_start = wanted
    for g in range(blocks.shape[0]):
        words = blocks[g]
        n_planes = words.shape[0]
        for b in range(variables_start.shape[0] - 1):
            members = variables[variables_start[b] : variables_start[b + 1]]
            where = np.empty(n_cells_of(arities, members), dtype=np.int64)
            masks = context_masks(words, first, arities, members, where)
            at = sums_start[b]
            for e in range(where.shape[0]):
                place = where[e]
                if not is_counted(place, n_planes, with_pairs):
                    continue
                mask = place - n_planes
                if mask >= 0:
                    sums[at] += count_common(masks, mask, masks, mask)
                at += 1
                for k in candidates[candidates_start[b] : candidates_start[b + 1]]:
                    for q in range(first[k], first[k] + arities[k] - 1):
                        if mask >= 0:
                            sums[at] += count_common(masks, mask, words, q)
                        else:
                            sums[at] += count_common(words, place, words, q)
                        at += 1


@inner
def whole_counts(
    own: Ints, where: Ints, known: Known, first: Ints, arities: Ints, candidates: Ints, counts: Ints
) -> None:
    """A row for every cell: those that were counted, and those that are known without."""
    ones, pairs, n_rows = known
    n_planes, with_pairs, at = ones.shape[0], pairs.shape[0] > 0, whole(0)
    for e in range(where.shape[0]):
        place = where[e]
        if is_counted(place, n_planes, with_pairs):
            for j in range(counts.shape[1]):
                counts[e, j] = own[at + j]
            at += counts.shape[1]
        if place >= n_planes:
            continue
        counts[e, 0] = ones[place] if place >= 0 else n_rows
        j = 0
        for k in candidates:
            for q in range(first[k], first[k] + arities[k] - 1):
                j += 1
                if place < 0:
                    counts[e, j] = ones[q]
                elif with_pairs:
                    counts[e, j] = pairs[place, q]


@compiled
def lay_out(
    no_words: Words, first: Ints, arities: Ints, known: Known, wanted: Wanted, sums: Ints,
    margins: Ints, cells: Ints,
) -> None:  # fmt: skip
    """From sums over all blocks to tables: the margins of the sets end to end, and the tables of
    their candidates, ``cells[(s, x), y]``.

    ``no_words`` are planes of no words: what the cells of a set are does not depend on rows.
    """
    variables, variables_start, candidates, candidates_start, sums_start = wanted
    margin_at = cells_at = whole(0)
    for b in range(variables_start.shape[0] - 1):
        members = variables[variables_start[b] : variables_start[b + 1]]
        others = candidates[candidates_start[b] : candidates_start[b + 1]]
        n_cells = n_cells_of(arities, members)
        where = np.empty(n_cells, dtype=np.int64)
        context_masks(no_words, first, arities, members, where)
        width = whole(1)
        for k in others:
            width += arities[k] - 1
        counts = np.empty((n_cells, width), dtype=np.int64)
        own = sums[sums_start[b] : sums_start[b + 1]]
        whole_counts(own, where, known, first, arities, others, counts)
        close_levels(counts, width, arities, members)
        margin = margins[margin_at : margin_at + n_cells]
        for e in range(n_cells):
            margin[e] = counts[e, 0]
        start = whole(1)
        for k in others:
            table = cells[cells_at : cells_at + n_cells * arities[k]]
            table_from_planes(counts, start, margin, arities[k], table)
            start += arities[k] - 1
            cells_at += table.shape[0]
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
def add_rows(cell_of_row: Ints, codes: Codes, width: int, cells: Ints) -> None:
    """Add rows to the table of a candidate."""
    for i in range(cell_of_row.shape[0]):
        cells[cell_of_row[i] * width + np.int64(codes[i])] += 1
