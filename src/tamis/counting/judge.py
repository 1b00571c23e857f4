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
from tamis.counting.tables import close_levels, context_margin, plane_counts, table_from_planes

BLOCK = 128
"""Planes counted together: enough to vectorise over, few enough to stay in the cache."""


@inner
def next_block(
    candidates: Ints,
    begin: int,
    stop: int,
    first: Ints,
    planes: Ints,
) -> tuple[int, int]:
    """List the planes of the candidates from ``begin`` on, until there are BLOCK or more.

    Returns the first candidate not listed and the number of planes.
    """
    n_planes = 0
    while begin < stop and n_planes < BLOCK:
        k = candidates[begin]
        for q in range(first[k], first[k + 1]):
            planes[n_planes] = q
            n_planes += 1
        begin += 1
    return begin, n_planes


@inner
def is_among(k: int, variables: Ints, start: int, stop: int) -> bool:
    """Whether a candidate is the target or given, and so has nothing to add."""
    for v in range(start, stop):  # noqa: SIM110 - the compiler knows no generators
        if variables[v] == k:
            return True
    return False


@inner
def nothing_gained(c: int, gains: Floats, stats: Floats) -> None:
    """Candidate c is part of its context."""
    gains[c] = 0.0
    if stats.shape[0]:
        for i in range(stats.shape[1]):
            stats[c, i] = 0.0


@inner
def n_cells_of(arities: Ints, variables: Ints, start: int, stop: int) -> int:
    """The cells of the table of ``variables[start:stop]``."""
    n_cells = whole(1)
    for v in range(start, stop):
        n_cells *= arities[variables[v]]
    return n_cells


@compiled
def judge_planes(
    words: Words,
    ones: Ints,
    pairs: Pairs,
    first: Ints,
    arities: Ints,
    widest: int,
    n_rows: int,
    variables: Ints,
    variables_start: Ints,
    candidates: Ints,
    candidates_start: Ints,
    base_choices: Ints,
    choices: Ints,
    classes: Ints,
    lookup: Tables,
    plain: Ints,
    entropies: Floats,
    gains: Floats,
    stats: Floats,
) -> None:
    """Judge the candidates of each context, counting in bit planes.

    The variables of context b, its conditioning set and then its target, are
    ``variables[variables_start[b] : variables_start[b + 1]]``; candidates likewise; none has
    more than ``widest`` levels. ``choices`` are the supports' rows for (S, X_l) and
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
        n_cells = n_cells_of(arities, variables, begins, ends)
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
        end = candidates_start[b]
        stop = candidates_start[b + 1]
        # Contexts without candidates want no room for their tables.
        counts = np.empty((n_cells if end < stop else 0, room), dtype=np.int64)
        cells = np.empty(n_cells * widest, dtype=np.int64)
        while end < stop:
            begin = end
            end, listed = next_block(candidates, begin, stop, first, planes)
            plane_counts(words, ones, pairs, masks, where, planes, listed, counts)
            close_levels(counts, listed, arities, variables, begins, ends)
            start = whole(0)
            for c in range(begin, end):
                k = candidates[c]
                n_candidate = arities[k]
                if is_among(k, variables, begins, ends):
                    nothing_gained(c, gains, stats)
                    start += n_candidate - 1
                    continue
                table_from_planes(counts, start, margin, n_candidate, cells)
                start += n_candidate - 1
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
    variables: Ints,
    variables_start: Ints,
    candidates: Ints,
    candidates_start: Ints,
    base_choices: Ints,
    choices: Ints,
    classes: Ints,
    lookup: Tables,
    plain: Ints,
    entropies: Floats,
    gains: Floats,
    stats: Floats,
) -> None:
    """``judge_planes`` where every column has two levels, and so one plane, and the support is not
    what occurs."""
    terms, tail, supports, nothing, constant, observed, clips = lookup
    room = BLOCK + widest
    planes = np.empty(room, dtype=np.int64)
    sums = np.empty((4, room), dtype=np.int64)
    one = whole(1)
    for b in range(entropies.shape[0]):
        begins, ends = variables_start[b], variables_start[b + 1]
        n_cells = n_cells_of(arities, variables, begins, ends)
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
        end = candidates_start[b]
        stop = candidates_start[b + 1]
        counts = np.empty((n_cells if end < stop else 0, room), dtype=np.int64)
        beside, both = choices[b, 0, 0], choices[b, 0, 1]
        while end < stop:
            begin = end
            end, listed = next_block(candidates, begin, stop, first, planes)
            plane_counts(words, ones, pairs, masks, where, planes, listed, counts)
            close_levels(counts, listed, arities, variables, begins, ends)
            fold_two_levels(counts, margin, listed, beside, both, terms, tail, sums)
            for c in range(begin, end):
                if is_among(candidates[c], variables, begins, ends):
                    nothing_gained(c, gains, stats)
                    continue
                j = c - begin
                h_sl = finish(sums[0, j], sums[2, j], beside, supports, nothing, constant, clips)
                h_skl = finish(sums[1, j], sums[3, j], both, supports, nothing, constant, clips)
                gains[c] = (h_sk + h_sl - h_s - h_skl) / SCALE
                if stats.shape[0]:
                    test_two_levels(counts, margin, j, plain, c, stats)


@compiled
def judge_tables(
    cells: Ints,
    starts: Ints,
    n_levels: Ints,
    widths: Ints,
    bases: Ints,
    base_choices: Ints,
    choices: Ints,
    lookup: Tables,
    plain: Ints,
    entropies: Floats,
    gains: Floats,
    stats: Floats,
) -> None:
    """Judge tables that have been counted, laid end to end: one for each context, or all of one
    context, whose H(S) and H(S, X_k) are then kept in ``bases`` after a 1 that says so.

    ``n_levels`` are those of the targets, ``widths`` those of the candidates; ``choices`` are the
    supports' rows for (S, X_l) and (S, X_k, X_l). ``stats`` has a row a table, or none when no
    tests are wanted.
    """
    terms, tail, supports, nothing, constant, observed, clips = lookup
    one = whole(1)
    shared = bases.shape[0] > 0
    largest = highest = widest = one
    for c in range(widths.shape[0]):
        n_cells = (starts[c + 1] - starts[c]) // widths[c]
        if n_cells > largest:
            largest = n_cells
        if n_levels[c] > highest:
            highest = n_levels[c]
        if widths[c] > widest:
            widest = widths[c]
    margin = np.empty(largest, dtype=np.int64)
    rows = np.empty(highest, dtype=np.int64)
    columns = np.empty(widest, dtype=np.int64)
    inverses = np.empty(widest, dtype=np.float64)
    for c in range(widths.shape[0]):
        width = widths[c]
        table = cells[starts[c] : starts[c + 1]]
        n_cells = table.shape[0] // width
        if shared and bases[0]:
            h_s, h_sk = bases[1], bases[2]
        else:
            for e in range(n_cells):
                total = np.int64(0)
                for y in range(width):
                    total += table[e * width + y]
                margin[e] = total
            h_s, h_sk = fold_table(
                margin, n_cells, n_levels[c], one, base_choices[c, 0], base_choices[c, 1], terms,
                tail, supports, nothing, constant, observed, clips,
            )  # fmt: skip
            entropies[0 if shared else c] = (h_sk - h_s) / SCALE
            if shared:
                bases[0], bases[1], bases[2] = 1, h_s, h_sk
        h_sl, h_skl = fold_table(
            table, n_cells, n_levels[c], width, choices[c, 0], choices[c, 1], terms, tail,
            supports, nothing, constant, observed, clips,
        )  # fmt: skip
        gains[c] = (h_sk + h_sl - h_s - h_skl) / SCALE
        if stats.shape[0]:
            test_table(table, n_cells, n_levels[c], width, plain, rows, columns, inverses, c, stats)
