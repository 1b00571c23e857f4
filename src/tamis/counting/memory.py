"""Counting a table held in memory: bit planes for small tables, rows for large ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.special import entr

from tamis.counting import counts
from tamis.counting.by_rows import count_sets, judge_rows
from tamis.counting.compiled import (
    Columns,
    Floats,
    Ints,
    Judgements,
    Pairs,
    Rows,
    States,
)
from tamis.counting.counts import (
    Batch,
    Shapes,
    in_runs,
    laid_out,
    n_log_n,
)
from tamis.counting.folding import SmallCounts
from tamis.counting.in_planes import judge_planes
from tamis.counting.interactions import PlanePass, interacting_planes
from tamis.counting.looking import Looking
from tamis.counting.lookup import fixed_point
from tamis.counting.passes import Sums, count_pairs
from tamis.counting.sharing import share, usable_jobs
from tamis.tables.planes import build_planes, plane_ones
from tamis.tables.table import Table

WHOLE_ROWS = 128
"""The number of variables up to which testing a whole row costs less than asking again later."""
EMPTY = 8
"""Tables with so many times more cells than rows are not laid out: the cells that occur are
listed."""
JOINT_CROSSOVER = 256
"""A set of columns with more cells is counted row by row; measured for
version 0.2."""
MASK_BYTES = 2**26
"""One whose masks would take more than this is counted row by row too."""


LEVELS_BYTES = 2**24
"""How many cells of sets, times columns, are counted before they are judged."""

NO_SUMS = np.zeros((0, 2))


class MemoryCounts:
    """The contingency tables of a table in memory, judged in batches."""

    whole_rows: ClassVar[int] = WHOLE_ROWS

    def __init__(self, table: Table, n_jobs: int | None = None) -> None:
        self.n_rows = table.n_rows
        self.arities = table.arities
        # Loops are compiled for rows that lie one after the other.
        self._codes = np.require(table.codes, requirements=["C", "W"])
        self._planes = build_planes(table.codes, table.arities)
        self.shapes = Shapes(table.arities, self._planes.planed, table.n_rows)
        self._n_jobs = usable_jobs(n_jobs)
        self._plain = fixed_point(entr(np.arange(self.n_rows + 1) / self.n_rows))
        self._small = SmallCounts(table.codes, self.shapes, judge_planes)

    @cached_property
    def _columns(self) -> Columns:
        pairs = self._count_pairs()
        ones = pairs.diagonal().astype(np.int64) if len(pairs) else plane_ones(self._planes.words)
        widest = int(self.arities[self._planes.planed].max(initial=1))
        return (
            self._planes.words, ones, pairs, self._planes.first, self.arities,
            self.shapes.classes, self._plain, self.n_rows, widest,
        )  # fmt: skip

    @cached_property
    def _rows(self) -> Rows:
        everyone, worth = np.arange(len(self.arities)), np.ones(self.n_rows, dtype=np.int32)
        return self._codes, everyone, worth, np.array([[0, self.n_rows]]), EMPTY

    def judge(self, batch: Batch, *, tests: bool) -> Judgements:
        """Fold the table of each context with each of its candidates; test it where asked. A
        candidate that is part of its context gains nothing and has no test."""
        answers = batch.room(tests=tests)
        if self._small.judge(batch, answers):
            return answers
        if len(batch.parts):
            sets = [
                (*given, target, *batch.columns(c))
                for c, (target, given) in enumerate(batch.contexts)
            ]
            self._judge_sets(sets, batch.starts, batch, answers)
        else:
            self._judge_columns(batch, answers)
        return answers

    def tables(self, sets: Sequence[tuple[int, ...]]) -> list[Ints]:
        """For each set of columns the rows of every joint state that occurs, in their order."""
        if self._small.take(len(sets), sets):
            found = map(self._small.cells, sets)
            return [cells[cells > 0] for cells in found]
        cells: list[Ints] = []
        for i, j in self._chunks(sets, 0, len(sets)):
            _, _, found_counts, starts = self._states_of(sets[i:j], NO_SUMS, levels=False)
            cells += np.split(found_counts.astype(np.int64), starts[1:-1])
        return cells

    @cached_property
    def looking(self) -> Looking:
        """The sets of columns that say something together."""
        planes = self._planes
        words = interacting_planes(planes.words, planes.first, self.arities, self.n_rows)

        def run(one: PlanePass) -> Sums:
            return one.of_block(words, self.n_rows, self._n_jobs)

        return Looking(self.arities, plane_ones(words), self.n_rows, run, self._n_jobs)

    def _count_pairs(self) -> Pairs:
        words = self._planes.words
        n_planes = words.shape[0]
        if 4 * n_planes**2 > counts.PAIR_TABLE_BYTES or self.n_rows >= 2**31:
            return np.zeros((0, 0), dtype=np.int32)
        pairs = np.zeros((n_planes, n_planes), dtype=np.int32)
        count_pairs(words[None], pairs, self._n_jobs)
        return pairs

    def _judge_columns(self, batch: Batch, answers: Judgements) -> None:
        """What is too large for planes they leave to rows, so that a batch takes two calls at
        most, however its tables are mixed."""
        columns, most, n = self._columns, counts.CROSSOVER, len(batch.candidates)
        asked, terms = batch.asked(), batch.lookup.as_kernel_argument()
        left: list[int] = []

        def in_planes(start: int, stop: int) -> None:
            left.append(judge_planes(columns, most, asked, start, stop, terms, *answers))

        def by_rows(start: int, stop: int) -> None:
            judge_rows(columns, self._rows, most, asked, start, stop, terms, *answers)

        cells = min(max(map(self.shapes.n_cells, batch.contexts)), most)
        share(self._n_jobs, n, n * cells * self._planes.words.shape[1], in_planes)
        if any(left):
            share(self._n_jobs, n, n * self.n_rows, by_rows)

    def _judge_sets(
        self,
        sets: Sequence[tuple[int, ...]],
        tables_start: Ints,
        batch: Batch,
        answers: Judgements,
        sums: Floats = NO_SUMS,
    ) -> None:
        """Count sets of columns, and judge contexts within each, of one candidate each: those of
        set b are from ``tables_start[b]`` to ``tables_start[b + 1]``."""
        owners = np.repeat(np.arange(len(sets)), np.diff(tables_start))
        (variables, starts, *_), terms = batch.asked(), batch.lookup.as_kernel_argument()

        def part(start: int, stop: int) -> None:
            for i, j in self._chunks(sets, start, stop):
                levels, lines, counted, begins = self._states_of(sets[i:j], sums[i:j])
                own = slice(int(tables_start[i]), int(tables_start[j]))
                ends = slice(own.start, own.stop + 1)
                places = owners[own] - i
                ranges = np.stack([begins[places], begins[places + 1]], axis=1)
                n = own.stop - own.start
                together = len(batch.parts) > 0
                judge_rows(
                    self._columns, (levels, lines, counted, ranges, EMPTY), 0,
                    (
                        variables, starts[ends], batch.candidates[slice(None) if together else own],
                        np.arange(n + 1), batch.parts[ends if together else slice(0)],
                        batch.base_heads[own], batch.heads[own],
                    ),
                    0, n, terms, *(each[own] for each in answers),
                )  # fmt: skip

        share(self._n_jobs, len(sets), len(sets) * self.n_rows, part)

    def _states_of(
        self, sets: Sequence[tuple[int, ...]], sums: Floats, *, levels: bool = True
    ) -> States:
        """The joint states of sets of columns that occur, and their ``sums`` if wanted."""
        room = sum(map(self._most_states, sets))
        n_lines = len(self.arities) if levels else 0
        levels_found = np.empty_like(self._codes, shape=(n_lines, room))
        counts, starts = np.empty(room, dtype=np.int32), np.zeros(len(sets) + 1, dtype=np.int64)
        found = levels_found, self._rows[1], counts, starts
        count_sets(
            self._columns, self._rows, self._joint_crossover, *laid_out(sets), self._products,
            found, sums,
        )  # fmt: skip
        return levels_found, self._rows[1], counts[: starts[-1]], starts

    def _most_states(self, columns: tuple[int, ...]) -> int:
        return min(self.shapes.n_joint(columns), self.n_rows)

    def _chunks(
        self, sets: Sequence[tuple[int, ...]], start: int, stop: int
    ) -> Iterator[tuple[int, int]]:
        """The sets from ``start`` to ``stop``, as many at a time as have few states together."""
        most = LEVELS_BYTES // len(self.arities)
        for i, j in in_runs(map(self._most_states, sets[start:stop]), most):
            yield start + i, start + j

    @property
    def _joint_crossover(self) -> int:
        """The most cells of a set that planes are to count, one mask a cell."""
        n_words: int = self._planes.words.shape[1]
        return min(JOINT_CROSSOVER, MASK_BYTES // (8 * max(n_words, 1)))

    @cached_property
    def _products(self) -> Floats:
        """n ln n, for likelihoods."""
        return n_log_n(np.arange(self.n_rows + 1), self.n_rows)
