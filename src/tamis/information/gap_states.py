"""The joint states of columns with gaps: numbered from 0, and -1 in rows that lack one of them."""

from __future__ import annotations

import math

import numpy as np

from tamis.constants import constants
from tamis.counting.compiled import Codes, Ints
from tamis.counting.counts import DENSE_CELLS
from tamis.counting.gaps import extended_over_gaps, relabel_over_gaps
from tamis.counting.memory import STATES_BYTES
from tamis.tables.columns import smallest_unsigned
from tamis.tables.table import Table


class GapStates:
    """The states of sets of columns of one table, remembered.

    ``codes`` are the table's, with the number of levels of a column where it is missing; tables
    of more than ``most_cells`` are not laid out.
    """

    def __init__(self, table: Table) -> None:
        self.most_cells = min(DENSE_CELLS, max(2**16, 64 * table.n_rows))
        self.codes = _with_gaps(table)
        self._n_rows = table.n_rows
        self._sizes: list[int] = table.arities.tolist()
        self._known: dict[tuple[int, ...], tuple[Ints, int]] = {}

    def cells(self, target: int, given: tuple[int, ...]) -> tuple[Ints, int]:
        """For each row its stratum and the target's level in one number, the level running
        fastest; and the number of strata."""
        strata, n_strata = self.of(given)
        return extended_over_gaps(strata, self.codes, target, self._sizes[target]), n_strata

    def of(self, columns: tuple[int, ...]) -> tuple[Ints, int]:
        """The joint state of these columns in each row, and how many there are.

        Sets grow by one column at a time, so the states of all but the last are often at hand.
        """
        size = len(columns)
        while size and columns[:size] not in self._known:
            size -= 1
        nothing = np.zeros(self._n_rows, dtype=np.int64), 1
        known = self._known[columns[:size]] if size else nothing
        for k in columns[size:]:
            known = self._extended(*known, k)
        self._known[columns] = known
        while len(self._known) * self._n_rows * 8 > STATES_BYTES:
            self._known.pop(next(iter(self._known)))
        return known

    def _extended(self, before: Ints, n_states: int, k: int) -> tuple[Ints, int]:
        width = self._sizes[k]
        states = extended_over_gaps(before, self.codes, k, width)
        if n_states * width <= self.most_cells:
            return states, max(int(relabel_over_gaps(states, n_states * width)), 1)
        values, numbers = np.unique(states, return_inverse=True)
        missing = int(values[0] < 0)
        return numbers - missing, max(len(values) - missing, 1)


def _with_gaps(table: Table) -> Codes:
    """The codes, that of a missing value being the number of levels."""
    if not table.missing:
        return table.codes
    codes = table.codes.astype(smallest_unsigned(int(table.arities.max()) + 1))
    for k, absent in table.missing.items():
        codes[k, absent] = len(table.levels[k])
    return codes


def noise_of_gaps(table: Table) -> float:
    """How much of the logarithm of the turns tried a score may rise because other rows were asked.

    Two means of the same over n (1 - q)^2 and n (1 - q)^3 rows, a share q being missing in each
    column, differ by a multiple of sqrt(q / n) / (1 - q)^1.5, and n times their difference by
    sqrt(n) times as much; so a penalty must grow at least so fast (Balov, 2013).
    """
    share = sum(float(absent.mean()) for absent in table.missing.values()) / table.n_variables
    apart = math.sqrt(share * table.n_rows / (1 - share) ** 3)
    return constants.missing_noise * apart
