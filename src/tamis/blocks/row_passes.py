"""Passes over rows: tables that are too large for planes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tamis.blocks.folding import starts_of
from tamis.blocks.kernels import add_rows
from tamis.blocks.passes import Pass, Sums
from tamis.blocks.states import KeyRows, States
from tamis.blocks.view import Group, View
from tamis.counts.compiled import Codes, Ints
from tamis.counts.sharing import share


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
