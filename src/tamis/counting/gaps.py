"""Counting rows that have a value in every column of a table, and no others.

A missing value has a code of its own, the number of levels of its column, and a row whose
context is missing somewhere has the cell -1. Such rows are passed over.
"""

from __future__ import annotations

import numpy as np

from tamis.counting.compiled import Codes, Floats, Ints, Tables, compiled, inner, whole
from tamis.counting.fold import fold_table
from tamis.counting.independence import test_table


@compiled
def extended_over_gaps(states: Ints, codes: Codes, column: int, arity: int) -> Ints:
    """Mixed-radix states with one more column appended; -1 where it or what was before is
    missing."""
    longer = np.empty(states.shape[0], dtype=np.int64)
    for i in range(states.shape[0]):
        code = np.int64(codes[column, i])
        longer[i] = -1 if states[i] < 0 or code >= arity else states[i] * arity + code
    return longer


@compiled
def relabel_over_gaps(states: Ints, size: int) -> int:
    """Number the states that occur 0, 1, ... in order of their value; return how many."""
    number = np.zeros(size, dtype=np.int64)
    for state in states:
        if state >= 0:
            number[state] = 1
    total = 0
    for state in range(size):
        if number[state]:
            number[state] = total
            total += 1
    for i in range(states.shape[0]):
        if states[i] >= 0:
            states[i] = number[states[i]]
    return total


@inner
def table_over_gaps(
    cell_of_row: Ints,
    codes: Codes,
    candidate: int,
    n_candidate: int,
    n_cells: int,
    every: Ints,
    cells: Ints,
) -> int:
    """Fill ``cells`` by going through the rows once; return how many rows are in it.

    All rows are counted, in ``every``, where missing is one more cell and one more level: to ask
    each row would take longer than to count it.
    """
    width = n_candidate + 1
    for e in range((n_cells + 1) * width):
        every[e] = 0
    for i in range(cell_of_row.shape[0]):
        cell = cell_of_row[i]
        cell = n_cells if cell < 0 else cell
        every[cell * width + np.int64(codes[candidate, i])] += 1
    total = 0
    for e in range(n_cells):
        for y in range(n_candidate):
            count = every[e * width + y]
            cells[e * n_candidate + y] = count
            total += count
    return total


@compiled
def judge_over_gaps(
    cell_of_row: Ints,
    n_cells: int,
    n_levels: int,
    codes: Codes,
    arities: Ints,
    candidates: Ints,
    lookup: Tables,
    plain: Ints,
    used: Ints,
    sums: Ints,
    stats: Floats,
) -> None:
    """Judge the candidates of one context, each on the rows that have it and the context.

    ``used`` receives the number of those rows; ``sums`` f added over the tables of S, (S, X_k),
    (S, X_l) and (S, X_k, X_l), with the f of all rows of the table; ``stats`` their tests, with
    the plug-in gain in shares of all rows too.
    """
    terms, tail, supports, nothing, constant, observed, clips = lookup
    widest = 1
    for c in range(candidates.shape[0]):
        if arities[candidates[c]] > widest:
            widest = arities[candidates[c]]
    cells = np.empty(n_cells * widest, dtype=np.int64)
    every = np.empty((n_cells + 1) * (widest + 1), dtype=np.int64)
    margin = np.empty(n_cells, dtype=np.int64)
    rows = np.empty(n_levels, dtype=np.int64)
    columns = np.empty(widest, dtype=np.int64)
    inverses = np.empty(widest, dtype=np.float64)
    zero, one = whole(0), whole(1)
    for c in range(candidates.shape[0]):
        k = candidates[c]
        n_candidate = arities[k]
        used[c] = table_over_gaps(cell_of_row, codes, k, n_candidate, n_cells, every, cells)
        for e in range(n_cells):
            margin[e] = 0
            for y in range(n_candidate):
                margin[e] += cells[e * n_candidate + y]
        sums[c, 0], sums[c, 1] = fold_table(
            margin, n_cells, n_levels, one, zero, zero, terms, tail, supports, nothing,
            constant, observed, clips,
        )  # fmt: skip
        sums[c, 2], sums[c, 3] = fold_table(
            cells, n_cells, n_levels, n_candidate, zero, zero, terms, tail, supports, nothing,
            constant, observed, clips,
        )  # fmt: skip
        test_table(cells, n_cells, n_levels, n_candidate, plain, rows, columns, inverses, c, stats)
