"""Tables that are too large for planes: contexts judged from counts of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tamis.counting.compiled import Ints
from tamis.counting.counts import Judgements
from tamis.counting.elsewhere import BlockTable
from tamis.counting.folding import BlockLookup, PlainTerms, TableBatch, starts_of
from tamis.counting.passes import Pass, Sums
from tamis.counting.row_passes import (
    LARGEST_KEY,
    Candidate,
    CellKeys,
    OneColumn,
    RowCells,
    StateKeys,
    StateRows,
    States,
)
from tamis.counting.sparse import Margin, SparseContext
from tamis.errors import SettingError

CELL_BYTES = 64
"""What counting and folding take at most for a cell."""
LARGEST_NUMBER = 2**62
"""Of a cell; there are no steps for cells as there are for states."""
KEPT_STATES = 256
KEPT_BYTES = 2**26
"""Conditioning sets whose states are remembered, and how much room they may take."""

Total = Callable[[Sequence[Pass]], list[Sums]]
"""Goes over all rows, once for all these passes."""


class RowQuestion(NamedTuple):
    """A context with its candidates, the heads of their lookups, and room for the answers."""

    target: int
    strata: States
    """Of the conditioning set."""
    candidates: Sequence[Candidate]
    base_choices: Ints
    choices: Ints
    answers: Judgements


class RowTables:
    """Contexts counted row by row."""

    def __init__(self, table: BlockTable, total: Total, most_cells: int) -> None:
        self._table = table
        self._total = total
        self._most_cells = most_cells
        self._sizes: list[int] = table.arities.tolist()
        self._known: dict[tuple[int, ...], States] = {}

    def column(self, k: int) -> Candidate:
        """A column as a candidate."""
        return OneColumn(k, self._sizes[k])

    def all_states(self, sets: Sequence[tuple[int, ...]]) -> dict[tuple[int, ...], States]:
        """The states of each of these sets of columns; the last ones are remembered."""
        wanted = dict.fromkeys(sets)
        missing = [one for one in wanted if one not in self._known]
        self._known.update(zip(missing, self._find(missing), strict=True))
        found = {one: self._known[one] for one in wanted}
        kept = sum(one.keys.nbytes for one in self._known.values())
        while self._known and (len(self._known) > KEPT_STATES or kept > KEPT_BYTES):
            kept -= self._known.pop(next(iter(self._known))).keys.nbytes
        return found

    def judge(self, questions: Sequence[RowQuestion], lookup: BlockLookup) -> None:
        """Fill the answers: as many contexts as memory has room for in one pass over the rows."""
        # As in memory: the two ways round their tests differently.
        sparse = [one for one in questions if self._largest(one) > self._most_cells]
        laid_out = [one for one in questions if self._largest(one) <= self._most_cells]
        for question in laid_out:
            self._require_room(self._largest(question))
        if sparse:
            self._judge_sparse(sparse, lookup)
        for some in self._chunks(laid_out):
            self._judge_laid_out(some, lookup)

    @property
    def _room(self) -> int:
        """The cells that may be counted at once."""
        return self._table.working_bytes // 2 // CELL_BYTES

    @property
    def _most_bytes(self) -> int:
        """Of a list of cells that occur."""
        return self._table.working_bytes // 8

    def _require_room(self, cells: int) -> None:
        if cells > 2 * self._room:
            raise SettingError(
                f"A table of {cells} cells is more than memory has room for: limit max_boundary, "
                "group levels, or raise the limit if it was set"
            )

    def _largest(self, question: RowQuestion) -> int:
        """The cells of the largest table of a question."""
        widest = max((one.n_states for one in question.candidates), default=1)
        return question.strata.n_states * self._sizes[question.target] * widest

    def _chunks(self, questions: Sequence[RowQuestion]) -> Iterator[list[RowQuestion]]:
        """Questions, or parts of them, whose tables fit into memory together."""
        chunk: list[RowQuestion] = []
        held = 0
        for question in questions:
            for part in self._parts(question):
                size = self._largest(part) * max(len(part.candidates), 1)
                if chunk and held + size > self._room:
                    yield chunk
                    chunk, held = [], 0
                chunk.append(part)
                held += size
        if chunk:
            yield chunk

    def _parts(self, question: RowQuestion) -> Iterator[RowQuestion]:
        """A question in parts of candidates, each of which fits into memory."""
        at_once = max(1, self._room // max(self._largest(question), 1))
        for start in range(0, max(len(question.candidates), 1), at_once):
            some = slice(start, start + at_once)
            answers = question.answers
            tests = answers.stats[some] if len(answers.stats) else answers.stats
            yield question._replace(
                candidates=question.candidates[some],
                choices=question.choices[some],
                answers=Judgements(answers.entropies, answers.gains[some], tests),
            )

    def _judge_laid_out(self, questions: Sequence[RowQuestion], lookup: BlockLookup) -> None:
        passes = [
            RowCells(one.target, self._sizes[one.target], one.strata, one.candidates)
            for one in questions
        ]
        for question, (margins, cells) in zip(questions, self._total(passes), strict=True):
            answers = question.answers
            counted = self._as_batch(question, margins, cells)
            answers.entropies[:], answers.gains[:] = counted.fold(
                lookup, question.base_choices, question.choices
            )
            if len(answers.stats):
                answers.stats[:] = counted.test(self._table.n_rows)

    def _as_batch(self, question: RowQuestion, margins: Ints, cells: Ints) -> TableBatch:
        widths = np.array([one.n_states for one in question.candidates], dtype=np.int64)
        return TableBatch(
            np.array([self._sizes[question.target]]), np.array([not question.strata.columns]),
            np.array([0, len(margins)]), margins, np.zeros(len(widths), dtype=np.int64), widths,
            starts_of(len(margins) * widths), cells,
        )  # fmt: skip

    def _find(self, sets: Sequence[tuple[int, ...]]) -> list[States]:
        """Number the states of all sets, in one pass unless numbers could be too large for their
        type: then in several steps."""
        found: list[States | None] = [None if one else self._nothing() for one in sets]
        left = list(sets)
        while any(left):
            places = [i for i, rest in enumerate(left) if rest]
            steps = []
            for i in places:
                run = self._run(left[i], found[i])
                steps.append(States(run, found[i], self._sizes))
                left[i] = left[i][len(run) :]
            self._settle(steps)
            for i, step in zip(places, steps, strict=True):
                found[i] = step
        return [one for one in found if one is not None]

    def _nothing(self) -> States:
        """No column has one state, which all rows have."""
        states = States((), None, self._sizes)
        states.settle_dense(np.array([self._table.n_rows]))
        return states

    def _run(self, columns: tuple[int, ...], before: States | None) -> tuple[int, ...]:
        """As many of the first columns as one number can hold."""
        size = 1 if before is None else before.n_states
        for taken, k in enumerate(columns):
            if taken and size * self._sizes[k] > LARGEST_KEY:
                return columns[:taken]
            size *= self._sizes[k]
        return columns

    def _settle(self, steps: Sequence[States]) -> None:
        """Find which states occur, in one pass for all."""
        most = min(self._most_cells, self._room)
        passes: list[Pass] = []
        for one in steps:
            is_dense = one.size <= most
            passes.append(StateRows(one) if is_dense else StateKeys(one, self._most_bytes))
        for one, wanted, sums in zip(steps, passes, self._total(passes), strict=True):
            if isinstance(wanted, StateRows):
                one.settle_dense(*sums)
            else:
                one.settle_sparse(*sums)

    def _judge_sparse(self, questions: Sequence[RowQuestion], lookup: BlockLookup) -> None:
        """Tables too large to lay out, as the list of cells that occur."""
        pairs = [States((one.target,), one.strata, self._sizes) for one in questions]
        self._settle(pairs)
        for question, own in zip(questions, pairs, strict=True):
            target, strata, candidates, base_choices, choices, answers = question
            context = SparseContext(
                strata.counts, Margin(own.counts, own.keys // self._sizes[target]),
                base_choices[0], lookup, PlainTerms(self._table.n_rows).of,
                is_empty=not strata.columns,
            )  # fmt: skip
            answers.entropies[0] = context.entropy
            wanted = [self._keys(target, strata, candidate) for candidate in candidates]
            at_once = max(1, self._room // max(self._table.n_rows, 1))
            for start in range(0, len(wanted), at_once):
                found = self._total(wanted[start : start + at_once])
                for c, (keys, cells) in enumerate(found, start=start):
                    pair, level = np.divmod(keys, candidates[c].n_states)
                    places = np.searchsorted(own.keys, pair)
                    context.judge(c, cells, places, level, choices[c], answers)

    def _keys(self, target: int, strata: States, candidate: Candidate) -> CellKeys:
        """The cells of a candidate that occur, if they can be numbered."""
        n_levels = self._sizes[target]
        size = strata.n_states * n_levels * candidate.n_states
        if size > LARGEST_NUMBER:
            raise SettingError(
                f"A table of {size:.1e} cells cannot be numbered: limit max_boundary, or group "
                "levels"
            )
        return CellKeys(target, n_levels, strata, candidate, self._most_bytes)
