"""Counting a table held in memory: bit planes for small tables, rows for large ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import ClassVar

import numpy as np
from scipy.special import entr

from tamis.counting import counts
from tamis.counting.by_rows import count_sets, judge_rows, judge_sets
from tamis.counting.compiled import Ints, Pairs, Words, is_at_hand
from tamis.counting.counts import (
    Bank,
    Batch,
    FamilyCounts,
    Judgements,
    Question,
    Shapes,
    first_joint_heads,
    laid_out,
)
from tamis.counting.interactions import (
    Parities,
    affordable,
    interacting_columns,
    interacting_planes,
)
from tamis.counting.judge import judge_planes, judge_two_levels
from tamis.counting.looking import Looking, Sample
from tamis.counting.lookup import Lookup, fixed_point, products
from tamis.counting.planes import build_planes
from tamis.counting.row_sample import sampled
from tamis.counting.sharing import share, usable_jobs
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


class MemoryCounts:
    """The contingency tables of a table in memory, judged in batches."""

    reads: ClassVar[type[Lookup]] = Lookup
    whole_rows: ClassVar[int] = WHOLE_ROWS

    def __init__(self, table: Table, n_jobs: int | None = None) -> None:
        self.n_rows = table.n_rows
        self.arities = table.arities
        self._codes = table.codes
        self._planes = build_planes(table.codes, table.arities)
        self._shapes = Shapes(table.arities, self._planes.planed, table.n_rows)
        self._classes = self._shapes.classes
        self._n_jobs = usable_jobs(n_jobs)
        self._of_two = bool((table.arities[self._planes.planed] == 2).all())
        self._plain = fixed_point(entr(np.arange(self.n_rows + 1) / self.n_rows))
        loop = judge_two_levels if self._of_two else judge_planes
        self._small = SmallCounts(table.codes, table.arities, self._plain, is_at_hand(loop))

    @cached_property
    def _bank(self) -> Bank:
        pairs = self._count_pairs()
        ones = pairs.diagonal().astype(np.int64) if len(pairs) else plane_ones(self._planes.words)
        widest = int(self.arities[self._planes.planed].max(initial=1))
        return Bank(
            self._planes.words, ones, pairs, self._planes.first, self.arities, widest,
            self._classes,
        )  # fmt: skip

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
        answers = Judgements.blank(len(contexts), int(batch.starts[-1]), tests=tests)
        self._dispatch(batch, lookup, answers)
        return answers

    def judge_joints(
        self, contexts: Sequence[Question], others: Sequence[tuple[int, ...]], lookup: Lookup
    ) -> Judgements:
        """The same for several variables taken together as one candidate, one for each context;
        their entropies are left out."""
        base, choices = self._shapes.joint_supports(contexts, others, lookup)
        sets = [
            (*given, target, *some) for (target, given), some in zip(contexts, others, strict=True)
        ]
        if self._small.take(2 * len(sets), sets):
            answers = Judgements.blank(len(sets), len(sets), tests=True)
            self._small.judge_joints(contexts, others, base, choices, lookup, answers)
            return answers
        n_given = [len(given) for _, given in contexts]
        found = self._judge_sets(sets, n_given, [1] * len(sets), (base, choices), lookup)
        return Judgements(np.full(len(sets), np.nan), found.gains, found.stats)

    def families(
        self, contexts: Sequence[Question], lookup: Lookup, *, tests: bool
    ) -> FamilyCounts | None:
        """Each member of each conditioning set judged given the others, from one table a context;
        None where single questions take no longer."""
        if self._small.is_open:
            return None
        n_given = [len(given) for _, given in contexts]
        n_tables = n_given if tests else [0] * len(contexts)
        if lookup.needs_support and tests:
            rests = [
                ((target, given[:i] + given[i + 1 :]), (k,))
                for target, given in contexts
                for i, k in enumerate(given)
            ]
            supports = self._shapes.joint_supports(
                [context for context, _ in rests], [other for _, other in rests], lookup
            )
        else:
            supports = first_joint_heads(sum(n_tables))
        sets = [(*given, target) for target, given in contexts]
        return self._judge_sets(sets, n_given, n_tables, supports, lookup)

    def tables(self, sets: Sequence[tuple[int, ...]]) -> list[Ints]:
        """For each set of columns the rows of every joint state that occurs, in their order."""
        if self._small.take(len(sets), sets):
            found = map(self._small.cells, sets)
            return [cells[cells > 0] for cells in found]
        bank, most = self._bank, self._joint_crossover
        variables, starts = laid_out(sets)
        parts: dict[int, list[Ints]] = {}

        def part(start: int, stop: int) -> None:
            room = sum(min(self._shapes.n_joint(one), self.n_rows) for one in sets[start:stop])
            cells = np.empty(int(room), dtype=np.int64)
            ends = np.zeros(stop - start + 1, dtype=np.int64)
            count_sets(
                bank.words, bank.ones, bank.first, self._codes, bank.arities, most, EMPTY,
                variables, starts[start : stop + 1], cells, ends,
            )  # fmt: skip
            parts[start] = [cells[i:j] for i, j in pairwise(ends.tolist())]

        share(self._n_jobs, len(sets), len(sets) * self.n_rows, part)
        return [cells for start in sorted(parts) for cells in parts[start]]

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
        parities = Parities(words, column, self.n_rows, largest)
        parities.count_all(self._n_jobs)
        return parities

    def _sample_rows(self) -> Sample:
        words, column = self._interacting
        return sampled(words, column, plane_ones(words), self.n_rows)

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
            self._small.judge(batch, self._classes, lookup, answers)
            return
        shapes, bank, most = self._shapes, self._bank, counts.CROSSOVER
        cells = [shapes.n_cells(context) for context in batch.contexts]
        variables, starts = laid_out([(*given, target) for target, given in batch.contexts])
        of_batch = (
            batch.base_choices, batch.choices, bank.classes, lookup.as_kernel_argument(),
            self._plain, *answers,
        )  # fmt: skip
        judge = judge_two_levels if self._of_two and not lookup.observed else judge_planes
        n = len(batch.candidates)

        def in_planes(start: int, stop: int) -> None:
            judge(
                bank.words, bank.ones, bank.pairs, bank.first, bank.arities, bank.widest,
                self.n_rows, most, variables, starts, batch.candidates, batch.starts, start, stop,
                *of_batch,
            )  # fmt: skip

        def by_rows(start: int, stop: int) -> None:
            judge_rows(
                self._codes, bank.first, bank.arities, most, EMPTY, variables, starts,
                batch.candidates, batch.starts, start, stop, *of_batch,
            )  # fmt: skip

        fewest, largest = min(cells), max(cells)
        if fewest <= most:
            work = n * min(largest, most) * bank.words.shape[1]
            share(self._n_jobs, n, work, in_planes)
        if not shapes.all_planed or largest * max(shapes.widest - 1, 1) > most:
            share(self._n_jobs, n, n * self.n_rows, by_rows)

    def _judge_sets(
        self,
        sets: Sequence[tuple[int, ...]],
        n_given: Sequence[int],
        n_tables: Sequence[int],
        supports: tuple[Ints, Ints],
        lookup: Lookup,
    ) -> FamilyCounts:
        """Count sets of columns, each a conditioning set, a target and what is judged as one
        candidate, and judge so many tables of each, as ``judge_sets`` says."""
        bank, most = self._bank, self._joint_crossover
        variables, starts = laid_out(sets)
        tables = np.array([0, *accumulate(n_tables)], dtype=np.int64)
        given = np.array(n_given, dtype=np.int64)
        found = FamilyCounts.blank(len(sets), int(tables[-1]))
        terms = lookup.as_kernel_argument()

        def part(start: int, stop: int) -> None:
            judge_sets(
                bank.words, bank.ones, bank.first, self._codes, bank.arities, most, EMPTY,
                variables, starts[start : stop + 1], given[start:stop], tables[start : stop + 1],
                *supports, terms, self._plain, self._products, found.sums[start:stop],
                found.gains, found.stats,
            )  # fmt: skip

        share(self._n_jobs, len(sets), len(sets) * self.n_rows, part)
        return found

    @property
    def _joint_crossover(self) -> int:
        """The most cells of a set that planes are to count, one mask a cell."""
        n_words: int = self._bank.words.shape[1]
        return min(JOINT_CROSSOVER, MASK_BYTES // (8 * max(n_words, 1)))

    @cached_property
    def _products(self) -> Ints:
        return products(np.arange(self.n_rows + 1), self.n_rows)
