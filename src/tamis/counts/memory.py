"""Counting a table held in memory: bit planes for small tables, rows for large ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import entr

from tamis.constants import constants
from tamis.counts.batches import Bank, Batch, Columns, Judgements, Question, part_starts
from tamis.counts.compiled import Ints, Pairs, Words, is_at_hand
from tamis.counts.independence import SCALE
from tamis.counts.interactions import (
    Interaction,
    Parities,
    affordable,
    plane_columns,
)
from tamis.counts.joints import Joints, part_ends, parts_of, room_for
from tamis.counts.judge import (
    gain_from_rows,
    judge_occurring,
    judge_planes,
    judge_tables,
    judge_two_levels,
)
from tamis.counts.looking import Looking, Sample
from tamis.counts.lookup import Lookup, fixed_point
from tamis.counts.planes import build_planes
from tamis.counts.row_sample import sampled
from tamis.counts.sharing import share, usable_jobs
from tamis.counts.small import SmallCounts
from tamis.counts.tables import extend_states, pair_counts, plane_ones, row_tables
from tamis.tables.table import Table

CROSSOVER = 192
"""Tables with more cells are counted row by row; measured by `python -m benchmarks.crossover`."""
EMPTY = 8
"""Of tables with so many times more cells than rows only the cells that occur are looked at."""
PAIR_TABLE_BYTES = 2**30
"""The joint counts of all pairs of planes are kept while they fit in this."""
DENSE_CELLS = 2**24
"""Tables with more cells than this, or than 64 a row, are kept as the list of those that occur."""
STATES_BYTES = 2**26
"""The joint states of recent conditioning sets are kept while they fit in this."""


class MemoryCounts:
    """The contingency tables of a table in memory, judged in batches."""

    def __init__(self, table: Table, n_jobs: int | None = None) -> None:
        self.n_rows = table.n_rows
        self.arities = table.arities
        self._codes = table.codes
        self._planes = build_planes(table.codes, table.arities)
        self._widest = int(table.arities.max())
        self._widest_planed = int(table.arities[self._planes.planed].max(initial=1))
        self._sizes: list[int] = table.arities.tolist()
        self._all_planed = bool(self._planes.planed.all())
        class_arities, classes = np.unique(table.arities, return_inverse=True)
        self._class_sizes: list[float] = class_arities.tolist()
        self._classes = classes.astype(np.int64)
        self._everyone_often = np.zeros(0, dtype=np.int64)
        self._n_jobs = usable_jobs(n_jobs)
        self._most_cells = min(DENSE_CELLS, max(2**16, 64 * self.n_rows))
        self._known_states: dict[tuple[int, ...], tuple[Ints, int]] = {}
        self._of_two = bool((table.arities[self._planes.planed] == 2).all())
        self._plain = fixed_point(entr(np.arange(self.n_rows + 1) / self.n_rows))
        loop = judge_two_levels if self._of_two else judge_planes
        self._small = SmallCounts(table.codes, table.arities, self._plain, is_at_hand(loop))

    @cached_property
    def _bank(self) -> Bank:
        pairs = self._count_pairs()
        ones = pairs.diagonal().astype(np.int64) if len(pairs) else plane_ones(self._planes.words)
        return Bank(
            self._planes.words, ones, pairs, self._planes.first, self.arities,
            self._widest_planed, self._classes,
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
        batch = self._batch(contexts, candidates, lookup)
        answers = Judgements.blank(len(contexts), int(batch.starts[-1]), tests=tests)
        self._dispatch(batch, lookup, answers)
        return answers

    def judge_joints(
        self, contexts: Sequence[Question], others: Sequence[tuple[int, ...]], lookup: Lookup
    ) -> Judgements:
        """The same for several variables taken together as one candidate, one for each context."""
        answers = Judgements.blank(len(contexts), len(contexts), tests=True)
        sets = [(target, *given, *others[b]) for b, (target, given) in enumerate(contexts)]
        if self._small.take(2 * len(sets), sets):
            supports = self._joint_supports(contexts, others, lookup)
            self._small.judge_joints(contexts, others, *supports, lookup, answers)
            return answers
        small = [b for b, one in enumerate(sets) if self._joints.are_small(one)]
        if small:
            self._judge_small_joints(
                [contexts[b] for b in small], [others[b] for b in small], lookup
            ).put(answers, small)
        for b in set(range(len(contexts))) - set(small):
            self._judge_joint(contexts[b], others[b], lookup).put(answers, [b])
        return answers

    def _judge_small_joints(
        self, contexts: Sequence[Question], others: Sequence[tuple[int, ...]], lookup: Lookup
    ) -> Judgements:
        base, choices = self._joint_supports(contexts, others, lookup)
        return self._joints.judge(contexts, others, base, choices, lookup, self._plain, tests=True)

    def _joint_supports(
        self, contexts: Sequence[Question], others: Sequence[tuple[int, ...]], lookup: Lookup
    ) -> tuple[Ints, Ints]:
        supports = [
            self._supports([context], [self._product(together)], lookup)
            for context, together in zip(contexts, others, strict=True)
        ]
        base = np.concatenate([one for one, _ in supports])
        return base, np.concatenate([one[:, 0] for _, one in supports])

    def _product(self, variables: tuple[int, ...]) -> float:
        return math.prod(float(self._sizes[k]) for k in variables)

    def _judge_joint(
        self, context: Question, others: tuple[int, ...], lookup: Lookup
    ) -> Judgements:
        states, n_states = self._states(others)
        only = np.zeros(1, dtype=np.int64)
        columns = Columns(states[None, :].astype(np.uint32), np.array([n_states]), only)
        supports = self._supports([context], [self._product(others)], lookup)
        batch = Batch([context], only, np.array([0, 1]), *supports)
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
        """The planes among which interactions are looked for, and the column of each.

        With more than two levels the last one has a plane here too: what it is called must not
        matter.
        """
        column = plane_columns(self._planes.first)
        few = self.arities[column] <= constants.set_levels
        words, column = self._planes.words[few], column[few]
        several = np.flatnonzero((self.arities > 2) & (self.arities <= constants.set_levels))
        everyone = np.packbits(np.ones(self.n_rows, dtype=np.bool_), bitorder="little")
        rows = np.zeros(self._planes.words.shape[1] * 8, dtype=np.uint8)
        rows[: len(everyone)] = everyone
        first = self._planes.first
        last = [
            rows.view(np.uint64)
            & ~np.bitwise_or.reduce(self._planes.words[first[k] : first[k + 1]], axis=0)
            for k in several
        ]
        if last:
            words, column = np.concatenate([words, last]), np.concatenate([column, several])
        order = np.argsort(column, kind="stable")
        return np.ascontiguousarray(words[order]), column[order]

    @cached_property
    def _looking(self) -> Looking:
        words, column = self._interacting
        return Looking(
            column, self.n_rows, len(self._sizes), affordable(*words.shape),
            self._count_sets, self._sample_rows, self._n_jobs,
        )  # fmt: skip

    def affordable_look_ahead(self) -> int:
        """The largest sets of candidates whose interactions fit the budget; 1 is none."""
        return self._looking.counted

    def worthwhile_look_ahead(self) -> int:
        """The largest sets of candidates that it pays to look for."""
        return self._looking.worthwhile()

    def interactions(self, largest: int) -> list[tuple[Interaction, ...]]:
        """For each column the sets of up to ``largest`` others that it depends on together."""
        return self._looking.interactions(largest)

    def _count_sets(self, largest: int) -> Parities:
        words, column = self._interacting
        parities = Parities(words, column, self.n_rows, largest)
        parities.count_all(self._n_jobs)
        return parities

    def _sample_rows(self) -> Sample:
        words, column = self._interacting
        return sampled(words, column, plane_ones(words), self.n_rows)

    def _is_planed(self, context: Question) -> bool:
        target, given = context
        return bool(self._planes.planed[[target, *given]].all())

    def _count_pairs(self) -> Pairs:
        words = self._planes.words
        n_planes = words.shape[0]
        if 4 * n_planes**2 > PAIR_TABLE_BYTES or self.n_rows >= 2**31:
            return np.zeros((0, 0), dtype=np.int32)
        pairs = np.empty((n_planes, n_planes), dtype=np.int32)
        work = n_planes**2 * words.shape[1] // 2

        def part(start: int, stop: int) -> None:
            pair_counts(words, start, stop, pairs)

        # Row p has n_planes - p pairs: equal work means unequal shares of the rows.
        share(self._n_jobs, n_planes, work, part, power=0.5, falling=True)
        return pairs

    def _batch(
        self, contexts: Sequence[Question], candidates: Sequence[Ints] | None, lookup: Lookup
    ) -> Batch:
        if candidates is None:
            flat, starts = self._everyone(len(contexts))
        else:
            flat = candidates[0] if len(candidates) == 1 else np.concatenate(candidates)
            starts = part_starts(candidates)
        base, choices = self._supports(contexts, self._class_sizes, lookup)
        return Batch(contexts, flat, starts, base, choices)

    def _everyone(self, n_contexts: int) -> tuple[Ints, Ints]:
        """Every column as a candidate of so many contexts; the longest list so far is kept."""
        d = len(self._sizes)
        if n_contexts * d > len(self._everyone_often):
            self._everyone_often = np.tile(np.arange(d), n_contexts)
        return self._everyone_often[: n_contexts * d], np.arange(0, n_contexts * d + 1, d)

    def _supports(
        self, contexts: Sequence[Question], candidate_cells: Sequence[float], lookup: Lookup
    ) -> tuple[Ints, Ints]:
        """Which head of the lookup each of the four tables of a gain uses."""
        shape = len(contexts), len(candidate_cells), 2
        if not lookup.needs_support:
            return _first_heads(shape)
        base = np.zeros((len(contexts), 2), dtype=np.int64)
        choices = np.zeros(shape, dtype=np.int64)
        largest = 1.0
        widest = max(float(width) for width in candidate_cells)
        for b, (target, given) in enumerate(contexts):
            strata = math.prod(float(self.arities[k]) for k in given)
            cells = strata * float(self.arities[target])
            base[b] = lookup.choice(strata), lookup.choice(cells)
            for c, width in enumerate(candidate_cells):
                choices[b, c] = lookup.choice(strata * width), lookup.choice(cells * width)
            largest = max(largest, cells * widest)
        lookup.reserve(int(min(self.n_rows, largest)))
        return base, choices

    def _dispatch(self, batch: Batch, lookup: Lookup, answers: Judgements) -> None:
        """Send each context to planes or to rows, by the size of its tables."""
        if self._small.take(len(batch.contexts) + len(batch.candidates), batch.tables()):
            self._small.judge(batch, self._classes, lookup, answers)
            return
        cells = [self._n_cells(context) for context in batch.contexts]
        most = CROSSOVER // max(self._widest - 1, 1) if self._all_planed else 0
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

    def _n_cells(self, context: Question) -> int:
        """The cells of a context's own table, as far as it matters how many there are."""
        target, given = context
        cells = self._sizes[target]
        for k in given:
            cells *= self._sizes[k]
            if cells > CROSSOVER:
                return CROSSOVER + 1
        return cells

    def _judge_one(
        self, batch: Batch, b: int, n_cells: int, lookup: Lookup, answers: Judgements
    ) -> None:
        """One context, some of whose candidates may go to planes and some to rows."""
        span = slice(int(batch.starts[b]), int(batch.starts[b + 1]))
        candidates = batch.candidates[span]
        target, given = batch.contexts[b]
        small = n_cells * (self.arities[candidates] - 1) <= CROSSOVER
        # A candidate without levels to count must not bring a large context to the planes.
        few = n_cells <= CROSSOVER and self._is_planed((target, given))
        small &= self._planes.planed[candidates] & few
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
        if n_states * arity <= self._most_cells:
            states = np.empty(self.n_rows, dtype=np.int64)
            number = np.zeros(n_states * arity, dtype=np.int64)
            return states, int(extend_states(before, self._codes, k, arity, states, number))
        values, states = np.unique(before * arity + self._codes[k], return_inverse=True)
        return states, len(values)


def _runs(values: Ints) -> Ints:
    """Where runs of equal values begin, and where the last one ends."""
    return np.flatnonzero(np.diff(values, prepend=-1, append=-2))


@lru_cache(maxsize=64)
def _first_heads(shape: tuple[int, int, int]) -> tuple[Ints, Ints]:
    """The choices where there is only one head: the same few shapes come again and again.

    The loops only read them; they are not marked so because that would compile a second version.
    """
    return np.zeros((shape[0], 2), dtype=np.int64), np.zeros(shape, dtype=np.int64)
