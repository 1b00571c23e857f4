"""The drivers for one table a context: several candidates taken as one, a single one, or none."""

from __future__ import annotations

import numpy as np

from tamis.counts.compiled import Floats, Ints, Tables, Words, compiled
from tamis.counts.fold import base_entropies, fold_table
from tamis.counts.independence import SCALE, test_table
from tamis.counts.tables import context_masks, margin_from_planes


@compiled
def judge_joint_planes(
    words: Words,
    ones: Ints,
    first: Ints,
    arities: Ints,
    n_rows: int,
    variables: Ints,
    starts: Ints,
    n_given: Ints,
    base_choices: Ints,
    choices: Ints,
    lookup: Tables,
    plain: Ints,
    entropies: Floats,
    gains: Floats,
    stats: Floats,
) -> None:
    """Judge each context with its candidates taken together, counting in bit planes.

    ``variables[starts[b] : starts[b + 1]]`` are the conditioning set of context b, of which there
    are ``n_given[b]``, its target, and the candidates: the joint table of all of them is counted.
    ``choices`` are the supports' rows for (S, X_l) and (S, X_k, X_l). ``stats`` has a row a
    context, or none when no tests are wanted.
    """
    terms, tail, supports, nothing, constant, observed, clips = lookup
    for b in range(gains.shape[0]):
        context = variables[starts[b] : starts[b + 1]]
        sizes = np.empty(context.shape[0], dtype=np.int64)
        n_cells, width = 1, 1
        for v in range(context.shape[0]):
            sizes[v] = arities[context[v]]
            if v <= n_given[b]:
                n_cells *= sizes[v]
            else:
                width *= sizes[v]
        n_levels = sizes[n_given[b]]
        single = np.empty(n_cells * width, dtype=np.int64)
        slot = np.empty(n_cells * width, dtype=np.int64)
        masks = context_masks(words, first, context, sizes, single, slot)
        cells = margin_from_planes(words, ones, masks, single, slot, sizes, n_rows)
        margin = np.zeros(n_cells, dtype=np.int64)
        for e in range(n_cells):
            for y in range(width):
                margin[e] += cells[e * width + y]
        h_s, h_sk = base_entropies(margin, n_levels, n_given[b] == 0, base_choices[b], lookup)
        entropies[b] = (h_sk - h_s) / SCALE
        h_sl, h_skl = fold_table(
            cells, n_cells, n_levels, width, choices[b, 0], choices[b, 1], terms, tail, supports,
            nothing, constant, observed, clips,
        )  # fmt: skip
        gains[b] = (h_sk + h_sl - h_s - h_skl) / SCALE
        if stats.shape[0]:
            rows = np.empty(n_levels, dtype=np.int64)
            columns = np.empty(width, dtype=np.int64)
            inverses = np.empty(width, dtype=np.float64)
            test_table(cells, n_cells, n_levels, width, plain, rows, columns, inverses, b, stats)


@compiled
def joint_cells(
    words: Words,
    ones: Ints,
    first: Ints,
    arities: Ints,
    n_rows: int,
    variables: Ints,
    starts: Ints,
    cells: Ints,
    cell_starts: Ints,
) -> None:
    """Count the joint table of each set of variables, ``variables[starts[b] : starts[b + 1]]``."""
    for b in range(starts.shape[0] - 1):
        together = variables[starts[b] : starts[b + 1]]
        sizes = np.empty(together.shape[0], dtype=np.int64)
        for v in range(together.shape[0]):
            sizes[v] = arities[together[v]]
        n_cells = cell_starts[b + 1] - cell_starts[b]
        single = np.empty(n_cells, dtype=np.int64)
        slot = np.empty(n_cells, dtype=np.int64)
        masks = context_masks(words, first, together, sizes, single, slot)
        cells[cell_starts[b] : cell_starts[b + 1]] = margin_from_planes(
            words, ones, masks, single, slot, sizes, n_rows
        )
