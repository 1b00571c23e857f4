"""Counting a table block by block: the answers of the engine in memory, to the last bit.

Which tables are counted in planes and which row by row is decided as in memory (``Shapes``). Counts
of blocks are summed, and folded once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis.counting import counts
from tamis.counting.block_loops import lay_out
from tamis.counting.compiled import Floats, Ints, Judgements, Words
from tamis.counting.counts import Batch, FamilyCounts, Question, Shapes, blank, in_runs
from tamis.counting.elsewhere import BlockTable
from tamis.counting.folding import BlockLookup, TableBatch, starts_of
from tamis.counting.interactions import few_levels
from tamis.counting.looking import Looking
from tamis.counting.lookup import Lookup
from tamis.counting.passes import Masked, Pass, PlaneRows, Sums
from tamis.counting.row_tables import RowQuestion, RowTables

WHOLE_ROWS = 1024
"""Larger than in memory: there asking again is cheap, here it takes another round."""
FOLDED_BYTES = 64
"""What folding takes at most for a cell of a table: the cell, its term, and sorting the counts."""


class BlockCounts:
    """The contingency tables of a table in blocks, judged in batches within a limit of memory."""

    reads: ClassVar[type[Lookup]] = BlockLookup
    whole_rows: ClassVar[int] = WHOLE_ROWS

    def __init__(self, table: BlockTable, n_jobs: int | None = None) -> None:
        self.n_rows = table.n_rows
        self.arities = table.arities
        self._table = table
        self._shapes = Shapes(table.arities, table.planed, table.n_rows)
        self._n_jobs = table.threads(n_jobs)
        self._rows = RowTables(table, self._total, self._shapes.most_cells)
        self._ones, self._pairs = self._count_planes()

    def _total(self, passes: Sequence[Pass]) -> list[Sums]:
        return self._table.total(passes, self._n_jobs)

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
        states = self._rows.all_states([*(given for _, given in contexts), *others])
        base, heads = self._shapes.joint_supports(contexts, others, lookup)
        answers = blank(len(contexts), len(contexts), tests=True)
        asked = []
        for b, (target, given) in enumerate(contexts):
            own = slice(b, b + 1)
            room = Judgements(*(part[own] for part in answers))
            candidates = [states[others[b]]]
            asked.append(
                RowQuestion(target, states[given], candidates, base[own], heads[own], room)
            )
        self._rows.judge(asked, _for_blocks(lookup))
        return answers

    def tables(self, sets: Sequence[tuple[int, ...]]) -> list[Ints]:
        """For each set of columns the rows of every joint state that occurs, in their order."""
        small = {
            i: one
            for i, one in enumerate(sets)
            if one and self._shapes.is_small((one[-1], one[:-1]))
        }
        large = self._rows.all_states([one for i, one in enumerate(sets) if i not in small])
        whole = dict(zip(small, self._whole_tables(list(small.values())), strict=True))
        return [
            whole[i][whole[i] > 0] if i in whole else large[one].counts
            for i, one in enumerate(sets)
        ]

    def families(
        self, contexts: Sequence[Question], lookup: Lookup, *, tests: bool
    ) -> FamilyCounts | None:
        """Nothing of its own: the tests of a batch are counted in one pass as it is."""
        return None

    def _whole_tables(self, sets: Sequence[tuple[int, ...]]) -> list[Ints]:
        """For each small set of columns the rows of every joint state, whether it occurs or not."""
        found: list[Ints] = []
        contexts = [(one[-1], one[:-1]) for one in sets]
        nobody = [np.zeros(0, dtype=np.int64)] * len(sets)
        for start, stop in self._chunks(contexts, nobody):
            counted = self._count(contexts[start:stop], nobody[start:stop])
            found += np.split(counted.margins, counted.margin_starts[1:-1])
        return found

    def direct(self, lookup: Lookup, regrets: Callable[[int], Floats]) -> None:
        """Nothing: blocks answer in batches."""

    @cached_property
    def looking(self) -> Looking:
        """The sets of columns that say something together."""
        # The counts of a block, and their sums over blocks.
        most_bytes = self._table.set_bytes // 4
        return Looking(
            self.arities, self._interacting_ones(), self.n_rows,
            lambda one: self._total([one])[0], self._n_jobs, most_bytes,
        )  # fmt: skip

    def _interacting_ones(self) -> Ints:
        """The rows of each plane among which interactions are looked for."""
        found: list[int] = []
        first = self._table.first
        for k, n in few_levels(self.arities):
            own = self._ones[first[k] : first[k] + n - 1].tolist()
            found += own if n <= 2 else [*own, self.n_rows - sum(own)]
        return np.array(found, dtype=np.int64)

    def _dispatch(self, batch: Batch, lookup: Lookup, answers: Judgements) -> None:
        """All that goes to planes shares a pass, and so does all that goes to rows."""
        places: list[int] = []
        spans: list[Ints] = []
        by_rows: list[tuple[int, Ints]] = []
        own: list[Ints] = []
        for b, context in enumerate(batch.contexts):
            span = np.arange(batch.starts[b], batch.starts[b + 1])
            candidates = batch.candidates[span]
            is_own = np.isin(candidates, (context[0], *context[1]))
            own.append(span[is_own])
            small = self._shapes.are_small(context, candidates)
            # Without candidates the context's own entropy is still wanted, once.
            alone = not len(span) and self._shapes.is_small(context)
            if small.any() or alone:
                places.append(b)
                spans.append(span[small & ~is_own])
            if not (small.all() if len(span) else alone):
                by_rows.append((b, span[~small]))
        if places:
            self._judge_in_planes(batch, places, spans, lookup, answers)
        if by_rows:
            self._judge_by_rows(batch, by_rows, lookup, answers)
        # A candidate that is part of its context gains nothing and has no test.
        every = np.concatenate(own)
        answers.gains[every] = 0.0
        if len(answers.stats):
            answers.stats[every] = 0.0

    def _judge_by_rows(
        self,
        batch: Batch,
        places: Sequence[tuple[int, Ints]],
        lookup: Lookup,
        answers: Judgements,
    ) -> None:
        """Contexts of a batch with some of their candidates, counted row by row."""
        strata = self._rows.all_states([batch.contexts[b][1] for b, _ in places])
        tests = len(answers.stats) > 0
        asked = []
        for b, span in places:
            target, given = batch.contexts[b]
            candidates = batch.candidates[span]
            asked.append(
                RowQuestion(
                    target, strata[given], [self._rows.column(k) for k in candidates.tolist()],
                    batch.base_heads[b : b + 1],
                    batch.heads[b][self._shapes.classes[candidates]],
                    blank(1, len(span), tests=tests),
                )
            )  # fmt: skip
        self._rows.judge(asked, _for_blocks(lookup))
        for (b, span), question in zip(places, asked, strict=True):
            found = question.answers
            answers.entropies[b] = found.entropies[0]
            answers.gains[span] = found.gains
            if tests:
                answers.stats[span] = found.stats

    def _judge_in_planes(
        self,
        batch: Batch,
        places: list[int],
        spans: list[Ints],
        lookup: Lookup,
        answers: Judgements,
    ) -> None:
        """The contexts at these places with these candidates, as many at once as fit."""
        contexts = [batch.contexts[b] for b in places]
        candidates = [batch.candidates[span] for span in spans]
        for start, stop in self._chunks(contexts, candidates):
            counted = self._count(contexts[start:stop], candidates[start:stop])
            rows = np.array(places[start:stop])
            span = np.concatenate(spans[start:stop])
            classes = self._shapes.classes[batch.candidates[span]]
            heads = batch.heads[rows[counted.context], classes]
            answers.entropies[rows], answers.gains[span] = counted.fold(
                _for_blocks(lookup), batch.base_heads[rows], heads
            )
            if len(answers.stats):
                answers.stats[span] = counted.test(self.n_rows)

    def _chunks(
        self, contexts: Sequence[Question], candidates: Sequence[Ints]
    ) -> Iterator[tuple[int, int]]:
        """Cut contexts into runs whose tables fit into memory together."""
        most = self._table.working_bytes // 2 // (FOLDED_BYTES + 8 * self._n_jobs)
        levels = (int(self.arities[some].sum()) for some in candidates)
        cells = map(self._shapes.n_cells, contexts)
        return in_runs((n * (1 + 2 * m) for n, m in zip(cells, levels, strict=True)), most)

    def _count(self, contexts: Sequence[Question], candidates: Sequence[Ints]) -> TableBatch:
        """Count the tables of contexts in planes, over all blocks."""
        sets = [(*given, target) for target, given in contexts]
        wanted = Masked(sets, candidates, self.arities, len(self._pairs) > 0)
        sums = np.zeros(0, dtype=np.int64)
        if wanted.size:
            ((sums,),) = self._total([wanted])
        n_cells = np.array([self._shapes.n_cells(context) for context in contexts], dtype=np.int64)
        flat = wanted.wanted[2]
        of_context = np.repeat(np.arange(len(contexts)), [len(some) for some in candidates])
        widths = self.arities[flat]
        cell_starts = starts_of(n_cells[of_context] * widths)
        margins = np.empty(int(n_cells.sum()), dtype=np.int64)
        cells = np.empty(int(cell_starts[-1]), dtype=np.int64)
        no_words: Words = np.zeros((self._table.layout.n_planes, 0), dtype=np.uint64)
        lay_out(
            no_words, self._table.first, self.arities, self._ones, self._pairs, self.n_rows,
            *wanted.wanted, sums, margins, cells,
        )  # fmt: skip
        return TableBatch(
            self.arities[[target for target, _ in contexts]],
            starts_of(n_cells), margins, of_context, widths, cell_starts, cells,
        )  # fmt: skip

    def _count_planes(self) -> tuple[Ints, NDArray[np.int64]]:
        """The rows of each plane, and of each pair of planes if those fit into memory."""
        n_planes = self._table.layout.n_planes
        fits = 8 * n_planes**2 <= min(counts.PAIR_TABLE_BYTES, self._table.working_bytes // 8)
        ((ones, pairs),) = self._total([PlaneRows(fits)])
        return ones, pairs


def _for_blocks(lookup: Lookup) -> BlockLookup:
    if not isinstance(lookup, BlockLookup):
        raise TypeError("blocks are folded with a BlockLookup")
    return lookup
