"""Counting a table block by block: the answers of the engine in memory, to the last bit.

Which tables are counted in planes and which row by row, and in what batches, is decided as in
memory; what touches rows is replaced. Counts of blocks are summed, and folded once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from tamis.blocks.folding import BlockLookup, TableBatch, starts_of
from tamis.blocks.kernels import add_masked, add_ones, add_pairs, lay_out
from tamis.blocks.packed import PackedTable
from tamis.blocks.parities import Interacting, SummedParities
from tamis.blocks.row_tables import RowTables
from tamis.blocks.states import States
from tamis.counts import memory
from tamis.counts.compiled import Ints, Words
from tamis.counts.interactions import Interaction, affordable, require_affordable
from tamis.counts.lookup import Lookup
from tamis.counts.memory import Judgements, MemoryCounts, Question, usable_jobs
from tamis.counts.planes import Planes
from tamis.errors import SettingError

FOLDED_BYTES = 64
"""What folding takes at most for a cell of a table: the cell, its term, and sorting the counts."""


class BlockCounts(MemoryCounts):
    """The contingency tables of a plane file, judged in batches within a limit of memory."""

    def __init__(self, table: PackedTable, n_jobs: int | None = None) -> None:
        self.table = table
        self.n_rows = table.n_rows
        self.arities = table.arities
        self._sizes: list[int] = table.arities.tolist()
        self._first = table.first
        nothing: Words = np.zeros((0, 0), dtype=np.uint64)
        self._no_words = nothing
        # What the loops in memory would read; here they do not run.
        self._planes = Planes(nothing, table.first, table.planed)
        self._codes = np.zeros((0, 0), dtype=np.uint8)
        self._widest = int(table.arities.max())
        self._all_planed = bool(table.planed.all())
        class_arities, classes = np.unique(table.arities, return_inverse=True)
        self._class_sizes: list[float] = class_arities.tolist()
        self._classes = classes.astype(np.int64)
        self._bank = memory._Bank(
            nothing, self._classes[:0], np.zeros((0, 0), dtype=np.int32), table.first,
            table.arities, 1, self._classes,
        )  # fmt: skip
        self._everyone_often = np.zeros(0, dtype=np.int64)
        self._n_jobs = usable_jobs(n_jobs)
        self._most_cells = min(memory.DENSE_CELLS, max(2**16, 64 * self.n_rows))
        self._n_words = table.file.layout.n_blocks * table.file.layout.words
        self._rows = RowTables(table, self._share, self._most_cells)
        self._ones, self._pairs = self._count_planes()

    def judge_joint(self, context: Question, others: tuple[int, ...], lookup: Lookup) -> Judgements:
        """Judge several variables taken together as one candidate."""
        together = self._rows.states(others)
        cells = math.prod(float(self.arities[k]) for k in others)
        base, choices = self._supports([context], [cells], lookup)
        answers = Judgements.blank(1, 1, tests=True)
        self._rows.judge(context, [together], base, choices[0], _for_blocks(lookup), answers)
        return answers

    def tables(self, sets: Sequence[tuple[int, ...]]) -> list[Ints]:
        """For each set of columns the rows of every joint state that occurs, in their order."""
        small = {i: one for i, one in enumerate(sets) if one and self.is_small(one)}
        whole = dict(zip(small, self.whole_tables(list(small.values())), strict=True))
        return [
            whole[i][whole[i] > 0] if i in whole else self._rows.states(one).counts
            for i, one in enumerate(sets)
        ]

    def whole_tables(self, sets: Sequence[tuple[int, ...]]) -> list[Ints]:
        """For each small set of columns the rows of every joint state, whether it occurs or not."""
        found: list[Ints] = []
        contexts = [(one[-1], one[:-1]) for one in sets]
        nobody = [np.zeros(0, dtype=np.int64)] * len(sets)
        for start, stop in self._chunks(contexts, nobody):
            counted = self._count(contexts[start:stop], nobody[start:stop])
            found += np.split(counted.margins, counted.margin_starts[1:-1])
        return found

    def states_of(self, variables: tuple[int, ...]) -> States:
        """The joint states of columns, to be numbered row by row."""
        return self._rows.states(variables)

    @cached_property
    def _interacting_planes(self) -> Interacting:
        return Interacting(self.table)

    def affordable_look_ahead(self) -> int:
        """The largest sets of candidates whose interactions fit the budget and the memory."""
        n_planes = len(self._interacting_planes.column)
        most = affordable(n_planes, -(-self.n_rows // 64))
        while most > 1 and _bytes_of_sets(n_planes, most) > self.table.working_bytes // 2:
            most -= 1
        return most

    def interactions(self, largest: int) -> list[tuple[Interaction, ...]]:
        """For each column the sets of up to ``largest`` others that it depends on together."""
        planes = self._interacting_planes
        n_planes = len(planes.column)
        require_affordable(n_planes, -(-self.n_rows // 64), largest)
        if _bytes_of_sets(n_planes, largest) > self.table.working_bytes // 2:
            raise SettingError(
                f"look_ahead={largest} counts more sets than the memory limit has room for; "
                f"look_ahead={self.affordable_look_ahead()} is within it"
            )
        parities = SummedParities(n_planes, planes.column, self.n_rows, largest)
        for start, stop in self.table.file.groups(self.table.blocks_at_once):
            for block in range(start, stop):
                parities.take(planes.words(block))
                self._count_sets(parities, n_planes, largest)
                parities.keep()
        parities.finish()
        return parities.interactions(len(self._sizes))

    def _count_sets(self, parities: SummedParities, n_planes: int, largest: int) -> None:
        for size in range(1, largest + 2):

            def part(start: int, stop: int, size: int = size) -> None:
                parities.count(size, start, stop)

            work = math.comb(n_planes, size) * self.table.file.layout.words
            self._share(parities.shares(size), work, part, power=1 / size)

    def _dispatch(self, batch: memory._Batch, lookup: Lookup, answers: Judgements) -> None:
        """All contexts that go to planes with all their candidates share a pass."""
        cells = [self._n_cells(context) for context in batch.contexts]
        large = [b for b, n in enumerate(cells) if not self._is_for_planes(n)]
        small = [b for b, n in enumerate(cells) if self._is_for_planes(n)]
        if small:
            self._judge_in_planes(batch, small, lookup, answers)
        for b in large:
            self._judge_one(batch, b, cells[b], lookup, answers)

    def _is_for_planes(self, n_cells: int) -> bool:
        return n_cells * (self._widest - 1) <= memory.CROSSOVER and self._all_planed

    def is_small(self, variables: tuple[int, ...]) -> bool:
        """Whether a table is counted in planes."""
        target, given = variables[-1], variables[:-1]
        few = self._n_cells((target, given)) <= memory.CROSSOVER
        return few and self._is_planed((target, given))

    def _judge_planes(
        self,
        batch: memory._Batch,
        bank: memory._Bank,
        lookup: Lookup,
        answers: Judgements,
        n_cells: int,
    ) -> None:
        self._judge_in_planes(batch, list(range(len(batch.contexts))), lookup, answers)

    def _judge_in_planes(
        self, batch: memory._Batch, places: list[int], lookup: Lookup, answers: Judgements
    ) -> None:
        """The contexts of a batch at these places, as many at once as memory has room for."""
        contexts = [batch.contexts[b] for b in places]
        spans: list[Ints] = []
        for b, (target, given) in zip(places, contexts, strict=True):
            span = np.arange(batch.starts[b], batch.starts[b + 1])
            # A candidate that is part of its context gains nothing and has no test.
            own = np.isin(batch.candidates[span], (target, *given))
            answers.gains[span[own]] = 0.0
            if len(answers.stats):
                answers.stats[span[own]] = 0.0
            spans.append(span[~own])
        candidates = [batch.candidates[span] for span in spans]
        for start, stop in self._chunks(contexts, candidates):
            counted = self._count(contexts[start:stop], candidates[start:stop])
            rows = np.array(places[start:stop])
            span = np.concatenate(spans[start:stop])
            classes = self._classes[batch.candidates[span]]
            choices = batch.choices[rows[counted.context], classes]
            answers.entropies[rows], answers.gains[span] = counted.fold(
                _for_blocks(lookup), batch.base_choices[rows], choices
            )
            if len(answers.stats):
                answers.stats[span] = counted.test(self.n_rows)

    def _chunks(
        self, contexts: Sequence[Question], candidates: Sequence[Ints]
    ) -> list[tuple[int, int]]:
        """Cut contexts into runs whose tables fit into memory together."""
        most = self.table.working_bytes // 2 // (FOLDED_BYTES + 8 * self._n_jobs)
        cuts, held = [0], 0
        for b, (target, given) in enumerate(contexts):
            size = self._n_cells((target, given)) * (1 + 2 * int(self.arities[candidates[b]].sum()))
            if held and held + size > most:
                cuts.append(b)
                held = 0
            held += size
        return [(a, b) for a, b in zip(cuts, [*cuts[1:], len(contexts)], strict=True) if a < b]

    def _count(self, contexts: Sequence[Question], candidates: Sequence[Ints]) -> TableBatch:
        """Count the tables of contexts in planes, over all blocks."""
        sets = [(*given, target) for target, given in contexts]
        n_cells = np.array([self._n_cells(context) for context in contexts], dtype=np.int64)
        planes = [int((self.arities[some] - 1).sum()) for some in candidates]
        sums_start = starts_of(n_cells * (1 + np.array(planes, dtype=np.int64)))
        lengths = np.array([len(some) for some in candidates], dtype=np.int64)
        flat = np.concatenate([np.zeros(0, dtype=np.int64), *candidates])
        wanted = (
            np.array([k for one in sets for k in one], dtype=np.int64),
            starts_of(np.array([len(one) for one in sets], dtype=np.int64)),
            flat, starts_of(lengths), sums_start,
        )  # fmt: skip
        sums = self._sums(wanted, int(sums_start[-1]))
        of_context = np.repeat(np.arange(len(contexts)), lengths)
        widths = self.arities[flat]
        cell_starts = starts_of(n_cells[of_context] * widths)
        margins = np.empty(int(n_cells.sum()), dtype=np.int64)
        cells = np.empty(int(cell_starts[-1]), dtype=np.int64)
        lay_out(
            self._no_words, self._first, self.arities, self._ones, self._pairs, self.n_rows,
            *wanted, sums, margins, cells,
        )  # fmt: skip
        return TableBatch(
            self.arities[[target for target, _ in contexts]],
            np.array([not given for _, given in contexts]),
            starts_of(n_cells), margins, of_context, widths, cell_starts, cells,
        )  # fmt: skip

    def _sums(self, wanted: tuple[Ints, Ints, Ints, Ints, Ints], size: int) -> Ints:
        """Go through all blocks; threads share them, and each has sums of its own."""
        sums = np.zeros(size, dtype=np.int64)
        one_at_a_time = Lock()
        for start, stop in self.table.file.groups(self.table.blocks_at_once):
            blocks = self.table.file.words(start, stop)

            def part(i: int, j: int, blocks: Words = blocks) -> None:
                own = np.zeros(size, dtype=np.int64)
                add_masked(
                    blocks[i:j], self._first, self.arities, len(self._pairs) > 0, *wanted, own
                )
                with one_at_a_time:
                    np.add(sums, own, out=sums)

            self._share(len(blocks), len(blocks) * size * blocks.shape[2], part)
        return sums

    def _judge_rows(
        self,
        batch: memory._Batch,
        columns: memory._Columns,
        lookup: Lookup,
        answers: Judgements,
    ) -> None:
        """A batch of one context, counted row by row."""
        candidates = [self._rows.column(k) for k in batch.candidates.tolist()]
        choices = batch.choices[0][columns.classes[batch.candidates]]
        self._rows.judge(
            batch.contexts[0],
            candidates,
            batch.base_choices,
            choices,
            _for_blocks(lookup),
            answers,
        )

    def _count_planes(self) -> tuple[Ints, NDArray[np.int64]]:
        """The rows of each plane, and of each pair of planes if those fit into memory."""
        n_planes = self.table.file.layout.n_planes
        ones = np.zeros(n_planes, dtype=np.int64)
        fits = 8 * n_planes**2 <= min(memory.PAIR_TABLE_BYTES, self.table.working_bytes // 8)
        pairs = np.zeros((n_planes, n_planes) if fits else (0, 0), dtype=np.int64)
        for start, stop in self.table.file.groups(self.table.blocks_at_once):
            blocks = self.table.file.words(start, stop)
            add_ones(blocks, ones)
            if not fits:
                continue

            def part(first: int, last: int, blocks: Words = blocks) -> None:
                add_pairs(blocks, first, last, pairs)

            work = n_planes**2 * blocks.shape[0] * blocks.shape[2] // 2
            self._share(n_planes, work, part, power=0.5, falling=True)
        upper = np.triu(pairs, 1)
        return ones, upper + upper.T + np.diag(np.diag(pairs)) if fits else pairs


def _for_blocks(lookup: Lookup) -> BlockLookup:
    if not isinstance(lookup, BlockLookup):
        raise TypeError("blocks are folded with a BlockLookup")
    return lookup


def _bytes_of_sets(n_planes: int, largest: int) -> int:
    """The counts of all sets up to a size, their sums, and what comparing them takes."""
    return 24 * sum(math.comb(n_planes, size) for size in range(largest + 2))
