"""Passes over rows: the joint states of columns that occur, and tables too large for planes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tamis.counting.block_loops import add_rows
from tamis.counting.compiled import Codes, Ints
from tamis.counting.folding import starts_of
from tamis.counting.passes import Group, KeyRows, Pass, Sums, View
from tamis.counting.sharing import share

LARGEST_KEY = 2**62


class States:
    """The states of columns that occur, numbered in the order of their levels, with their rows."""

    def __init__(self, columns: tuple[int, ...], before: States | None, arities: list[int]) -> None:
        self.columns = columns
        self._before = before
        self._sizes = [arities[k] for k in columns]
        self.size = 1 if before is None else before.n_states
        for size in self._sizes:
            self.size *= size
        self.keys: Ints = np.zeros(0, dtype=np.int64)
        """The mixed-radix numbers of the states that occur."""
        self._is_dense = False
        self._numbers: Ints | None = None
        self.counts: Ints = np.zeros(0, dtype=np.int64)

    @property
    def n_states(self) -> int:
        """How many states occur."""
        return len(self.keys)

    def keys_of(self, group: Group) -> Ints:
        """Mixed-radix numbers of all states, whether they occur or not."""
        if self._before is None:
            keys = np.zeros(group.n_rows, dtype=np.int64)
        else:
            keys = self._before.numbers_of(group)
        for k, size in zip(self.columns, self._sizes, strict=True):
            keys *= size
            keys += group.codes(k)
        return keys

    def numbers_of(self, group: Group) -> Ints:
        """The number of the state of each row."""
        keys = self.keys_of(group)
        if not self._is_dense:
            return np.searchsorted(self.keys, keys).astype(np.int64)
        if self._numbers is None:
            numbers = np.zeros(self.size, dtype=np.int64)
            numbers[self.keys] = np.arange(len(self.keys))
            self._numbers = numbers
        return self._numbers[keys]

    def settle_dense(self, counts: Ints) -> None:
        """Number the states whose counts are not 0."""
        self._is_dense = True
        self.keys = np.flatnonzero(counts)
        self.counts = counts[self.keys]

    def settle_sparse(self, keys: Ints, counts: Ints) -> None:
        """Number these states."""
        self.keys, self.counts = keys, counts

    def __getstate__(self) -> dict[str, Any]:
        """What numbers the rows elsewhere; the table of numbers follows from the keys."""
        nothing = np.zeros(0, dtype=np.int64)
        return {**self.__dict__, "_numbers": None, "counts": nothing}


class StateRows(Pass):
    """The rows of every state, whether it occurs or not."""

    def __init__(self, states: States) -> None:
        self._states = states

    def over(self, view: View) -> Sums:
        """The sums over the rows of this view."""
        counts = np.zeros(self._states.size, dtype=np.int64)
        for group in view.row_groups():
            keys = self._states.keys_of(group)
            add_rows(keys, np.zeros(group.n_rows, dtype=np.uint8), 1, counts)
        return (counts,)


class StateKeys(KeyRows):
    """The states that occur, and their rows."""

    def __init__(self, states: States, most_bytes: int) -> None:
        super().__init__(most_bytes)
        self._states = states

    def keys_of(self, group: Group) -> Ints:
        """The key of each row."""
        return self._states.keys_of(group)


class OneColumn:
    """A single column as a candidate: its levels are its states."""

    def __init__(self, k: int, arity: int) -> None:
        self.k = k
        self.n_states = arity

    def numbers_of(self, group: Group) -> Codes:
        """The level of each row."""
        return group.codes(self.k)


Candidate = OneColumn | States


class RowCells(Pass):
    """The table of a context, (s, x), and with each candidate, (s, x, y), laid out whole."""

    def __init__(
        self, target: int, n_levels: int, strata: States, candidates: Sequence[Candidate]
    ) -> None:
        self._target = target
        self._n_levels = n_levels
        self._strata = strata
        self._candidates = list(candidates)

    def over(self, view: View) -> Sums:
        """The sums over the rows of this view."""
        n_cells = self._strata.n_states * self._n_levels
        widths = np.array([one.n_states for one in self._candidates], dtype=np.int64)
        starts = starts_of(n_cells * widths)
        cells = np.zeros(int(starts[-1]), dtype=np.int64)
        margins = np.zeros(n_cells, dtype=np.int64)
        for group in view.row_groups():
            cell_of_row = self._cells_of(group)
            add_rows(cell_of_row, np.zeros(group.n_rows, dtype=np.uint8), 1, margins)

            def part(
                first: int, last: int, group: Group = group, cell_of_row: Ints = cell_of_row
            ) -> None:
                for c in range(first, last):
                    codes: Any = self._candidates[c].numbers_of(group)
                    own = cells[starts[c] : starts[c + 1]]
                    add_rows(cell_of_row, codes, int(widths[c]), own)

            share(view.n_jobs, len(self._candidates), len(self._candidates) * group.n_rows, part)
        return margins, cells

    def _cells_of(self, group: Group) -> Ints:
        cells: Ints = self._strata.numbers_of(group) * self._n_levels + group.codes(self._target)
        return cells


class CellKeys(KeyRows):
    """The cells (s, x, y) of one candidate that occur."""

    def __init__(
        self, target: int, n_levels: int, strata: States, candidate: Candidate, most_bytes: int
    ) -> None:
        super().__init__(most_bytes)
        self._target = target
        self._n_levels = n_levels
        self._strata = strata
        self._candidate = candidate

    def keys_of(self, group: Group) -> Ints:
        """The key of each row."""
        keys = self._strata.numbers_of(group) * self._n_levels + group.codes(self._target)
        keys *= self._candidate.n_states
        keys += self._candidate.numbers_of(group)
        return keys
