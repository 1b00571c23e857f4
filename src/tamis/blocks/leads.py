"""How far H(b | S) - H(a | S) may be off: the spread of its terms, over the rows in their order."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from tamis.blocks.counting import BlockCounts
from tamis.blocks.kernels import add_leads, add_log_ratios, add_squares
from tamis.blocks.states import Group, States, row_groups
from tamis.counts.compiled import Codes, Floats, Ints


def lead_errors(
    counts: BlockCounts, given: Sequence[tuple[int, ...]], pairs: Ints, n_jobs: int
) -> Floats:
    """The standard error of each lead, in two passes over the rows for all of them."""
    chosen = [
        ((*strata, a), (*strata, b)) for strata, (a, b) in zip(given, pairs.tolist(), strict=True)
    ]
    columns = sorted({k for both in chosen for one in both for k in one})
    spreads = _spreads(counts, chosen, columns)
    decoded = columns if any(isinstance(one, _SmallSpread) for one in spreads) else []
    with ThreadPoolExecutor(n_jobs) as pool:
        for squared in (False, True):
            for group in row_groups(counts.table, len(columns)):
                codes = _codes(counts, group, decoded)
                for done in [pool.submit(one.add, group, codes, squared) for one in spreads]:
                    done.result()
            for one in spreads:
                one.finish(counts.n_rows)
    return np.array([one.error(counts.n_rows) for one in spreads], dtype=np.float64)


class _Spread(ABC):
    """The variance over the rows of the difference of two logarithms."""

    n_cells: int

    def __init__(self) -> None:
        self.total = 0.0
        self.mean = 0.0
        self._variance = 0.0

    @abstractmethod
    def add(self, group: Group, codes: Codes, squared: bool) -> None:
        """Add these rows to the mean, or the squares of their distances from it."""

    def finish(self, n_rows: int) -> None:
        """The sum of a pass becomes a mean: first that of the differences, then the variance."""
        self.mean = self._variance = self.total / n_rows
        self.total = 0.0

    def error(self, n_rows: int) -> float:
        """The standard error, with a row for each cell."""
        return math.hypot(math.sqrt(self._variance / n_rows), self.n_cells / n_rows)


class _SmallSpread(_Spread):
    """Of tables with few cells, whose values are looked up by the codes of the columns."""

    def __init__(self, places: list[int], sizes: list[int], first: Ints, second: Ints) -> None:
        super().__init__()
        self._places = np.array(places, dtype=np.int64)
        self._sizes = np.array(sizes, dtype=np.int64)
        # States that do not occur are never looked up.
        self._first = np.log(np.maximum(first, 1))
        self._second = np.log(np.maximum(second, 1))
        self.n_cells = max(int((first > 0).sum()), int((second > 0).sum()))

    def add(self, group: Group, codes: Codes, squared: bool) -> None:
        """Add these rows to the mean, or the squares of their distances from it."""
        self.total = add_log_ratios(
            codes, self._places, self._sizes, self._first, self._second, self.mean, squared,
            self.total,
        )  # fmt: skip


class _LargeSpread(_Spread):
    """Of any tables: the states that occur are numbered."""

    def __init__(self, a: States, b: States) -> None:
        super().__init__()
        self._a, self._of_a = a, np.log(a.counts)
        self._b, self._of_b = b, np.log(b.counts)
        self.n_cells = max(a.n_states, b.n_states)

    def add(self, group: Group, codes: Codes, squared: bool) -> None:
        """Add these rows to the mean, or the squares of their distances from it."""
        a, b = self._a.numbers_of(group), self._b.numbers_of(group)
        if squared:
            self.total = add_squares(a, self._of_a, b, self._of_b, self.mean, self.total)
        else:
            self.total = add_leads(a, self._of_a, b, self._of_b, self.total)


def _spreads(
    counts: BlockCounts,
    chosen: Sequence[tuple[tuple[int, ...], tuple[int, ...]]],
    columns: list[int],
) -> list[_Spread]:
    small = {one for both in chosen for one in both if all(map(counts.is_small, both))}
    tables = dict(zip(small, counts.whole_tables(list(small)), strict=True))
    place = {k: i for i, k in enumerate(columns)}
    spreads: list[_Spread] = []
    for a, b in chosen:
        if a in tables and b in tables:
            involved = [*a, b[-1]]
            sizes = counts.arities[involved].tolist()
            places = [place[k] for k in involved]
            spreads.append(_SmallSpread(places, sizes, tables[a], tables[b]))
        else:
            spreads.append(_LargeSpread(counts.states_of(a), counts.states_of(b)))
    return spreads


def _codes(counts: BlockCounts, group: Group, columns: list[int]) -> Codes:
    """The codes of columns, one a line; those without planes are in no small table."""
    codes = np.zeros((len(columns), group.n_rows), dtype=np.uint8)
    for line, k in enumerate(columns):
        if counts.table.planed[k]:
            codes[line] = group.codes(k)
    return codes
