"""Contexts judged in bit planes: their tables are counted, folded and, where asked, tested."""

from __future__ import annotations

import numpy as np

from tamis.counting.compiled import (
    Asked,
    Columns,
    Floats,
    Ints,
    Tables,
    compiled,
    inner,
    whole,
)
from tamis.counting.fold import finish, fold_table, fold_two_levels
from tamis.counting.independence import SCALE, test_table, test_two_levels
from tamis.counting.tables import (
    candidate_in_planes,
    cells_in_planes,
    close_levels,
    context_margin,
    head_of,
    is_among,
    nothing_gained,
    plane_counts,
    table_from_planes,
)

BLOCK = 128
"""Planes counted together: enough to vectorise over, few enough to stay in the cache."""


@inner
def next_block(
    candidates: Ints,
    begin: int,
    stop: int,
    first: Ints,
    arities: Ints,
    most: int,
    n_cells: int,
    planes: Ints,
) -> tuple[int, int, int]:
    """List the planes of the candidates from ``begin`` on that planes are to count, until there
    are BLOCK or more.

    Returns the first candidate not looked at, the number of planes, and, where all of these
    candidates have two levels, one of them; else -1.
    """
    n_planes, of_two, of_more = whole(0), whole(-1), False
    while begin < stop and n_planes < BLOCK:
        k = candidates[begin]
        if candidate_in_planes(first, arities, most, n_cells, k):
            for q in range(first[k], first[k + 1]):
                planes[n_planes] = q
                n_planes += 1
            of_two, of_more = k, of_more or arities[k] != 2
        begin += 1
    return begin, n_planes, whole(-1) if of_more else of_two


@inner
def some_in_planes(
    candidates: Ints, start: int, stop: int, first: Ints, arities: Ints, most: int, n_cells: int
) -> bool:
    """Whether planes are to count any of these candidates with a context of this size."""
    for c in range(start, stop):
        if candidate_in_planes(first, arities, most, n_cells, candidates[c]):
            return True
    return False


@compiled
def judge_planes(
    columns: Columns,
    most: int,
    asked: Asked,
    begin: int,
    end: int,
    lookup: Tables,
    entropies: Floats,
    gains: Floats,
    stats: Floats,
) -> int:
    """Judge the candidates of each context, counting in bit planes: those from ``begin`` to ``end``
    whose tables want no more than ``most`` counts. Others are left to ``judge_rows``; 0 is
    returned if there are none.

    A candidate that is part of its context gains nothing and has no test. Candidates are counted
    in blocks whose planes stay in the cache while the context's masks pass. Where the target and
    all candidates of a block have two levels, as in most tables, the block is folded at once.
    """
    terms, tail, supports, nothing, constant, observed, clips = lookup
    words, ones, pairs, first, arities, classes, plain, n_rows, widest = columns
    variables, variables_start, candidates, candidates_start, _, base_heads, heads = asked
    room = BLOCK + widest
    if (end - begin) * widest < room:
        room = (end - begin) * widest
    planes = np.empty(room, dtype=np.int64)
    sums = np.empty((4, room), dtype=np.int64)
    rows_of = np.empty(widest, dtype=np.int64)
    columns_of = np.empty(widest, dtype=np.int64)
    inverses = np.empty(widest, dtype=np.float64)
    one, n_left = whole(1), whole(0)
    for b in range(entropies.shape[0]):
        begins, ends = variables_start[b], variables_start[b + 1]
        n_cells = cells_in_planes(first, arities, most, variables, begins, ends)
        if n_cells > most:
            n_left += 1
            continue
        start, stop = candidates_start[b], candidates_start[b + 1]
        is_alone = start == stop
        start, stop = (start if start > begin else begin), (stop if stop < end else end)
        if not is_alone and not some_in_planes(
            candidates, start, stop, first, arities, most, n_cells
        ):
            n_left += 1
            continue
        n_levels = arities[variables[ends - 1]]
        where = np.empty(n_cells, dtype=np.int64)
        margin = np.empty(n_cells, dtype=np.int64)
        masks = context_margin(
            words, ones, first, arities, n_rows, variables, begins, ends, where, margin
        )
        own = b if heads.shape[0] > 1 else whole(0)
        h_s, h_sk = fold_table(
            margin, n_cells, n_levels, one, base_heads[own, 0], base_heads[own, 1], terms, tail,
            supports, nothing, constant, observed, clips,
        )  # fmt: skip
        entropies[b] = (h_sk - h_s) / SCALE
        # Contexts without candidates want no room for their tables.
        counts = np.empty((0 if is_alone else n_cells, room), dtype=np.int64)
        cells = np.empty(n_cells * widest, dtype=np.int64)
        following = start
        while following < stop:
            start = following
            following, listed, of_two = next_block(
                candidates, start, stop, first, arities, most, n_cells, planes
            )
            plane_counts(words, ones, pairs, masks, where, planes, listed, counts)
            close_levels(counts, listed, arities, variables, begins, ends)
            at_once = of_two >= 0 and n_levels == 2 and not observed
            if at_once:
                kind = head_of(of_two, classes, heads)
                fold_two_levels(
                    counts, margin, listed, heads[own, kind, 0], heads[own, kind, 1], terms, tail,
                    sums,
                )  # fmt: skip
            plane = whole(0)
            for c in range(start, following):
                k = candidates[c]
                n_candidate = arities[k]
                if not candidate_in_planes(first, arities, most, n_cells, k):
                    n_left += 1
                    continue
                plane += n_candidate - 1
                if is_among(k, variables, begins, ends):
                    nothing_gained(c, gains, stats)
                    continue
                kind = head_of(k, classes, heads)
                beside, both = heads[own, kind, 0], heads[own, kind, 1]
                j = plane - n_candidate + 1
                if at_once:
                    h_sl = finish(
                        sums[0, j], sums[2, j], beside, supports, nothing, constant, clips
                    )
                    h_skl = finish(sums[1, j], sums[3, j], both, supports, nothing, constant, clips)
                    if stats.shape[0]:
                        test_two_levels(counts, margin, j, plain, c, stats)
                else:
                    table_from_planes(counts, j, margin, n_candidate, cells)
                    h_sl, h_skl = fold_table(
                        cells, n_cells, n_levels, n_candidate, beside, both, terms, tail, supports,
                        nothing, constant, observed, clips,
                    )  # fmt: skip
                    if stats.shape[0]:
                        test_table(
                            cells, n_cells, n_levels, n_candidate, plain, rows_of, columns_of,
                            inverses, c, stats,
                        )  # fmt: skip
                gains[c] = (h_sk + h_sl - h_s - h_skl) / SCALE
    return n_left
