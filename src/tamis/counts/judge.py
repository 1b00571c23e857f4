"""The two drivers: fold, and where asked test, the tables of contexts and candidates."""

from __future__ import annotations

import numpy as np

from tamis.counts.compiled import Codes, Floats, Ints, Pairs, Tables, Words, compiled, inner
from tamis.counts.fold import base_entropies, finish, fold_table, fold_two_levels
from tamis.counts.independence import SCALE, test_table, test_two_levels
from tamis.counts.tables import (
    context_masks,
    margin_from_planes,
    plane_counts,
    table_from_codes,
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
def is_among(k: int, context: Ints) -> bool:
    """Whether a candidate is the target or given, and so has nothing to add."""
    for v in context:  # noqa: SIM110 - the compiler knows no generators
        if v == k:
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
    planes = np.empty(BLOCK + widest, dtype=np.int64)
    rows = np.empty(widest, dtype=np.int64)
    columns = np.empty(widest, dtype=np.int64)
    inverses = np.empty(widest, dtype=np.float64)
    sums = np.empty((4, BLOCK + widest), dtype=np.int64)
    for b in range(entropies.shape[0]):
        context = variables[variables_start[b] : variables_start[b + 1]]
        sizes = np.empty(context.shape[0], dtype=np.int64)
        n_cells = 1
        for v in range(context.shape[0]):
            sizes[v] = arities[context[v]]
            n_cells *= sizes[v]
        n_levels = sizes[-1]
        single = np.empty(n_cells, dtype=np.int64)
        slot = np.empty(n_cells, dtype=np.int64)
        masks = context_masks(words, first, context, sizes, single, slot)
        margin = margin_from_planes(words, ones, masks, single, slot, sizes, n_rows)
        alone = context.shape[0] == 1
        h_s, h_sk = base_entropies(margin, n_levels, alone, base_choices[b], lookup)
        entropies[b] = (h_sk - h_s) / SCALE
        end = candidates_start[b]
        stop = candidates_start[b + 1]
        # Contexts without candidates want no room for their tables.
        counts = np.empty((n_cells if end < stop else 0, BLOCK + widest), dtype=np.int64)
        cells = np.empty(n_cells * widest, dtype=np.int64)
        while end < stop:
            begin = end
            end, n_planes = next_block(candidates, begin, stop, first, planes)
            plane_counts(words, ones, pairs, masks, single, slot, sizes, planes, n_planes, counts)
            of_two = widest == 2 and n_levels == 2 and n_planes == end - begin and not observed
            if of_two:
                rows_of = choices[b, classes[candidates[begin]]]
                fold_two_levels(counts, margin, n_planes, rows_of[0], rows_of[1], terms, tail, sums)
            start = 0
            for c in range(begin, end):
                k = candidates[c]
                n_candidate = arities[k]
                start += n_candidate - 1
                if is_among(k, context):
                    gains[c] = 0.0
                    for i in range(stats.shape[1] if stats.shape[0] else 0):
                        stats[c, i] = 0.0
                    continue
                beside_row = choices[b, classes[k], 0]
                both_row = choices[b, classes[k], 1]
                if of_two:
                    j = c - begin
                    h_sl = finish(
                        sums[0, j], sums[2, j], beside_row, supports, nothing, constant, clips
                    )
                    h_skl = finish(
                        sums[1, j], sums[3, j], both_row, supports, nothing, constant, clips
                    )
                else:
                    table_from_planes(counts, margin, start - n_candidate + 1, n_candidate, cells)
                    h_sl, h_skl = fold_table(
                        cells, n_cells, n_levels, n_candidate, beside_row, both_row, terms, tail,
                        supports, nothing, constant, observed, clips,
                    )  # fmt: skip
                gains[c] = (h_sk + h_sl - h_s - h_skl) / SCALE
                if stats.shape[0] and of_two:
                    test_two_levels(counts, margin, c - begin, plain, c, stats)
                elif stats.shape[0]:
                    test_table(
                        cells, n_cells, n_levels, n_candidate, plain, rows, columns, inverses,
                        c, stats,
                    )  # fmt: skip


@compiled
def judge_codes(
    cell_of_row: Ints,
    n_cells: int,
    n_levels: int,
    is_empty: bool,
    codes: Codes,
    arities: Ints,
    candidates: Ints,
    base_choices: Ints,
    choices: Ints,
    classes: Ints,
    lookup: Tables,
    plain: Ints,
    entropies: Floats,
    gains: Floats,
    stats: Floats,
) -> None:
    """Judge the candidates of one context, counting row by row."""
    terms, tail, supports, nothing, constant, observed, clips = lookup
    n_rows = cell_of_row.shape[0]
    margin = np.zeros(n_cells, dtype=np.int64)
    for i in range(n_rows):
        margin[cell_of_row[i]] += 1
    h_s, h_sk = base_entropies(margin, n_levels, is_empty, base_choices, lookup)
    entropies[0] = (h_sk - h_s) / SCALE
    widest = 1
    for k in candidates:
        if arities[k] > widest:
            widest = arities[k]
    cells = np.empty(n_cells * widest, dtype=np.int64)
    rows = np.empty(n_levels, dtype=np.int64)
    columns = np.empty(widest, dtype=np.int64)
    inverses = np.empty(widest, dtype=np.float64)
    for c in range(candidates.shape[0]):
        k = candidates[c]
        n_candidate = arities[k]
        table_from_codes(cell_of_row, codes, k, n_candidate, n_cells, cells)
        h_sl, h_skl = fold_table(
            cells, n_cells, n_levels, n_candidate, choices[classes[k], 0],
            choices[classes[k], 1], terms, tail, supports, nothing, constant, observed, clips,
        )  # fmt: skip
        gains[c] = (h_sk + h_sl - h_s - h_skl) / SCALE
        if stats.shape[0]:
            test_table(
                cells, n_cells, n_levels, n_candidate, plain, rows, columns, inverses, c, stats
            )
