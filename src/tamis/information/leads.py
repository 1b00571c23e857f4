"""How far a lead H(b | S) - H(a | S) may be off, by the spread of its terms over the rows.

A term is ln n(s, a) - ln n(s, b), s, a and b being those of the row: whole numbers of
2^-26 nats here, so that their sums are the same in any order of the rows and in parts of any size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tamis.counts.tables import SPLIT
from tamis.information.interface import Ints

ONE = 2**26
"""A nat. Logarithms of numbers of rows are less than 2^31 of its parts, and their squares fit."""


def fixed_logs(counts: Ints) -> Ints:
    """The logarithms of numbers of rows; that of 0, which no row has, is 0."""
    logs: Ints = np.rint(np.log(np.maximum(counts, 1)) * ONE).astype(np.int64)
    return logs


def square_parts(offs: Ints) -> tuple[Ints, Ints]:
    """The squares of differences in two parts, as ``counts.tables.difference_sums`` has them."""
    squares = offs * offs
    return squares // SPLIT, squares % SPLIT


def error_of_lead(sums: Sequence[int | np.int64], n_rows: int, n_cells: int) -> float:
    """From the spread over the rows, and a row for each cell.

    Near even levels that spread vanishes, and what is left is the noise of the estimators, which
    is of the order of the cells over the rows.
    """
    total, upper, lower = map(int, sums)
    # In whole numbers of any size: nothing is lost where the two almost cancel.
    spread = n_rows * (upper * SPLIT + lower) - total * total
    variance = spread / (n_rows * ONE) ** 2
    return math.hypot(math.sqrt(variance / n_rows), n_cells / n_rows)
