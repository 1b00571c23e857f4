"""How far H(b | S) - H(a | S) may be off: the spread of its terms, from the table of (S, a, b)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tamis.blocks.counting import BlockCounts
from tamis.counts.compiled import Floats, Ints
from tamis.information.leads import error_of_lead, fixed_logs, square_parts


def lead_errors(counts: BlockCounts, given: Sequence[tuple[int, ...]], pairs: Ints) -> Floats:
    """The standard error of each lead."""
    contexts = [(a, strata) for strata, (a, _) in zip(given, pairs.tolist(), strict=True)]
    tables = counts.joint_tables(contexts, pairs[:, 1].tolist())
    found = np.empty(len(contexts))
    for i, (keys, rows) in enumerate(tables):
        a, b = pairs[i].tolist()
        size_a, size_b = int(counts.arities[a]), int(counts.arities[b])
        found[i] = _error(keys, rows, size_a, size_b, counts.n_rows)
    return found


def _error(keys: Ints, rows: Ints, size_a: int, size_b: int, n_rows: int) -> float:
    """From the cells (s, a, b) that occur, by their keys, and their rows."""
    pair, b = np.divmod(keys, size_b)
    of_a, rows_a = _margin(pair, rows)
    of_b, rows_b = _margin(pair // size_a * size_b + b, rows)
    offs = fixed_logs(rows_a)[of_a] - fixed_logs(rows_b)[of_b]
    upper, lower = square_parts(offs)
    sums = _dot(rows, offs), _dot(rows, upper), _dot(rows, lower)
    return error_of_lead(sums, n_rows, max(len(rows_a), len(rows_b)))


def _dot(rows: Ints, values: Ints) -> int:
    """The sum of the products, whatever the number of rows: beyond 2^32 of them it could be too
    large for 64 bits, so that high and low bits are multiplied apart."""
    high, low = np.divmod(rows, 2**16)
    return int(high @ values) * 2**16 + int(low @ values)


def _margin(keys: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """The place of each cell's key among those that occur, and the rows of these."""
    found, place = np.unique(keys, return_inverse=True)
    sums = np.zeros(len(found), dtype=np.int64)
    np.add.at(sums, place, rows)
    return place, sums
