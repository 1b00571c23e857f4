"""Counting a table held in memory: bit planes for small tables, rows for large ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.special import entr

from tamis.counting import counts, direct
from tamis.counting.by_rows import count_sets, judge_rows
from tamis.counting.compiled import (
    Columns,
    Floats,
    Ints,
    Judgements,
    Pairs,
    Rows,
    States,
    Words,
)
from tamis.counting.counts import (
    NO_PARTS,
    Batch,
    FamilyCounts,
    Question,
    Shapes,
    blank,
    laid_out,
    n_log_n,
)
from tamis.counting.direct import Direct
from tamis.counting.interactions import (
    Parities,
    affordable,
    interacting_columns,
    interacting_planes,
)
from tamis.counting.judge import judge_planes
from tamis.counting.looking import Looking, Sample
from tamis.counting.lookup import Lookup, fixed_point
from tamis.counting.planes import build_planes
from tamis.counting.row_sample import sampled
from tamis.counting.sharing import THREAD_WORDS, share, usable_jobs
from tamis.counting.small import SmallCounts
from tamis.counting.tables import pair_counts, plane_ones
from tamis.tables.table import Table

WHOLE_ROWS = 128
"""The number of variables up to which testing a whole row costs less than asking again later."""
EMPTY = 8
"""Tables with so many times more cells than rows are not laid out: the cells that occur are
listed."""
JOINT_CROSSOVER = 256
"""A set of columns with more cells is counted row by row; measured by
`python -m benchmarks.crossover`."""
MASK_BYTES = 2**26
"""One whose masks would take more than this is counted row by row too."""


LEVELS_BYTES = 2**24
"""How many cells of sets, times columns, are counted before they are judged."""

NO_SUMS = np.zeros((0, 2))


class MemoryCounts:
    """The contingency tables of a table in memory, judged in batches."""

    reads: ClassVar[type[Lookup]] = Lookup
    whole_rows: ClassVar[int] = WHOLE_ROWS

    def __init__(self, table: Table, n_jobs: int | None = None) -> None:
        self.n_rows = table.n_rows
        self.arities = table.arities
        # Loops are compiled for rows that lie one after the other.
        self._codes = np.require(table.codes, requirements=["C", "W"])
        self._planes = build_planes(table.codes, table.arities)
        self._shapes = Shapes(table.arities, self._planes.planed, table.n_rows)
        self._n_jobs = usable_jobs(n_jobs)
        self._plain = fixed_point(entr(np.arange(self.n_rows + 1) / self.n_rows))
        self._small = SmallCounts(table.codes, table.arities, self._plain, judge_planes)

    @cached_property
    def _columns(self) -> Columns:
        pairs = self._count_pairs()
        ones = pairs.diagonal().astype(np.int64) if len(pairs) else plane_ones(self._planes.words)
        widest = int(self.arities[self._planes.planed].max(initial=1))
        return (
            self._planes.words, ones, pairs, self._planes.first, self.arities,
            self._shapes.classes, self._plain, self.n_rows, widest,
        )  # fmt: skip

    @cached_property
    def _everyone(self) -> Ints:
        return np.arange(len(self.arities))

    @property
    def _rows(self) -> Rows:
        return self._codes, self._everyone, self._ones, self._ranges, EMPTY

    @cached_property
    def _ranges(self) -> Ints:
        return np.array([[0, self.n_rows]])

    def judge(
        self,
        contexts: Sequence[Question],
        candidates: Sequence[Ints] | None,
        lookup: Lookup,
        *,
        tests: bool,
    ) -> Judgements:
        """Fold the table of each context with each of its candidates; test it where asked.

        None as candidates means every column for every context.
        """
        batch = self._shapes.batch(contexts, candidates, lookup)
        answers = blank(len(contexts), int(batch.starts[-1]), tests=tests)
        self._dispatch(batch, lookup, answers)
        return answers

    def judge_joints(
        self, contexts: Sequence[Question], others: Sequence[tuple[int, ...]], lookup: Lookup
    ) -> Judgements:
        """Judge several variables taken together as one candidate, one for each context."""
        n = len(contexts)
        answers = blank(n, n, tests=True)
        base, heads = self._shapes.joint_supports(contexts, others, lookup)
        sets = [
            (*given, target, *some) for (target, given), some in zip(contexts, others, strict=True)
        ]
        if self._small.take(2 * n, sets):
            self._small.judge_joints(contexts, others, base, heads, lookup, answers)
            return answers
        batch = Batch(contexts, *laid_out(others), base, heads[:, None])
        self._judge_sets(sets, np.arange(n + 1), batch, lookup, answers, together=True)
        return answers

    def families(
        self, contexts: Sequence[Question], lookup: Lookup, *, tests: bool
    ) -> FamilyCounts | None:
        """Each member of each conditioning set judged given the others, from one table a context;
        None where single questions take no longer."""
        if self._small.is_open:
            return None
        members = [given if tests else () for _, given in contexts]
        rests = [
            (target, given[:i] + given[i + 1 :])
            for target, given in contexts
            for i in range(len(given) if tests else 0)
        ]
        answers = blank(len(rests), len(rests), tests=True)
        sums = np.empty((len(contexts), 2))
        candidates, starts = laid_out(members)
        supports = self._shapes.supports(rests, lookup)
        batch = Batch(rests, candidates, np.arange(len(rests) + 1), *supports)
        sets = [(*given, target) for target, given in contexts]
        self._judge_sets(sets, starts, batch, lookup, answers, sums)
        return FamilyCounts(answers.gains, answers.stats, sums)

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

    def direct(self, lookup: Lookup, regrets: Callable[[int], Floats]) -> Direct | None:
        """What answers one question at a time, for compiled searches."""
        words, ones, pairs, first, arities, _, plain, _, widest = self._columns
        d = len(arities)
        in_threads = self._n_jobs > 1 and self.n_rows * d > THREAD_WORDS
        if in_threads or not len(pairs) or self._codes.dtype != np.uint8:
            return None
        terms, tail, _, _, constant, _, clips = lookup.as_kernel_argument()
        numbers = {
            direct.N_COLUMNS: d, direct.N_ROWS: self.n_rows, direct.N_PLANES: len(words),
            direct.N_WORDS: words.shape[1], direct.WIDEST: widest,
            direct.MOST: counts.CROSSOVER, direct.MOST_JOINT: self._joint_crossover,
            direct.EMPTY: EMPTY, direct.TAIL: tail, direct.CONSTANT: int(constant),
            direct.CLIPS: int(clips),
        }  # fmt: skip
        arrays = {
            direct.WORDS: words, direct.ONES: ones, direct.PAIRS: pairs, direct.FIRST: first,
            direct.ARITIES: arities, direct.PLAIN: plain, direct.CODES: self._codes,
            direct.WEIGHTS: self._ones, direct.RANGES: self._ranges,
            direct.EVERYONE: self._everyone,
            direct.ZEROS: np.zeros(2, dtype=np.int64), direct.TERMS: terms,
            direct.PRODUCTS: self._products,
        }  # fmt: skip
        return Direct(numbers, arrays, regrets)

    @cached_property
    def _interacting(self) -> tuple[Words, Ints]:
        """The planes among which interactions are looked for, and the column of each."""
        planes = self._planes
        words = interacting_planes(planes.words, planes.first, self.arities, self.n_rows)
        return words, interacting_columns(self.arities)

    @cached_property
    def looking(self) -> Looking:
        """The sets of columns that say something together."""
        words, column = self._interacting
        return Looking(
            column, self.n_rows, len(self.arities), affordable(*words.shape),
            self._count_sets, self._sample_rows, self._n_jobs,
        )  # fmt: skip

    def _count_sets(self, largest: int) -> Parities:
        words, column = self._interacting
        parities = Parities(column, self.n_rows, largest, plane_ones(words))
        parities.odd = parities.count(words, self._n_jobs)
        return parities

    def _sample_rows(self) -> Sample:
        words, column = self._interacting
        n_rows = self.n_rows
        return sampled(column, plane_ones(words), n_rows, lambda one: one.of_block(words, n_rows))

    def _count_pairs(self) -> Pairs:
        words = self._planes.words
        n_planes = words.shape[0]
        if 4 * n_planes**2 > counts.PAIR_TABLE_BYTES or self.n_rows >= 2**31:
            return np.zeros((0, 0), dtype=np.int32)
        pairs = np.empty((n_planes, n_planes), dtype=np.int32)
        work = n_planes**2 * words.shape[1] // 2

        def part(start: int, stop: int) -> None:
            pair_counts(words, start, stop, pairs)

        # Row p has n_planes - p pairs: equal work means unequal shares of the rows.
        share(self._n_jobs, n_planes, work, part, power=0.5, falling=True)
        return pairs

    def _dispatch(self, batch: Batch, lookup: Lookup, answers: Judgements) -> None:
        """Send tables to planes or to rows, by their size: each loop leaves out what is for the
        other, so that a batch takes two calls at most."""
        if self._small.take(len(batch.contexts) + len(batch.candidates), batch.tables()):
            self._small.judge(batch, self._shapes.classes, lookup, answers)
            return
        shapes, columns, most = self._shapes, self._columns, counts.CROSSOVER
        cells = [shapes.n_cells(context) for context in batch.contexts]
        asked, terms, n = batch.asked(), lookup.as_kernel_argument(), len(batch.candidates)

        def in_planes(start: int, stop: int) -> None:
            judge_planes(columns, most, asked, start, stop, terms, *answers)

        def by_rows(start: int, stop: int) -> None:
            judge_rows(columns, self._rows, most, asked, start, stop, terms, *answers)

        fewest, largest = min(cells), max(cells)
        if fewest <= most:
            work = n * min(largest, most) * self._planes.words.shape[1]
            share(self._n_jobs, n, work, in_planes)
        if not shapes.all_planed or largest * max(shapes.widest - 1, 1) > most:
            share(self._n_jobs, n, n * self.n_rows, by_rows)

    def _judge_sets(
        self,
        sets: Sequence[tuple[int, ...]],
        tables_start: Ints,
        batch: Batch,
        lookup: Lookup,
        answers: Judgements,
        sums: Floats = NO_SUMS,
        *,
        together: bool = False,
    ) -> None:
        """Count sets of columns, and judge contexts within each, of one candidate each: those of
        set b are from ``tables_start[b]`` to ``tables_start[b + 1]``. The candidates are all that
        belong to a context ``together``."""
        owners = np.repeat(np.arange(len(sets)), np.diff(tables_start))
        (variables, starts, *_), terms = batch.asked(), lookup.as_kernel_argument()

        def part(start: int, stop: int) -> None:
            for i, j in self._chunks(sets, start, stop):
                levels, lines, counted, begins = self._states_of(sets[i:j], sums[i:j])
                own = slice(int(tables_start[i]), int(tables_start[j]))
                ends = slice(own.start, own.stop + 1)
                places = owners[own] - i
                ranges = np.stack([begins[places], begins[places + 1]], axis=1)
                n = own.stop - own.start
                candidates, parts = batch.candidates[own], NO_PARTS
                if together:
                    candidates, parts = batch.candidates, batch.starts[ends]
                judge_rows(
                    self._columns, (levels, lines, counted, ranges, EMPTY), 0,
                    (
                        variables, starts[ends], candidates, np.arange(n + 1), parts,
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
        found = levels_found, self._everyone, counts, starts
        count_sets(
            self._columns, self._rows, self._joint_crossover, *laid_out(sets), self._products,
            found, sums,
        )  # fmt: skip
        return levels_found, self._everyone, counts[: starts[-1]], starts

    def _most_states(self, columns: tuple[int, ...]) -> int:
        return min(self._shapes.n_joint(columns), self.n_rows)

    def _chunks(
        self, sets: Sequence[tuple[int, ...]], start: int, stop: int
    ) -> Iterator[tuple[int, int]]:
        """The sets from ``start`` to ``stop``, as many at a time as have few states together."""
        room, first = 0, start
        for b in range(start, stop):
            states = self._most_states(sets[b])
            if b > first and (room + states) * len(self.arities) > LEVELS_BYTES:
                yield first, b
                room, first = 0, b
            room += states
        if first < stop:
            yield first, stop

    @property
    def _joint_crossover(self) -> int:
        """The most cells of a set that planes are to count, one mask a cell."""
        n_words: int = self._planes.words.shape[1]
        return min(JOINT_CROSSOVER, MASK_BYTES // (8 * max(n_words, 1)))

    @cached_property
    def _ones(self) -> Pairs:
        """What each row is worth."""
        return np.ones(self.n_rows, dtype=np.int32)

    @cached_property
    def _products(self) -> Floats:
        """n ln n, for likelihoods."""
        return n_log_n(np.arange(self.n_rows + 1), self.n_rows)
