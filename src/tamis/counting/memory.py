"""Counting a table held in memory: bit planes for small tables, rows for large ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.special import entr

from tamis.counting import counts
from tamis.counting.compiled import Ints, Pairs, Words, is_at_hand
from tamis.counting.counts import Bank, Batch, Columns, Judgements, Question, Shapes, part_starts
from tamis.counting.independence import SCALE
from tamis.counting.interactions import (
    Parities,
    affordable,
    interacting_columns,
    interacting_planes,
)
from tamis.counting.joints import Joints, part_ends, parts_of, room_for
from tamis.counting.judge import judge_planes, judge_tables, judge_two_levels
from tamis.counting.looking import Looking, Sample
from tamis.counting.lookup import Lookup, fixed_point
from tamis.counting.occurring import gain_from_rows, judge_occurring
from tamis.counting.planes import build_planes
from tamis.counting.row_sample import sampled
from tamis.counting.sharing import share, usable_jobs
from tamis.counting.small import SmallCounts
from tamis.counting.tables import extend_states, pair_counts, plane_ones, row_tables
from tamis.tables.table import Table

WHOLE_ROWS = 128
"""The number of variables up to which testing a whole row costs less than asking again later."""
EMPTY = 8
"""Of tables with so many times more cells than rows only the cells that occur are looked at."""
STATES_BYTES = 2**26
"""The joint states of recent conditioning sets are kept while they fit in this."""


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
        self._sizes = self._shapes.sizes
        self._classes = self._shapes.classes
        self._n_jobs = usable_jobs(n_jobs)
        self._known_states: dict[tuple[int, ...], tuple[Ints, int]] = {}
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

    @cached_property
    def _joints(self) -> Joints:
        return Joints(self._bank, self._planes.planed, self.n_rows, self._n_jobs)

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
        """The same for several variables taken together as one candidate, one for each context."""
        answers = Judgements.blank(len(contexts), len(contexts), tests=True)
        base, choices = self._shapes.joint_supports(contexts, others, lookup)
        sets = [(target, *given, *others[b]) for b, (target, given) in enumerate(contexts)]
        if self._small.take(2 * len(sets), sets):
            self._small.judge_joints(contexts, others, base, choices, lookup, answers)
            return answers
        small = [b for b, one in enumerate(sets) if self._joints.are_small(one)]
        if small:
            self._joints.judge(
                [contexts[b] for b in small], [others[b] for b in small], base[small],
                choices[small], lookup, self._plain, tests=True,
            ).put(answers, small)  # fmt: skip
        for b in set(range(len(contexts))) - set(small):
            batch = Batch(
                [contexts[b]], np.zeros(1, dtype=np.int64), np.array([0, 1]), base[b : b + 1],
                choices[b : b + 1, None],
            )  # fmt: skip
            self._judge_joint(batch, others[b], lookup).put(answers, [b])
        return answers

    def _judge_joint(self, batch: Batch, others: tuple[int, ...], lookup: Lookup) -> Judgements:
        """One context with columns taken together, row by row."""
        states, n_states = self._states(others)
        only = batch.candidates
        columns = Columns(states[None, :].astype(np.uint32), np.array([n_states]), only)
        answers = Judgements.blank(1, 1, tests=True)
        self._judge_rows(batch, columns, lookup, answers)
        return answers

    def states(self, variables: tuple[int, ...]) -> tuple[Ints, Ints]:
        """The joint state of these columns in each row, and how many rows have each state that
        occurs; those that do not have no number."""
        states, n_states = self._states(variables)
        return states, np.bincount(states, minlength=n_states)

    def tables(self, sets: Sequence[tuple[int, ...]]) -> list[Ints]:
        """For each set of columns the rows of every joint state that occurs, in their order."""
        if self._small.take(len(sets), sets):
            found = map(self._small.cells, sets)
            return [cells[cells > 0] for cells in found]
        small = [i for i, one in enumerate(sets) if one and self._joints.are_small(one)]
        cells = dict(zip(small, self._joints.cells([sets[i] for i in small]), strict=True))
        return [
            cells[i][cells[i] > 0] if i in cells else self.states(one)[1]
            for i, one in enumerate(sets)
        ]

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
            column, self.n_rows, len(self._sizes), affordable(*words.shape),
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
        """Send each context to planes or to rows, by the size of its tables."""
        if self._small.take(len(batch.contexts) + len(batch.candidates), batch.tables()):
            self._small.judge(batch, self._classes, lookup, answers)
            return
        shapes = self._shapes
        cells = [shapes.n_cells(context) for context in batch.contexts]
        most = counts.CROSSOVER // max(shapes.widest - 1, 1) if shapes.all_planed else 0
        if max(cells) <= most:
            self._judge_planes(batch, self._bank, lookup, answers, max(cells))
            return
        small = [b for b, n_cells in enumerate(cells) if n_cells <= most]
        if small:
            some, span = batch.some(small)
            tests = len(answers.stats) > 0
            found = Judgements.blank(len(small), len(span), tests=tests)
            self._judge_planes(some, self._bank, lookup, found, max(cells[b] for b in small))
            found.put(answers, small, span)
        alone = [
            b for b, n_cells in enumerate(cells) if n_cells > most and self._is_alone(batch, b)
        ]
        if alone:
            self._judge_alone(batch, alone, lookup, answers)
        counted = {*small, *alone}
        for b, n_cells in enumerate(cells):
            if b not in counted:
                self._judge_one(batch, b, n_cells, lookup, answers)

    def _judge_alone(
        self, batch: Batch, places: Sequence[int], lookup: Lookup, answers: Judgements
    ) -> None:
        """Large contexts with one candidate each, which is no part of its context."""
        span = batch.starts[places]
        classes = self._classes[batch.candidates[span]]
        found = self._joints.judge(
            [batch.contexts[b] for b in places], [batch.others(b) for b in places],
            batch.base_choices[places], batch.choices[places, classes], lookup, self._plain,
            tests=len(answers.stats) > 0,
        )  # fmt: skip
        found.put(answers, places, span)

    def _is_alone(self, batch: Batch, b: int) -> bool:
        """Whether a context has one candidate, no part of it, and a small table with it."""
        target, given = batch.contexts[b]
        if batch.starts[b + 1] - batch.starts[b] != 1:
            return False
        (other,) = batch.others(b)
        among = (target, *given)
        return other not in among and self._joints.are_small((*among, other))

    def _judge_one(
        self, batch: Batch, b: int, n_cells: int, lookup: Lookup, answers: Judgements
    ) -> None:
        """One context, some of whose candidates may go to planes and some to rows."""
        span = slice(int(batch.starts[b]), int(batch.starts[b + 1]))
        candidates = batch.candidates[span]
        target, given = batch.contexts[b]
        small = self._shapes.are_small((target, given), candidates)
        for chosen, in_planes in ((small, True), (~small, False)):
            # Without candidates the context's own entropy is still wanted, once, from the rows.
            if not chosen.any() and (in_planes or len(candidates)):
                continue
            one = batch.part(b, chosen)
            tests = len(answers.stats) > 0
            found = Judgements.blank(1, len(one.candidates), tests=tests)
            if in_planes:
                self._judge_planes(one, self._bank, lookup, found, n_cells)
            else:
                columns = Columns(self._codes, self.arities, self._classes)
                self._judge_rows(one, columns, lookup, found)
            answers.entropies[b] = found.entropies[0]
            answers.gains[span][chosen] = found.gains
            if tests:
                answers.stats[span][chosen] = found.stats
        # A candidate that is part of its context gains nothing and has no test.
        own = np.isin(candidates, (target, *given))
        answers.gains[span][own] = 0.0
        if len(answers.stats):
            answers.stats[span][own] = 0.0

    def _judge_planes(
        self, batch: Batch, bank: Bank, lookup: Lookup, answers: Judgements, n_cells: int
    ) -> None:
        sets = [(*given, target) for target, given in batch.contexts]
        variables = np.array([k for one in sets for k in one], dtype=np.int64)
        variables_start = part_starts(sets)
        tables = lookup.as_kernel_argument()
        judge = judge_two_levels if self._of_two and not lookup.observed else judge_planes

        def part(start: int, stop: int) -> None:
            judge(
                bank.words, bank.ones, bank.pairs, bank.first, bank.arities, bank.widest,
                self.n_rows, variables, variables_start[start : stop + 1], batch.candidates,
                batch.starts[start : stop + 1], batch.base_choices[start:stop],
                batch.choices[start:stop], bank.classes, tables, self._plain,
                answers.entropies[start:stop], answers.gains, answers.stats,
            )  # fmt: skip

        share(self._n_jobs, len(sets), len(batch.candidates) * n_cells * bank.words.shape[1], part)

    def _judge_rows(
        self, batch: Batch, columns: Columns, lookup: Lookup, answers: Judgements
    ) -> None:
        """A batch of one context, counted row by row."""
        target, given = batch.contexts[0]
        candidates = batch.candidates
        strata, n_strata = self._states(given)
        n_levels = self._sizes[target]
        n_cells = n_strata * n_levels
        widths = columns.arities[candidates]
        cell_of_row = strata * n_levels + self._codes[target]
        if not len(candidates):
            self._bases(batch, np.bincount(strata), np.bincount(cell_of_row), lookup, answers)
            return
        if n_cells * int(widths.max()) > EMPTY * self.n_rows:
            if len(answers.stats) or lookup.observed:
                self._judge_occurring(batch, cell_of_row, n_levels, columns, lookup, answers)
            else:
                self._judge_gains(batch, strata, n_strata, cell_of_row, columns, lookup, answers)
            return
        ends = part_ends((n_cells * widths).tolist())
        levels = np.full(len(candidates), n_levels)
        chosen = batch.choices[0][columns.classes[candidates]]
        tables = lookup.as_kernel_argument()

        def part(start: int, stop: int) -> None:
            room = np.empty(room_for(ends), dtype=np.int64)
            bases = np.zeros(3, dtype=np.int64)
            for i, j in parts_of(ends, start, stop):
                own = ends[i : j + 1] - ends[i]
                cells = room[: own[-1]]
                row_tables(cell_of_row, columns.codes, candidates[i:j], widths[i:j], own, cells)
                judge_tables(
                    cells, own, levels[i:j], widths[i:j], bases, batch.base_choices, chosen[i:j],
                    tables, self._plain, answers.entropies, answers.gains[i:j],
                    answers.stats[i:j],
                )  # fmt: skip

        share(self._n_jobs, len(candidates), len(candidates) * self.n_rows, part)

    def _bases(
        self, batch: Batch, in_strata: Ints, in_cells: Ints, lookup: Lookup, answers: Judgements
    ) -> Ints:
        """H(S) and H(S, X_k) of a batch of one context, in fixed point."""
        h_s = lookup.entropy(in_strata, batch.base_choices[0, 0])
        h_sk = lookup.entropy(in_cells, batch.base_choices[0, 1])
        answers.entropies[0] = (h_sk - h_s) / SCALE
        return np.array([h_s, h_sk])

    def _judge_gains(
        self,
        batch: Batch,
        strata: Ints,
        n_strata: int,
        cell_of_row: Ints,
        columns: Columns,
        lookup: Lookup,
        answers: Judgements,
    ) -> None:
        """A batch of one context of which no tests are wanted, row by row."""
        in_strata, candidates = np.bincount(strata), batch.candidates
        bases = self._bases(batch, in_strata, np.bincount(cell_of_row), lookup, answers)
        rows = np.flatnonzero(in_strata[strata] > 1)
        number = np.zeros(int(cell_of_row.max()) + 1, dtype=np.int64)
        number[cell_of_row[rows]] = 1
        n_groups = int(number.sum())
        groups = (np.cumsum(number) - 1)[cell_of_row[rows]]
        strata, widths = strata[rows], columns.arities[candidates]
        chosen = batch.choices[0][columns.classes[candidates]]
        tables, widest = lookup.as_kernel_argument(), int(widths.max())

        def part(start: int, stop: int) -> None:
            room = np.zeros((2, max(n_strata, n_groups) * widest), dtype=np.int32)
            gain_from_rows(
                rows, strata, groups, columns.codes, candidates[start:stop], widths[start:stop],
                self.n_rows - len(rows), bases, chosen[start:stop], tables, room,
                answers.gains[start:stop],
            )  # fmt: skip

        share(self._n_jobs, len(candidates), len(candidates) * self.n_rows, part)

    def _judge_occurring(
        self,
        batch: Batch,
        cell_of_row: Ints,
        n_levels: int,
        columns: Columns,
        lookup: Lookup,
        answers: Judgements,
    ) -> None:
        """A batch of one context the cells of whose tables are nearly all empty."""
        in_strata, candidates = np.bincount(cell_of_row // n_levels), batch.candidates
        bases = self._bases(batch, in_strata, np.bincount(cell_of_row), lookup, answers)
        several = np.flatnonzero(in_strata[cell_of_row // n_levels] > 1)
        rows = several[np.argsort(cell_of_row[several], kind="stable")]
        groups = _runs(cell_of_row[rows])
        strata = _runs(cell_of_row[rows[groups[:-1]]] // n_levels)
        chosen = batch.choices[0][columns.classes[candidates]]
        tables, widest = lookup.as_kernel_argument(), int(columns.arities[candidates].max())

        def part(start: int, stop: int) -> None:
            judge_occurring(
                rows, groups, strata, columns.codes, candidates[start:stop], widest,
                self.n_rows - len(rows), bases, chosen[start:stop], tables, self._plain,
                answers.gains[start:stop], answers.stats[start:stop],
            )  # fmt: skip

        share(self._n_jobs, len(candidates), len(candidates) * self.n_rows, part)

    def _states(self, variables: tuple[int, ...]) -> tuple[Ints, int]:
        """The joint state of these variables in each row, numbered from 0 without gaps.

        Layers and boundaries grow by one variable at a time, so the states of all but the
        last are often at hand.
        """
        size = len(variables)
        while size and variables[:size] not in self._known_states:
            size -= 1
        nothing = np.zeros(self.n_rows, dtype=np.int64), 1
        known = self._known_states[variables[:size]] if size else nothing
        for k in variables[size:]:
            known = self._extended_states(*known, k)
        self._known_states[variables] = known
        while len(self._known_states) * self.n_rows * 8 > STATES_BYTES:
            self._known_states.pop(next(iter(self._known_states)))
        return known

    def _extended_states(self, before: Ints, n_states: int, k: int) -> tuple[Ints, int]:
        arity = self._sizes[k]
        if n_states * arity <= self._shapes.most_cells:
            states = np.empty(self.n_rows, dtype=np.int64)
            number = np.zeros(n_states * arity, dtype=np.int64)
            return states, int(extend_states(before, self._codes, k, arity, states, number))
        values, states = np.unique(before * arity + self._codes[k], return_inverse=True)
        return states, len(values)


def _runs(values: Ints) -> Ints:
    """Where runs of equal values begin, and where the last one ends."""
    return np.flatnonzero(np.diff(values, prepend=-1, append=-2))
