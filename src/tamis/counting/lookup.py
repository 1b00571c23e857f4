"""f(count) in fixed point: how an entropy estimator reaches the counting kernel.

Sums of integers do not depend on the order of their terms, so two tables with the same
counts, in whatever order of levels, columns, threads or blocks, give the same entropy to the
last bit, and ties between variables are ties and not noise.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tamis.counting.compiled import Ints, Tables
from tamis.counting.independence import HEAD, SCALE
from tamis.errors import SettingError

LARGEST_SUM = 2**61
"""Unseen cells may not add up to more than this, in fixed point; four such sums fit."""
MOST_HEADS = 2**16
"""More sizes of the support than this are not kept apart."""

Terms = Callable[[NDArray[np.int64], int, int], NDArray[np.float64]]
"""f(counts, n_rows, support): what a cell contributes."""


class Lookup:
    """The values of f for one number of rows: a head for each size of the support, one tail.

    ``terms`` is f; ``cap`` turns the number of cells a table could have into the support f
    assumes, or is None when f does not depend on it; ``observed`` says that the support is
    the number of cells that occur. Only counts below ``HEAD`` may depend on the support.
    """

    def __init__(
        self,
        terms: Terms,
        n_rows: int,
        *,
        constant: float = 0.0,
        cap: Callable[[float], int] | None = None,
        observed: bool = False,
        clips: bool = False,
    ) -> None:
        self._f = terms
        self._n_rows = n_rows
        self._cap = cap
        self._observed = observed
        self._constant = np.int64(round(constant * SCALE))
        self._clips = clips
        self._rows: dict[int, int] = {}
        self._nothing: list[int] = []
        self._argument: Tables | None = None
        self._heads = np.zeros((16 if self.needs_support else 1) * HEAD, dtype=np.int64)
        if observed:
            self.reserve(0)
        elif cap is None:
            self._row_of_support(1)

    @property
    def needs_support(self) -> bool:
        """Whether f depends on the size of the support at all."""
        return self._observed or self._cap is not None

    def choice(self, cells: float) -> int:
        """The head for a table that could have this many cells."""
        if self._cap is None or self._observed:
            return 0
        return self._row_of_support(self._cap(cells))

    def reserve(self, occupied: int) -> None:
        """Make sure that tables with up to this number of occupied cells have their heads."""
        if not self._observed:
            return
        if occupied >= MOST_HEADS:
            raise SettingError(
                f"support='observed' keeps tables of up to {MOST_HEADS - 1} occupied cells, and "
                f"this one could have {occupied}; use support='product' or fewer levels"
            )
        for support in range(len(self._rows), occupied + 1):
            self._row_of_support(support)

    def entropies(self, counts: Ints, starts: Ints, heads: Ints) -> Ints:
        """The entropy of each table of those laid end to end, in fixed point; ``heads`` are the
        rows of their supports. f is found for the counts that occur: so the room it takes does not
        grow with the rows."""
        supports, nothing = self._supports()
        occupied = segment_sums(counts > 0, starts)
        rows = occupied if self._observed else heads
        total = segment_sums(self._values(counts, starts, rows), starts)
        total += self._constant + (supports[rows] - occupied) * nothing[rows]
        if self._clips:
            total = np.maximum(total, 0)
        # All rows in one cell: that is certain, whatever f says.
        return np.where(occupied <= 1, 0, total)

    def _values(self, counts: Ints, starts: Ints, rows: Ints) -> Ints:
        few = counts < HEAD
        values = np.empty(len(counts), dtype=np.int64)
        row = np.repeat(rows, np.diff(starts))[few] if self.needs_support else 0
        values[few] = self._heads[row * HEAD + counts[few]]
        values[~few] = fixed_point(self._f(counts[~few], self._n_rows, 1))
        return values

    def as_kernel_argument(self) -> Tables:
        """The tables, in the order the kernels unpack them: the heads, then f of every count from
        HEAD on, at its place."""
        if self._argument is None:
            self._argument = (
                np.concatenate([self._heads, self._tail]), len(self._heads), *self._supports(),
                self._constant, self._observed, self._clips,
            )  # fmt: skip
        return self._argument

    @cached_property
    def _tail(self) -> Ints:
        tail = np.zeros(self._n_rows + 1, dtype=np.int64)
        counts = np.arange(min(HEAD, self._n_rows + 1), self._n_rows + 1, dtype=np.int64)
        tail[counts] = fixed_point(self._f(counts, self._n_rows, 1))
        return tail

    def _supports(self) -> tuple[Ints, Ints]:
        """The supports, and f(0) of each."""
        supports = np.fromiter(self._rows, dtype=np.int64, count=len(self._rows))
        return supports, np.array(self._nothing, dtype=np.int64)

    def _row_of_support(self, support: int) -> int:
        if support in self._rows:
            return self._rows[support]
        self._argument = None
        row = len(self._rows)
        if row * HEAD == len(self._heads):
            self._heads = np.concatenate([self._heads, np.zeros_like(self._heads)])
        counts = np.arange(min(HEAD, self._n_rows + 1), dtype=np.int64)
        head = fixed_point(self._f(counts, self._n_rows, support))
        if support * abs(int(head[0])) > LARGEST_SUM:
            raise SettingError(
                f"{self._n_rows} rows are too few to estimate an entropy over {support} cells; "
                "choose a smaller largest_support, support='observed', or another estimator"
            )
        # An empty cell is counted once, among the unseen, and not where it stands.
        self._nothing.append(int(head[0]) if self.needs_support else 0)
        head[0] = 0
        self._heads[row * HEAD + counts] = head
        self._rows[support] = row
        return row


def segment_sums(values: NDArray[np.int64] | NDArray[np.bool_], starts: Ints) -> Ints:
    """The sum of each part. The running sum may go beyond 64 bits and come back: differences of
    it are right all the same."""
    running = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(values, dtype=np.int64)])
    sums: Ints = running[starts[1:]] - running[starts[:-1]]
    return sums


def fixed_point(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Nats as whole numbers of steps."""
    return np.rint(values * SCALE).astype(np.int64)
