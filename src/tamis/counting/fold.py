"""Entropies of a table: f(count) summed over its cells, in fixed point.

Nothing here knows an estimator; ``lookup.py`` says what f is and why the sums are integers.
"""

from __future__ import annotations

import numpy as np

from tamis.counting.compiled import Ints, inner, whole

HEAD = 64
"""Counts below this have an f of their own for each size of the support."""


@inner
def finish(
    total: np.int64,
    occupied: int,
    row: int,
    supports: Ints,
    nothing: Ints,
    constant: np.int64,
    clips: bool,
) -> np.int64:
    """Add what the unseen cells and the estimator's constant contribute.

    All rows in one cell: the columns are constant, and that is certain, whatever f says.
    """
    if occupied <= 1:
        return np.int64(0)
    total += constant + (supports[row] - occupied) * nothing[row]
    if clips and total < 0:
        return np.int64(0)
    return total


@inner
def occupied_cells(
    cells: Ints,
    n_cells: int,
    n_levels: int,
    n_candidate: int,
) -> tuple[int, int]:
    """How many cells of (S, X_l) and of (S, X_k, X_l) occur."""
    beside = both = 0
    for s in range(0, n_cells, n_levels):
        for y in range(n_candidate):
            here = 0
            for x in range(n_levels):
                here += cells[(s + x) * n_candidate + y] > 0
            both += here
            beside += here > 0
    return beside, both


@inner
def fold_table(
    cells: Ints,
    n_cells: int,
    n_levels: int,
    n_candidate: int,
    beside_row: int,
    both_row: int,
    terms: Ints,
    tail: int,
    supports: Ints,
    nothing: Ints,
    constant: np.int64,
    observed: bool,
    clips: bool,
) -> tuple[np.int64, np.int64]:
    """H(S, X_l) and H(S, X_k, X_l) of a table ``cells[(s, x), y]``; with a single y, H(S) and
    H(S, X_k).

    The lookup comes in pieces, and f is read without a call: either would cost more than
    the sums.
    """
    if observed:
        beside_row, both_row = occupied_cells(cells, n_cells, n_levels, n_candidate)
    beside_head = beside_row * HEAD
    both_head = both_row * HEAD
    beside = np.int64(0)
    both = np.int64(0)
    n_beside = n_both = whole(0)
    for s in range(0, n_cells, n_levels):
        for y in range(n_candidate):
            total = np.int64(0)
            for x in range(n_levels):
                count = cells[(s + x) * n_candidate + y]
                both += terms[count + (tail if count >= HEAD else both_head)]
                n_both += int(count > 0)
                total += count
            beside += terms[total + (tail if total >= HEAD else beside_head)]
            n_beside += int(total > 0)
    return (
        finish(beside, n_beside, beside_row, supports, nothing, constant, clips),
        finish(both, n_both, both_row, supports, nothing, constant, clips),
    )


@inner
def fold_two_levels(
    counts: Ints,
    margin: Ints,
    n_planes: int,
    beside_row: int,
    both_row: int,
    terms: Ints,
    tail: int,
    sums: Ints,
) -> None:
    """H(S, X_l) and H(S, X_k, X_l) before they are finished, for many X_l at once where all have
    two levels: most tables are such, and loops over two levels cost more than what they add.

    ``counts[(s, x), l]`` are the rows of X_l's first level, ``margin[(s, x)]`` all rows.
    ``sums[:, l]`` receives the two sums, and how many cells of the two tables occur.
    """
    beside_head = beside_row * HEAD
    both_head = both_row * HEAD
    for j in range(n_planes):
        for i in range(4):
            sums[i, j] = 0
    for s in range(0, margin.shape[0], 2):
        for j in range(n_planes):
            a = counts[s, j]
            b = counts[s + 1, j]
            c = margin[s] - a
            d = margin[s + 1] - b
            sums[1, j] += terms[a + (tail if a >= HEAD else both_head)]
            sums[1, j] += terms[b + (tail if b >= HEAD else both_head)]
            sums[1, j] += terms[c + (tail if c >= HEAD else both_head)]
            sums[1, j] += terms[d + (tail if d >= HEAD else both_head)]
            sums[3, j] += int(a > 0) + int(b > 0) + int(c > 0) + int(d > 0)
            a += b
            c += d
            sums[0, j] += terms[a + (tail if a >= HEAD else beside_head)]
            sums[0, j] += terms[c + (tail if c >= HEAD else beside_head)]
            sums[2, j] += int(a > 0) + int(c > 0)
