"""Tables that are too large for planes: contexts judged from counts of rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from tamis.counting.block_loops import add_rows
from tamis.counting.compiled import Codes, Ints, Judgements
from tamis.counting.counts import Batch, Shapes, in_runs, starts_of
from tamis.counting.elsewhere import BlockTable
from tamis.counting.folding import ListedContext, TableBatch
from tamis.counting.passes import Group, KeyRows, Pass, Sums, View
from tamis.counting.sharing import share
from tamis.errors import SettingError

CELL_BYTES = 64
"""What counting and folding take at most for a cell."""
LARGEST_KEY = 2**62
"""Of a state; sets of columns with more are numbered in steps."""
LARGEST_NUMBER = 2**62
"""Of a cell; there are no steps for cells as there are for states."""
KEPT_STATES = 256
KEPT_BYTES = 2**26
"""Conditioning sets whose states are remembered, and how much room they may take."""

Total = Callable[[Sequence[Pass]], list[Sums]]
"""Goes over all rows, once for all these passes."""


class OneColumn:
    """A single column: its levels are its states."""

    def __init__(self, k: int, arity: int) -> None:
        self.k = k
        self.n_states = arity

    def numbers_of(self, group: Group) -> Codes:
        """The level of each row."""
        return group.codes(self.k)


class States:
    """The joint states of columns, or of sets of them, that occur: numbered in their order, with
    their rows."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = parts
        self.size = math.prod(one.n_states for one in parts)
        self.keys: Ints = np.zeros(0, dtype=np.int64)
        """The mixed-radix numbers of the states that occur."""
        self.counts: Ints = self.keys
        self._numbers: Ints | None = None
        self._is_dense = False

    @property
    def n_states(self) -> int:
        """How many states occur."""
        return len(self.keys)

    def keys_of(self, group: Group) -> Ints:
        """Mixed-radix numbers of all states, whether they occur or not."""
        keys = np.zeros(group.n_rows, dtype=np.int64)
        for one in self.parts:
            keys *= one.n_states
            keys += one.numbers_of(group)
        return keys

    def numbers_of(self, group: Group) -> Ints:
        """The number of the state of each row."""
        keys = self.keys_of(group)
        if not self._is_dense:
            return np.searchsorted(self.keys, keys).astype(np.int64)
        if self._numbers is None:
            numbers = np.zeros(self.size, dtype=np.int64)
            numbers[self.keys] = np.arange(len(self.keys))
            self._numbers = numbers
        return self._numbers[keys]

    def settle(self, keys: Ints, counts: Ints, most_dense: int) -> None:
        """Let these be the states that occur; up to a limit they are looked up in a table."""
        self.keys, self.counts, self._is_dense = keys, counts, self.size <= most_dense

    def __getstate__(self) -> dict[str, Any]:
        """What numbers the rows elsewhere; the table of numbers follows from the keys."""
        nothing = np.zeros(0, dtype=np.int64)
        return {**self.__dict__, "_numbers": None, "counts": nothing}


Part = OneColumn | States


class StateRows(KeyRows):
    """The states that occur, and their rows."""

    def __init__(self, states: States, most_bytes: int) -> None:
        super().__init__(most_bytes)
        self._states = states

    def keys_of(self, group: Group) -> Ints:
        """The key of each row."""
        return self._states.keys_of(group)


class RowCells(Pass):
    """The table of a context, (s, x), and with each candidate, (s, x, y), laid out whole."""

    def __init__(self, context: States, candidates: Sequence[Part]) -> None:
        self._context = context
        self._candidates = candidates

    def over(self, view: View) -> Sums:
        """The sums over the rows of this view."""
        widths = np.array([one.n_states for one in self._candidates], dtype=np.int64)
        starts = starts_of(self._context.size * widths)
        cells = np.zeros(int(starts[-1]), dtype=np.int64)
        margins = np.zeros(self._context.size, dtype=np.int64)
        for group in view.row_groups():
            cell_of_row = self._context.keys_of(group)
            add_rows(cell_of_row, np.zeros(group.n_rows, dtype=np.uint8), 1, margins)

            def part(
                first: int, last: int, group: Group = group, cell_of_row: Ints = cell_of_row
            ) -> None:
                for c in range(first, last):
                    codes: Any = self._candidates[c].numbers_of(group)
                    own = cells[starts[c] : starts[c + 1]]
                    add_rows(cell_of_row, codes, int(widths[c]), own)

            share(view.n_jobs, len(self._candidates), len(self._candidates) * group.n_rows, part)
        return margins, cells


class RowQuestion(NamedTuple):
    """A context of a batch with some of its candidates, and where the answers for these go."""

    b: int
    target: int
    strata: States
    """Of the conditioning set."""
    candidates: Sequence[Part]
    span: Ints

    def cut(self, some: slice) -> RowQuestion:
        """Of these candidates only."""
        return self._replace(candidates=self.candidates[some], span=self.span[some])


class RowTables:
    """Contexts counted row by row."""

    def __init__(self, table: BlockTable, total: Total, shapes: Shapes) -> None:
        self._table = table
        self._total = total
        self._shapes = shapes
        self._sizes = shapes.sizes
        self._known: dict[tuple[int, ...], States] = {}

    def column(self, k: int) -> Part:
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

    def judge(self, batch: Batch, places: Sequence[tuple[int, Ints]], answers: Judgements) -> None:
        """Fill the answers: as many contexts as memory has room for in one pass over the rows.
        ``places`` are contexts with some of their candidates."""
        sets = [batch.contexts[b][1] for b, _ in places]
        if len(batch.parts):
            sets += [batch.columns(c) for _, span in places for c in span]
        states = self.all_states(sets)
        dense: list[RowQuestion] = []
        sparse: list[RowQuestion] = []
        for b, span in places:
            target, given = batch.contexts[b]
            candidates = [
                states[batch.columns(c)] if len(batch.parts) else self.column(*batch.columns(c))
                for c in span
            ]
            question = RowQuestion(b, target, states[given], candidates, span)
            most = min(self._shapes.most_cells, 2 * self._room)
            (sparse if self._largest(question) > most else dense).append(question)
        if sparse:
            self._judge_sparse(batch, sparse, answers)
        for some in self._chunks(dense):
            self._judge_laid_out(batch, some, answers)

    @property
    def _room(self) -> int:
        """The cells that may be counted at once."""
        return self._table.working_bytes // 2 // CELL_BYTES

    @property
    def _most_bytes(self) -> int:
        """Of a list of cells that occur."""
        return self._table.working_bytes // 8

    def _largest(self, question: RowQuestion) -> int:
        """The cells of the largest table of a question."""
        widest = max((one.n_states for one in question.candidates), default=1)
        return question.strata.n_states * self._sizes[question.target] * widest

    def _chunks(self, questions: Sequence[RowQuestion]) -> Iterator[list[RowQuestion]]:
        """Questions, or parts of them, whose tables fit into memory together."""
        parts = [part for question in questions for part in self._parts(question)]
        sizes = (self._largest(part) * max(len(part.candidates), 1) for part in parts)
        return (parts[i:j] for i, j in in_runs(sizes, self._room))

    def _parts(self, question: RowQuestion) -> Iterator[RowQuestion]:
        """A question in parts of candidates, each of which fits into memory."""
        at_once = max(1, self._room // max(self._largest(question), 1))
        for start in range(0, max(len(question.candidates), 1), at_once):
            yield question.cut(slice(start, start + at_once))

    def _judge_laid_out(
        self, batch: Batch, questions: Sequence[RowQuestion], answers: Judgements
    ) -> None:
        passes = [RowCells(self._context(one), one.candidates) for one in questions]
        for question, (margins, cells) in zip(questions, self._total(passes), strict=True):
            widths = np.array([one.n_states for one in question.candidates], dtype=np.int64)
            counted = TableBatch(
                np.array([self._sizes[question.target]]),
                np.array([0, len(margins)]), margins, np.zeros(len(widths), dtype=np.int64),
                widths, starts_of(len(margins) * widths), cells,
            )  # fmt: skip
            heads = self._shapes.heads(batch, question.b, question.span)
            own = np.array([question.b])
            counted.judge(batch, heads, own, question.span, self._table.n_rows, answers)

    def _context(self, question: RowQuestion) -> States:
        """The pairs of a stratum and a level of the target."""
        return States((question.strata, self.column(question.target)))

    def _find(self, sets: Sequence[tuple[int, ...]]) -> list[States]:
        """Number the states of all sets, in one pass unless numbers could be too large for their
        type: then in several steps."""
        found = [States(()) for _ in sets]
        for one in found:
            # No column has one state, which all rows have.
            one.settle(np.zeros(1, dtype=np.int64), np.array([self._table.n_rows]), 1)
        left = list(sets)
        while any(left):
            places = [i for i, rest in enumerate(left) if rest]
            for i in places:
                run = self._run(left[i], found[i].n_states)
                before = [found[i]] if found[i].parts else []
                found[i] = States((*before, *map(self.column, run)))
                left[i] = left[i][len(run) :]
            self._settle([found[i] for i in places])
        return found

    def _run(self, columns: tuple[int, ...], size: int) -> tuple[int, ...]:
        """As many of the first columns as one number can hold beside the states."""
        for taken, k in enumerate(columns):
            if taken and size * self._sizes[k] > LARGEST_KEY:
                return columns[:taken]
            size *= self._sizes[k]
        return columns

    def _settle(self, states: Sequence[States]) -> None:
        """Find which states occur, in one pass for all."""
        found = self._total([StateRows(one, self._most_bytes) for one in states])
        for one, (keys, counts) in zip(states, found, strict=True):
            one.settle(keys, counts, min(self._shapes.most_cells, self._room))

    def _judge_sparse(
        self, batch: Batch, questions: Sequence[RowQuestion], answers: Judgements
    ) -> None:
        """Tables too large to lay out, as the list of cells that occur."""

        def entropy(counts: Ints, head: int) -> int:
            ends, heads = np.array([0, len(counts)]), np.array([head])
            return int(batch.lookup.entropies(counts, ends, heads)[0])

        contexts = [self._context(one) for one in questions]
        self._settle(contexts)
        for question, own in zip(questions, contexts, strict=True):
            b, target, _, candidates, span = question
            context = ListedContext(
                own.counts, own.keys // self._sizes[target], batch.base_heads[b],
                self._table.n_rows, entropy,
            )  # fmt: skip
            answers.entropies[b] = context.entropy
            wanted = [self._cells(question, candidate) for candidate in candidates]
            heads = self._shapes.heads(batch, b, span)
            at_once = max(1, self._room // max(self._table.n_rows, 1))
            for start in range(0, len(wanted), at_once):
                found = self._total(wanted[start : start + at_once])
                for i, (keys, cells) in enumerate(found, start=start):
                    pair, level = np.divmod(keys, candidates[i].n_states)
                    places = np.searchsorted(own.keys, pair)
                    context.judge(int(span[i]), cells, places, level, heads[i], answers)

    def _cells(self, question: RowQuestion, candidate: Part) -> StateRows:
        """The cells of a candidate that occur, if they can be numbered."""
        states = States((question.strata, self.column(question.target), candidate))
        if states.size > LARGEST_NUMBER:
            raise SettingError(
                f"A table of {states.size:.1e} cells cannot be numbered: limit max_boundary, or "
                "group levels"
            )
        return StateRows(states, self._most_bytes)
