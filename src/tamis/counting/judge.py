"""The drivers: fold, and where asked test, the tables of contexts and candidates."""

from __future__ import annotations

import numpy as np

from tamis.counting.compiled import (
    Floats,
    Ints,
    Pairs,
    Tables,
    Words,
    compiled,
    inner,
    whole,
)
from tamis.counting.fold import finish, fold_table, fold_two_levels
from tamis.counting.independence import (
    SCALE,
    test_table,
    test_two_levels,
)
from tamis.counting.tables import (
    candidate_in_planes,
    cells_in_planes,
    close_levels,
    context_margin,
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
) -> tuple[int, int]:
    """List the planes of the candidates from ``begin`` on that planes are to count, until there
    are BLOCK or more.

    Returns the first candidate not looked at and the number of planes.
    """
    n_planes = 0
    while begin < stop and n_planes < BLOCK:
        k = candidates[begin]
        if candidate_in_planes(first, arities, most, n_cells, k):
            for q in range(first[k], first[k + 1]):
                planes[n_planes] = q
                n_planes += 1
        begin += 1
    return begin, n_planes


@inner
def some_in_planes(
    candidates: Ints, start: int, stop: int, first: Ints, arities: Ints, most: int, n_cells: int
) -> bool:
    """Whether planes are to count any of these candidates with a context of so many cells."""
    for c in range(start, stop):
        if candidate_in_planes(first, arities, most, n_cells, candidates[c]):
            return True
    return False


@compiled
def judge_planes(
    words: Words,
    ones: Ints,
    pairs: Pairs,
    first: Ints,
    arities: Ints,
    widest: int,
    n_rows: int,
    most: int,
    variables: Ints,
    variables_start: Ints,
    candidates: Ints,
    candidates_start: Ints,
    begin: int,
    end: int,
    base_choices: Ints,
    choices: Ints,
    classes: Ints,
    lookup: Tables,
    plain: Ints,
    entropies: Floats,
    gains: Floats,
    stats: Floats,
) -> None:
    """Judge the candidates of each context, counting in bit planes: those from ``begin`` to ``end``
    whose tables want no more than ``most`` counts. Others are left to ``judge_rows``.

    The variables of context b, its conditioning set and then its target, are
    ``variables[variables_start[b] : variables_start[b + 1]]``; candidates likewise; none of these
    has more than ``widest`` levels. ``choices`` are the supports' rows for (S, X_l) and
    (S, X_k, X_l), by context and class of candidate. ``stats`` has a row a candidate, or none
    when no tests are wanted. A candidate that is part of its context gains nothing and has no
    test. Candidates are counted in blocks whose planes stay in the cache
    while the context's masks pass.
    """
    terms, tail, supports, nothing, constant, observed, clips = lookup
    room = BLOCK + widest
    planes = np.empty(room, dtype=np.int64)
    rows = np.empty(widest, dtype=np.int64)
    columns = np.empty(widest, dtype=np.int64)
    inverses = np.empty(widest, dtype=np.float64)
    one = whole(1)
    for b in range(entropies.shape[0]):
        begins, ends = variables_start[b], variables_start[b + 1]
        n_cells = cells_in_planes(first, arities, most, variables, begins, ends)
        if n_cells > most:
            continue
        start, stop = candidates_start[b], candidates_start[b + 1]
        is_alone = start == stop
        start, stop = (start if start > begin else begin), (stop if stop < end else end)
        if not is_alone and not some_in_planes(
            candidates, start, stop, first, arities, most, n_cells
        ):
            continue
        n_levels = arities[variables[ends - 1]]
        where = np.empty(n_cells, dtype=np.int64)
        margin = np.empty(n_cells, dtype=np.int64)
        masks = context_margin(
            words, ones, first, arities, n_rows, variables, begins, ends, where, margin
        )
        h_s, h_sk = fold_table(
            margin, n_cells, n_levels, one, base_choices[b, 0], base_choices[b, 1], terms,
            tail, supports, nothing, constant, observed, clips,
        )  # fmt: skip
        entropies[b] = (h_sk - h_s) / SCALE
        # Contexts without candidates want no room for their tables.
        counts = np.empty((0 if is_alone else n_cells, room), dtype=np.int64)
        cells = np.empty(n_cells * widest, dtype=np.int64)
        following = start
        while following < stop:
            start = following
            following, listed = next_block(
                candidates, start, stop, first, arities, most, n_cells, planes
            )
            plane_counts(words, ones, pairs, masks, where, planes, listed, counts)
            close_levels(counts, listed, arities, variables, begins, ends)
            plane = whole(0)
            for c in range(start, following):
                k = candidates[c]
                n_candidate = arities[k]
                if not candidate_in_planes(first, arities, most, n_cells, k):
                    continue
                plane += n_candidate - 1
                if is_among(k, variables, begins, ends):
                    nothing_gained(c, gains, stats)
                    continue
                table_from_planes(counts, plane - n_candidate + 1, margin, n_candidate, cells)
                h_sl, h_skl = fold_table(
                    cells, n_cells, n_levels, n_candidate, choices[b, classes[k], 0],
                    choices[b, classes[k], 1], terms, tail, supports, nothing, constant, observed,
                    clips,
                )  # fmt: skip
                gains[c] = (h_sk + h_sl - h_s - h_skl) / SCALE
                if stats.shape[0]:
                    test_table(
                        cells, n_cells, n_levels, n_candidate, plain, rows, columns,
                        inverses, c, stats,
                    )  # fmt: skip


@compiled
def judge_two_levels(
    words: Words,
    ones: Ints,
    pairs: Pairs,
    first: Ints,
    arities: Ints,
    widest: int,
    n_rows: int,
    most: int,
    variables: Ints,
    variables_start: Ints,
    candidates: Ints,
    candidates_start: Ints,
    begin: int,
    end: int,
    base_choices: Ints,
    choices: Ints,
    classes: Ints,
    lookup: Tables,
    plain: Ints,
    entropies: Floats,
    gains: Floats,
    stats: Floats,
) -> None:
    """``judge_planes`` where every column with planes has two levels, and so one plane, and the
    support is not what occurs."""
    terms, tail, supports, nothing, constant, observed, clips = lookup
    room = BLOCK + widest
    planes = np.empty(room, dtype=np.int64)
    sums = np.empty((4, room), dtype=np.int64)
    one = whole(1)
    for b in range(entropies.shape[0]):
        begins, ends = variables_start[b], variables_start[b + 1]
        n_cells = cells_in_planes(first, arities, most, variables, begins, ends)
        if n_cells > most:
            continue
        start, stop = candidates_start[b], candidates_start[b + 1]
        is_alone = start == stop
        start, stop = (start if start > begin else begin), (stop if stop < end else end)
        if not is_alone and not some_in_planes(
            candidates, start, stop, first, arities, most, n_cells
        ):
            continue
        where = np.empty(n_cells, dtype=np.int64)
        margin = np.empty(n_cells, dtype=np.int64)
        masks = context_margin(
            words, ones, first, arities, n_rows, variables, begins, ends, where, margin
        )
        h_s, h_sk = fold_table(
            margin, n_cells, whole(2), one, base_choices[b, 0], base_choices[b, 1], terms,
            tail, supports, nothing, constant, observed, clips,
        )  # fmt: skip
        entropies[b] = (h_sk - h_s) / SCALE
        counts = np.empty((0 if is_alone else n_cells, room), dtype=np.int64)
        beside, both = choices[b, 0, 0], choices[b, 0, 1]
        following = start
        while following < stop:
            start = following
            following, listed = next_block(
                candidates, start, stop, first, arities, most, n_cells, planes
            )
            plane_counts(words, ones, pairs, masks, where, planes, listed, counts)
            close_levels(counts, listed, arities, variables, begins, ends)
            fold_two_levels(counts, margin, listed, beside, both, terms, tail, sums)
            j = whole(-1)
            for c in range(start, following):
                if not candidate_in_planes(first, arities, most, n_cells, candidates[c]):
                    continue
                j += 1
                if is_among(candidates[c], variables, begins, ends):
                    nothing_gained(c, gains, stats)
                    continue
                h_sl = finish(sums[0, j], sums[2, j], beside, supports, nothing, constant, clips)
                h_skl = finish(sums[1, j], sums[3, j], both, supports, nothing, constant, clips)
                gains[c] = (h_sk + h_sl - h_s - h_skl) / SCALE
                if stats.shape[0]:
                    test_two_levels(counts, margin, j, plain, c, stats)
