"""The joint states of columns that occur, found and numbered by going through the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis.blocks.kernels import add_rows
from tamis.blocks.passes import Pass, Sums, key_counts, merged_keys
from tamis.blocks.view import Group, View
from tamis.counts.compiled import Ints
from tamis.errors import SettingError

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


class KeyRows(Pass):
    """Keys of rows and how many rows have each; there may be no more than memory has room for."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes

    def keys_of(self, group: Group) -> Ints:
        """The key of each row."""
        raise NotImplementedError

    def over(self, view: View) -> Sums:
        """The sums over the rows of this view."""
        nothing = np.zeros(0, dtype=np.int64)
        found: Sums = (nothing, nothing)
        for group in view.row_groups():
            found = self.add(found, key_counts(self.keys_of(group)))
        return found

    def add(self, one: Sums, other: Sums) -> Sums:
        """The sums over the rows of both."""
        keys, counts = merged_keys(one, other)
        if 16 * len(keys) > self._most:
            raise SettingError(
                f"A table has more than {len(keys)} cells that occur, which is more than "
                "memory has room for: limit max_boundary, group levels, or raise the limit if it "
                "was set"
            )
        return keys, counts


class StateKeys(KeyRows):
    """The states that occur, and their rows."""

    def __init__(self, states: States, most_bytes: int) -> None:
        super().__init__(most_bytes)
        self._states = states

    def keys_of(self, group: Group) -> Ints:
        """The key of each row."""
        return self._states.keys_of(group)
