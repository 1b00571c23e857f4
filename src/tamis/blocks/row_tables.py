"""Tables that are too large for planes, counted row by row over the blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tamis.blocks.folding import BlockLookup, PlainTerms, TableBatch, starts_of
from tamis.blocks.kernels import add_rows
from tamis.blocks.packed import PackedTable
from tamis.blocks.states import LARGEST_KEY, Group, Merging, States, row_groups
from tamis.counts.compiled import Codes, Ints
from tamis.counts.independence import SCALE
from tamis.counts.memory import Judgements, Question
from tamis.counts.sparse import Margin, _statistics
from tamis.errors import SettingError

CELL_BYTES = 64
"""What counting and folding take at most for a cell."""
KEPT_STATES = 16

Share = Callable[..., None]


class OneColumn:
    """A single column as a candidate: its levels are its states."""

    def __init__(self, k: int, arity: int) -> None:
        self.k = k
        self.n_states = arity

    def numbers_of(self, group: Group) -> Codes:
        """The level of each row."""
        return group.codes(self.k)


Candidate = OneColumn | States


class RowTables:
    """Contexts judged one at a time, in one or more passes over the rows."""

    def __init__(self, table: PackedTable, share: Share, most_cells: int) -> None:
        self._table = table
        self._share = share
        self._most_cells = most_cells
        self._sizes: list[int] = table.arities.tolist()
        self._known: dict[tuple[int, ...], States] = {}

    def column(self, k: int) -> Candidate:
        """A column as a candidate."""
        return OneColumn(k, self._sizes[k])

    def states(self, variables: tuple[int, ...]) -> States:
        """The states of these columns that occur; the last few are remembered."""
        known = self._known.get(variables)
        if known is None:
            known = self._known[variables] = self._find(variables)
            while len(self._known) > KEPT_STATES:
                self._known.pop(next(iter(self._known)))
        return known

    def judge(
        self,
        context: Question,
        candidates: Sequence[Candidate],
        base_choices: Ints,
        choices: Ints,
        lookup: BlockLookup,
        answers: Judgements,
    ) -> None:
        """Fill the answers of one context; ``choices`` has a line a candidate."""
        target, given = context
        strata = self.states(given)
        n_cells = strata.n_states * self._sizes[target]
        widest = max((one.n_states for one in candidates), default=1)
        # As in memory: the two ways round their tests differently.
        if n_cells * widest > self._most_cells:
            self._judge_sparse(context, candidates, base_choices[0], choices, lookup, answers)
            return
        self._require_room(n_cells * widest)
        at_once = max(1, self._room // max(n_cells * widest, 1))
        for start in range(0, max(len(candidates), 1), at_once):
            some = slice(start, start + at_once)
            counted = self._count(context, strata, candidates[some])
            answers.entropies[:], answers.gains[some] = counted.fold(
                lookup, base_choices, choices[some]
            )
            if len(answers.stats):
                answers.stats[some] = counted.test(self._table.n_rows)

    @property
    def _room(self) -> int:
        """The cells that may be counted at once."""
        return self._table.working_bytes // 2 // CELL_BYTES

    def _require_room(self, cells: int) -> None:
        if cells > 2 * self._room:
            raise SettingError(
                f"A table of {cells} cells is more than the memory limit has room for: raise it, "
                "limit max_boundary, or group levels"
            )

    def _count(
        self, context: Question, strata: States, candidates: Sequence[Candidate]
    ) -> TableBatch:
        target, given = context
        n_levels = self._sizes[target]
        n_cells = strata.n_states * n_levels
        widths = np.array([one.n_states for one in candidates], dtype=np.int64)
        starts = starts_of(n_cells * widths)
        cells = np.zeros(int(starts[-1]), dtype=np.int64)
        margins = np.zeros(n_cells, dtype=np.int64)
        for group in row_groups(self._table):
            cell_of_row = strata.numbers_of(group) * n_levels + group.codes(target)
            add_rows(cell_of_row, np.zeros(group.n_rows, dtype=np.uint8), 1, margins)

            def part(
                first: int, last: int, group: Group = group, cell_of_row: Ints = cell_of_row
            ) -> None:
                for c in range(first, last):
                    codes: Any = candidates[c].numbers_of(group)
                    own = cells[starts[c] : starts[c + 1]]
                    add_rows(cell_of_row, codes, int(widths[c]), own)

            self._share(len(candidates), len(candidates) * group.n_rows, part)
        return TableBatch(
            np.array([n_levels]), np.array([not given]), np.array([0, n_cells]), margins,
            np.zeros(len(candidates), dtype=np.int64), widths, starts, cells,
        )  # fmt: skip

    def _find(self, variables: tuple[int, ...]) -> States:
        """Number the states; where a number could be too large for its type, in several steps."""
        before: States | None = None
        run: list[int] = []
        size = 1
        for k in variables:
            if size * self._sizes[k] > LARGEST_KEY:
                before = self._settled(States(tuple(run), before, self._sizes))
                run, size = [], before.n_states
            run.append(k)
            size *= self._sizes[k]
        return self._settled(States(tuple(run), before, self._sizes))

    def _settled(self, states: States) -> States:
        if states.size <= min(self._most_cells, self._room):
            counts = np.zeros(states.size, dtype=np.int64)
            for group in row_groups(self._table):
                keys = states.keys_of(group)
                add_rows(keys, np.zeros(group.n_rows, dtype=np.uint8), 1, counts)
            states.settle_dense(counts)
            return states
        merging = self._merging()
        for group in row_groups(self._table):
            merging.add(states.keys_of(group))
        states.settle_sparse(merging.keys, merging.counts)
        return states

    def _merging(self) -> Merging:
        return Merging(self._table.working_bytes // 8)

    def _judge_sparse(
        self,
        context: Question,
        candidates: Sequence[Candidate],
        base_choices: Ints,
        choices: Ints,
        lookup: BlockLookup,
        answers: Judgements,
    ) -> None:
        """Tables too large to lay out, as the list of cells that occur."""
        target, given = context
        strata = self.states(given)
        n_levels = self._sizes[target]
        pairs = self._settled(States((target,), strata, self._sizes))
        pair_keys = pairs.keys
        with_target = Margin(pairs.counts, pair_keys // n_levels)
        h_s = 0 if not given else _entropy(lookup, strata.counts, base_choices[0])
        h_sk = _entropy(lookup, pairs.counts, base_choices[1])
        answers.entropies[0] = (h_sk - h_s) / SCALE
        for c, candidate in enumerate(candidates):
            width = candidate.n_states
            merging = self._merging()
            for group in row_groups(self._table):
                cell_of_row = strata.numbers_of(group) * n_levels + group.codes(target)
                merging.add(cell_of_row * width + candidate.numbers_of(group))
            pair, level = np.divmod(merging.keys, width)
            stratum = pair // n_levels
            beside_keys, column = np.unique(stratum * width + level, return_inverse=True)
            beside_counts = _summed(column, merging.counts, len(beside_keys))
            beside = Margin(beside_counts, beside_keys // width)
            h_sl = _entropy(lookup, beside.counts, choices[c, 0])
            h_skl = _entropy(lookup, merging.counts, choices[c, 1])
            answers.gains[c] = (h_sk + h_sl - h_s - h_skl) / SCALE
            if len(answers.stats):
                row = pairs.counts[np.searchsorted(pair_keys, pair)]
                plain: Any = PlainTerms(self._table.n_rows)
                answers.stats[c] = _statistics(
                    plain, strata.counts, with_target, beside, merging.counts, stratum, row,
                    beside_counts[column],
                )  # fmt: skip


def _entropy(lookup: BlockLookup, counts: Ints, choice: int) -> int:
    return int(lookup.entropies(counts, np.array([0, len(counts)]), np.array([choice]))[0])


def _summed(place: Ints, counts: Ints, size: int) -> Ints:
    sums = np.zeros(size, dtype=np.int64)
    np.add.at(sums, place, counts)
    return sums
