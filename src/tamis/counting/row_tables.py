"""Tables that are too large for planes: contexts judged from counts of rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from tamis.counting.block_loops import add_rows
from tamis.counting.compiled import Codes, Ints, Judgements
from tamis.counting.counts import Batch, Shapes, in_runs, part_starts, starts_of
from tamis.counting.elsewhere import BlockTable
from tamis.counting.folding import TableBatch, occurring
from tamis.counting.passes import Group, KeyRows, Pass, Sums, View
from tamis.counting.sharing import share
from tamis.errors import SettingError

CELL_BYTES = 112
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
    n_levels: int
    """Of the target."""
    pairs: States
    """Of a stratum and a level of the target."""
    candidates: Sequence[Part]
    span: Ints

    @property
    def widths(self) -> Ints:
        """The levels of each candidate."""
        return np.array([one.n_states for one in self.candidates], dtype=np.int64)

    @property
    def largest(self) -> int:
        """The cells of its largest table."""
        return self.pairs.size * max((one.n_states for one in self.candidates), default=1)

    def parts(self, at_once: int) -> Iterator[RowQuestion]:
        """The same, with so many candidates at a time."""
        for start in range(0, max(len(self.candidates), 1), max(1, at_once)):
            some = slice(start, start + max(1, at_once))
            yield self._replace(candidates=self.candidates[some], span=self.span[some])


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
        most = min(self._shapes.most_cells, 2 * self._room)
        for b, span in places:
            target, given = batch.contexts[b]
            candidates = [
                states[batch.columns(c)] if len(batch.parts) else self.column(*batch.columns(c))
                for c in span
            ]
            pairs = States((states[given], self.column(target)))
            question = RowQuestion(b, self._sizes[target], pairs, candidates, span)
            (sparse if question.largest > most else dense).append(question)
        self._settle([one.pairs for one in sparse])
        for question in sparse:
            for part in question.parts(self._room // max(self._table.n_rows, 1)):
                own = np.array([part.b])
                self._listed(part).judge(batch, self._shapes, own, part.span, answers)
        parts = [part for one in dense for part in one.parts(self._room // one.largest)]
        sizes = [part.largest * max(len(part.candidates), 1) for part in parts]
        for i, j in in_runs(sizes, self._room):
            some, spans = parts[i:j], [part.span for part in parts[i:j]]
            passes = [RowCells(part.pairs, part.candidates) for part in some]
            margins, cells = zip(*self._total(passes), strict=True)
            occurring(
                np.array([part.n_levels for part in some]), part_starts(margins),
                np.concatenate(margins), np.repeat(np.arange(len(some)), list(map(len, spans))),
                np.concatenate([part.widths for part in some]), np.concatenate(cells),
            ).judge(
                batch, self._shapes, np.array([part.b for part in some]), np.concatenate(spans),
                answers,
            )  # fmt: skip

    @property
    def _room(self) -> int:
        """The cells that may be counted at once."""
        return self._table.working_bytes // 2 // CELL_BYTES

    @property
    def _most_bytes(self) -> int:
        """Of a list of cells that occur."""
        return self._table.working_bytes // 8

    def _listed(self, question: RowQuestion) -> TableBatch:
        """Tables too large to lay out: the cells that occur are counted as a list."""
        context, widths = question.pairs, question.widths
        wanted = [self._cells(context, one) for one in question.candidates]
        # Without candidates the context's own entropy is still wanted.
        found = self._total(wanted) if wanted else []
        starts = part_starts([keys for keys, _ in found])
        keys, cells = np.concatenate([np.zeros((2, 0), dtype=np.int64), *found], axis=1)
        pair, level = np.divmod(keys, np.repeat(widths, np.diff(starts)))
        return TableBatch(
            context.counts, np.array([0, len(context.counts)]), context.keys // question.n_levels,
            np.zeros(len(widths), dtype=np.int64), widths, cells, starts,
            np.searchsorted(context.keys, pair), level,
        )  # fmt: skip

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
        if not states:
            return
        found = self._total([StateRows(one, self._most_bytes) for one in states])
        for one, (keys, counts) in zip(states, found, strict=True):
            one.settle(keys, counts, min(self._shapes.most_cells, self._room))

    def _cells(self, pairs: States, candidate: Part) -> StateRows:
        """The cells of a candidate that occur, if they can be numbered."""
        # As the pairs are numbered whether they occur or not.
        states = States((*pairs.parts, candidate))
        if states.size > LARGEST_NUMBER:
            raise SettingError(
                f"A table of {states.size:.1e} cells cannot be numbered: limit max_boundary, or "
                "group levels"
            )
        return StateRows(states, self._most_bytes)
