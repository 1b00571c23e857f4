"""The loops that count blocks: sums are added to what earlier blocks gave, and nothing is folded.

Planes come as ``blocks[block, plane, word]``. The planes of a column stand together, from
``first[column]`` on, but the columns may be in any order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis.counts.bits import count_common
from tamis.counts.compiled import Codes, Floats, Ints, Words, compiled, inner, popcount
from tamis.counts.independence import test_table
from tamis.counts.tables import close_levels, context_masks, table_from_planes

Pairs = NDArray[np.int64]


@compiled
def add_pairs(blocks: Words, start: int, stop: int, out: Pairs) -> None:
    """All-pairs joint counts of planes ``start`` to ``stop`` with themselves and all later."""
    for g in range(blocks.shape[0]):
        words = blocks[g]
        for p in range(start, stop):
            for q in range(p, words.shape[0]):
                out[p, q] += count_common(words, p, words, q)


@compiled
def add_ones(blocks: Words, out: Ints) -> None:
    """The rows of each plane."""
    for g in range(blocks.shape[0]):
        words = blocks[g]
        for p in range(words.shape[0]):
            out[p] += count_common(words, p, words, p)


@inner
def sizes_of(context: Ints, arities: Ints) -> tuple[Ints, int]:
    """The arities of a context's variables, and their product."""
    sizes = np.empty(context.shape[0], dtype=np.int64)
    n_cells = 1
    for v in range(context.shape[0]):
        sizes[v] = arities[context[v]]
        n_cells *= sizes[v]
    return sizes, n_cells


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

    The sums of context b are ``sums[sums_start[b] : sums_start[b + 1]]``, a row a cell: its own
    count, then one for each plane. As in memory, last levels mean "any", and cells that fix no
    level, or with a table of all pairs one, are left to ``lay_out``.
    """
    for g in range(blocks.shape[0]):
        words = blocks[g]
        for b in range(variables_start.shape[0] - 1):
            context = variables[variables_start[b] : variables_start[b + 1]]
            sizes, n_cells = sizes_of(context, arities)
            single = np.empty(n_cells, dtype=np.int64)
            slot = np.empty(n_cells, dtype=np.int64)
            masks = context_masks(words, first, context, sizes, single, slot)
            width = (sums_start[b + 1] - sums_start[b]) // n_cells
            for e in range(n_cells):
                at = sums_start[b] + e * width
                if slot[e] >= 0:
                    sums[at] += count_common(masks, slot[e], masks, slot[e])
                elif single[e] < 0 or with_pairs:
                    continue
                for c in range(candidates_start[b], candidates_start[b + 1]):
                    k = candidates[c]
                    for q in range(first[k], first[k] + arities[k] - 1):
                        at += 1
                        if slot[e] >= 0:
                            sums[at] += count_common(masks, slot[e], words, q)
                        else:
                            sums[at] += count_common(words, single[e], words, q)


@inner
def complete(
    sums: Ints,
    single: Ints,
    slot: Ints,
    ones: Ints,
    pairs: Pairs,
    n_rows: int,
    first: Ints,
    arities: Ints,
    candidates: Ints,
) -> None:
    """Enter the counts that are known without masks; ``sums`` has a row a cell."""
    for e in range(single.shape[0]):
        if slot[e] >= 0:
            continue
        sums[e, 0] = ones[single[e]] if single[e] >= 0 else n_rows
        j = 0
        for k in candidates:
            for q in range(first[k], first[k] + arities[k] - 1):
                j += 1
                if single[e] < 0:
                    sums[e, j] = ones[q]
                elif pairs.shape[0]:
                    sums[e, j] = pairs[single[e], q]


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
    margin_at = cells_at = 0
    for b in range(variables_start.shape[0] - 1):
        context = variables[variables_start[b] : variables_start[b + 1]]
        own = candidates[candidates_start[b] : candidates_start[b + 1]]
        sizes, n_cells = sizes_of(context, arities)
        single = np.empty(n_cells, dtype=np.int64)
        slot = np.empty(n_cells, dtype=np.int64)
        context_masks(no_words, first, context, sizes, single, slot)
        width = (sums_start[b + 1] - sums_start[b]) // n_cells
        counts = sums[sums_start[b] : sums_start[b + 1]].reshape(n_cells, width)
        complete(counts, single, slot, ones, pairs, n_rows, first, arities, own)
        close_levels(counts, sizes, width)
        margin = margins[margin_at : margin_at + n_cells]
        for e in range(n_cells):
            margin[e] = counts[e, 0]
        margin_at += n_cells
        start = 1
        for k in own:
            size = n_cells * arities[k]
            table_from_planes(counts, margin, start, arities[k], cells[cells_at : cells_at + size])
            start += arities[k] - 1
            cells_at += size


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


@inner
def marginals(n_levels: int, n_candidate: int, cells: Ints, beside: Ints) -> None:
    """The table of (S, X_l), from that of (S, X_k, X_l)."""
    n_strata = cells.shape[0] // (n_levels * n_candidate)
    for s in range(n_strata):
        for y in range(n_candidate):
            total = np.int64(0)
            for x in range(n_levels):
                total += cells[(s * n_levels + x) * n_candidate + y]
            beside[s * n_candidate + y] = total


@compiled
def all_marginals(
    starts: Ints, n_levels: Ints, n_candidates: Ints, cells: Ints, beside: Ints
) -> None:
    """The same for tables laid end to end."""
    at = 0
    for c in range(n_levels.shape[0]):
        size = (starts[c + 1] - starts[c]) // n_levels[c]
        table = cells[starts[c] : starts[c + 1]]
        marginals(n_levels[c], n_candidates[c], table, beside[at : at + size])
        at += size


@compiled
def test_tables(
    starts: Ints, n_levels: Ints, n_candidates: Ints, cells: Ints, plain: Ints, stats: Floats
) -> None:
    """Test tables laid end to end, all but the plug-in gain, for which ``plain`` is 0."""
    widest = 1
    for c in range(n_levels.shape[0]):
        widest = max(widest, n_levels[c], n_candidates[c])
    rows = np.empty(widest, dtype=np.int64)
    columns = np.empty(widest, dtype=np.int64)
    inverses = np.empty(widest, dtype=np.float64)
    for c in range(n_levels.shape[0]):
        table = cells[starts[c] : starts[c + 1]]
        n_cells = table.shape[0] // n_candidates[c]
        test_table(
            table, n_cells, n_levels[c], n_candidates[c], plain, rows, columns, inverses, c, stats
        )


@compiled
def add_log_ratios(
    codes: Codes,
    places: Ints,
    sizes: Ints,
    of_first: Floats,
    of_second: Floats,
    mean: float,
    squared: bool,
    total: float,
) -> float:
    """Go on adding, over the rows, ln p(a | S) - ln p(b | S), or the square of its distance from
    the mean.

    ``places`` are the rows of ``codes`` that hold S, then a, then b, and ``sizes`` their arities;
    ``of_first`` and ``of_second`` are the values of the cells of (S, a) and (S, b).
    """
    n_strata = places.shape[0] - 2
    a, b = places[n_strata], places[n_strata + 1]
    for i in range(codes.shape[1]):
        stratum = np.int64(0)
        for v in range(n_strata):
            stratum = stratum * sizes[v] + np.int64(codes[places[v], i])
        first = stratum * sizes[n_strata] + np.int64(codes[a, i])
        second = stratum * sizes[n_strata + 1] + np.int64(codes[b, i])
        if squared:
            off = of_first[first] - of_second[second] - mean
            total += off * off
        else:
            total += of_first[first] - of_second[second]
    return total


@compiled
def add_leads(
    first: Ints, of_first: Floats, second: Ints, of_second: Floats, total: float
) -> float:
    """Go on adding of_first[first] - of_second[second] over the rows."""
    for i in range(first.shape[0]):
        total += of_first[first[i]] - of_second[second[i]]
    return total


@compiled
def add_squares(
    first: Ints, of_first: Floats, second: Ints, of_second: Floats, mean: float, total: float
) -> float:
    """Go on adding the squares of their distances from the mean."""
    for i in range(first.shape[0]):
        off = of_first[first[i]] - of_second[second[i]] - mean
        total += off * off
    return total
