"""Counting a table block by block: the answers of the engine in memory, to the last bit.

Which tables are counted in planes and which row by row is decided as in memory (``Shapes``). Counts
of blocks are summed, and folded once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis.counting import counts
from tamis.counting.block_loops import lay_out
from tamis.counting.compiled import Ints, Judgements, Words
from tamis.counting.counts import Batch, Question, Shapes, in_runs, starts_of
from tamis.counting.elsewhere import BlockTable
from tamis.counting.folding import TableBatch, occurring
from tamis.counting.interactions import few_levels
from tamis.counting.looking import Looking
from tamis.counting.passes import Masked, Pass, PlaneRows, Sums
from tamis.counting.row_tables import RowTables

WHOLE_ROWS = 1024
"""Larger than in memory: there asking again is cheap, here it takes another round."""
FOLDED_BYTES = 112
"""What folding takes at most for a cell of a table: the cell, its term, and sorting the counts."""


class BlockCounts:
    """The contingency tables of a table in blocks, judged in batches within a limit of memory."""

    whole_rows: ClassVar[int] = WHOLE_ROWS

    def __init__(self, table: BlockTable, n_jobs: int | None = None) -> None:
        self.n_rows = table.n_rows
        self.arities = table.arities
        self._table = table
        self.shapes = Shapes(table.arities, table.planed, table.n_rows)
        self._n_jobs = table.threads(n_jobs)
        self._rows = RowTables(table, self._total, self.shapes)
        self._ones, self._pairs = self._count_planes()

    def _total(self, passes: Sequence[Pass]) -> list[Sums]:
        return self._table.total(passes, self._n_jobs)

    def judge(self, batch: Batch, *, tests: bool) -> Judgements:
        """All that goes to planes shares a pass, and so does all that goes to rows."""
        answers = batch.room(tests=tests)
        # A candidate that is part of its context gains nothing and has no test.
        answers.gains[:] = 0.0
        answers.stats[:] = 0.0
        in_planes: list[tuple[int, Ints]] = []
        by_rows: list[tuple[int, Ints]] = []
        for b, (target, given) in enumerate(batch.contexts):
            span = np.arange(batch.starts[b], batch.starts[b + 1])
            if len(batch.parts):
                by_rows.append((b, span))
                continue
            span = span[~np.isin(batch.candidates[span], (target, *given))]
            small = self.shapes.are_small((target, given), batch.candidates[span])
            # Without candidates the context's own entropy is still wanted, once.
            alone = not len(span) and self.shapes.is_small((target, given))
            if alone or small.any():
                in_planes.append((b, span[small]))
            if not (alone or (len(span) and small.all())):
                by_rows.append((b, span[~small]))
        if in_planes:
            self._judge_in_planes(batch, in_planes, answers)
        if by_rows:
            self._rows.judge(batch, by_rows, answers)
        return answers

    def tables(self, sets: Sequence[tuple[int, ...]]) -> list[Ints]:
        """For each set of columns the rows of every joint state that occurs, in their order."""
        small = [bool(one) and self.shapes.is_small((one[-1], one[:-1])) for one in sets]
        large = self._rows.all_states(
            [one for one, few in zip(sets, small, strict=True) if not few]
        )
        contexts = [(one[-1], one[:-1]) for one, few in zip(sets, small, strict=True) if few]
        nobody = [np.zeros(0, dtype=np.int64)] * len(contexts)
        whole: list[Ints] = []
        for start, stop in self._chunks(contexts, nobody):
            counted = self._count(contexts[start:stop], nobody[start:stop])
            whole += np.split(counted.pairs, counted.pair_starts[1:-1])
        found = iter(whole)
        return [
            next(found) if few else large[one].counts for one, few in zip(sets, small, strict=True)
        ]

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

    def _judge_in_planes(
        self, batch: Batch, places: Sequence[tuple[int, Ints]], answers: Judgements
    ) -> None:
        """Contexts of a batch with some of their candidates, as many at once as fit."""
        contexts = [batch.contexts[b] for b, _ in places]
        candidates = [batch.candidates[span] for _, span in places]
        for start, stop in self._chunks(contexts, candidates):
            counted = self._count(contexts[start:stop], candidates[start:stop])
            rows = np.array([b for b, _ in places[start:stop]])
            span = np.concatenate([span for _, span in places[start:stop]])
            counted.judge(batch, self.shapes, rows, span, answers)

    def _chunks(
        self, contexts: Sequence[Question], candidates: Sequence[Ints]
    ) -> Iterator[tuple[int, int]]:
        """Cut contexts into runs whose tables fit into memory together."""
        most = self._table.working_bytes // 2 // (FOLDED_BYTES + 8 * self._n_jobs)
        levels = (int(self.arities[some].sum()) for some in candidates)
        cells = map(self.shapes.n_cells, contexts)
        return in_runs((n * (1 + 2 * m) for n, m in zip(cells, levels, strict=True)), most)

    def _count(self, contexts: Sequence[Question], candidates: Sequence[Ints]) -> TableBatch:
        """Count the tables of contexts in planes, over all blocks."""
        sets = [(*given, target) for target, given in contexts]
        wanted = Masked(sets, candidates, self.arities, len(self._pairs) > 0)
        sums = np.zeros(0, dtype=np.int64)
        if wanted.size:
            ((sums,),) = self._total([wanted])
        n_cells = np.array([self.shapes.n_cells(context) for context in contexts], dtype=np.int64)
        flat = wanted.wanted[2]
        of_context = np.repeat(np.arange(len(contexts)), [len(some) for some in candidates])
        widths = self.arities[flat]
        cell_starts = starts_of(n_cells[of_context] * widths)
        margins = np.empty(int(n_cells.sum()), dtype=np.int64)
        cells = np.empty(int(cell_starts[-1]), dtype=np.int64)
        no_words: Words = np.zeros((self._table.layout.n_planes, 0), dtype=np.uint64)
        lay_out(
            no_words, self._table.first, self.arities, (self._ones, self._pairs, self.n_rows),
            wanted.wanted, sums, margins, cells,
        )  # fmt: skip
        n_levels = self.arities[[target for target, _ in contexts]]
        return occurring(n_levels, starts_of(n_cells), margins, of_context, widths, cells)

    def _count_planes(self) -> tuple[Ints, NDArray[np.int64]]:
        """The rows of each plane, and of each pair of planes if those fit into memory."""
        n_planes = self._table.layout.n_planes
        fits = 8 * n_planes**2 <= min(counts.PAIR_TABLE_BYTES, self._table.working_bytes // 8)
        ((ones, pairs),) = self._total([PlaneRows(fits)])
        return ones, pairs
