"""Rows of cmi, I(X_k ; X_l | S) for all l, one for each context that a selection has come to.

A row also holds what was found out at it: the strengths of candidates, and the row that follows
when one of them is taken. So what has been selected once is followed without asking again.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from tamis.information.interface import Context, Floats, Ints, Profiles, Source, Tests

MOST_SLOTS = 128
FEW_SLOTS = 64
"""A row has a slot for each variable to hold what was found out; with more variables than
``MOST_SLOTS`` they share ``FEW_SLOTS``."""
FIRST_ROWS = 64

ROW_BYTES = 2**25
"""The rows that are counted at once: wide tables have no room for a second copy of them all."""

Given = tuple[int, ...]


class CmiRows:
    """The rows that have been counted."""

    def __init__(self, information: Source, *, shared: bool = False) -> None:
        d = information.n_variables
        self._information = information
        self._shared = shared
        """Whether others go along these rows too, so that none are forgotten."""
        self._slots = d if d <= MOST_SLOTS else FEW_SLOTS
        self._index: list[dict[Given, int]] = [{} for _ in range(d)]
        # Rows that are not written to take no memory.
        size = 2 * d
        self._unused = list(range(size - 1, -1, -1))
        self.given: list[Given] = [()] * size
        self._entropies = np.empty(size)
        self._leaves_open = False
        """Whether there may be rows whose entropies have been left open."""
        self.cmi = np.empty((size, d))
        self.stats: Floats | None = None
        self.whole = np.empty(size, dtype=np.bool_)
        """Whether a row has all cmi, or the largest, and -inf in place of the others."""
        self.known = np.empty((size, self._slots), dtype=np.int32)
        """Whose strength a slot holds."""
        self.strengths = np.empty((size, self._slots))
        self.following = np.empty((size, self._slots), dtype=np.int32)

    def find(self, target: int, given: Given) -> int:
        """The row of a context; -1 where it has not been counted."""
        return self._index[target].get(given, -1)

    def know(self, contexts: Sequence[Context]) -> None:
        """Count what is not there."""
        unknown = [
            one for one in dict.fromkeys(contexts) if one.given not in self._index[one.target]
        ]
        for part in in_parts(unknown, self._information.n_variables):
            self._file(part, self._information.leading(part))

    def complete(self, rows: Sequence[int], targets: Sequence[int]) -> None:
        """Count rows that are not whole, each of one of the targets."""
        contexts = [Context(k, self.given[row]) for k, row in zip(targets, rows, strict=True)]
        self.cmi[rows] = self._information.profiles(contexts).cmi
        exclude(self.cmi, rows, contexts)
        self.whole[rows] = True

    def entropies(self, rows: Ints, targets: Sequence[int]) -> Floats:
        """H(target | given) of rows, each of one of the targets; what they have left open is asked
        for."""
        found: Floats = self._entropies[rows]
        if self._leaves_open:
            still_open = np.flatnonzero(np.isnan(found))
            asked = [Context(targets[i], self.given[rows[i]]) for i in still_open.tolist()]
            found[still_open] = self._information.entropies(asked)
            self._entropies[rows[still_open]] = found[still_open]
        return found

    def entropy(self, row: int, context: Context) -> float:
        """H(target | given) of the row of a context."""
        found = float(self._entropies[row])
        if math.isnan(found):
            found = float(self._information.entropies([context])[0])
            self._entropies[row] = found
        return found

    def judged(self, target: int, given: Given, variable: int) -> tuple[float, float] | None:
        """The cmi and the strength of a variable, if they are kept."""
        row, slot = self.find(target, given), variable % self._slots
        if row < 0 or self.known[row, slot] != variable:
            return None
        return float(self.cmi[row, variable]), float(self.strengths[row, slot])

    def link(self, rows: Ints, variables: Ints, following: Ints) -> None:
        """Keep which row follows each when a variable is taken."""
        slots = variables % self._slots
        known = self.known[rows, slots] == variables
        self.following[rows[known], slots[known]] = following[known]

    def tests(self, rows: Ints, variables: Ints) -> Tests | None:
        """The tests of variables at rows, if they came with them."""
        if self.stats is None:
            return None
        cmi, stats = self.cmi[rows, variables], self.stats[rows, variables]
        return self._information.as_tests(cmi, stats)

    def count(self, target: int) -> int:
        """How many rows of a target there are."""
        return len(self._index[target])

    def forget(self, target: int, kept: Collection[Given] = ()) -> None:
        """Drop the rows of a target but for some, unless others go along them."""
        if self._shared:
            return
        index = self._index[target]
        dropped = {index.pop(given) for given in list(index) if given not in kept}
        self._unused += dropped
        for row in index.values():
            following = self.following[row]
            for slot in np.flatnonzero(following >= 0).tolist():
                if int(following[slot]) in dropped:
                    following[slot] = -1

    def _file(self, contexts: Sequence[Context], counted: Profiles) -> None:
        while len(self._unused) < len(contexts):
            self._grow()
        fresh = [self._unused.pop() for _ in contexts]
        for row, (target, given) in zip(fresh, contexts, strict=True):
            self._index[target][given] = row
            self.given[row] = given
        rows = np.array(fresh)
        self._entropies[rows] = counted.entropies
        self._leaves_open |= any(map(math.isnan, counted.entropies.tolist()))
        self.known[rows] = -1
        self.following[rows] = -1
        self.cmi[rows] = counted.cmi
        self.whole[rows] = True if counted.whole is None else counted.whole
        exclude(self.cmi, fresh, contexts)
        if counted.stats is not None:
            if self.stats is None:
                self.stats = np.empty((*self.cmi.shape, counted.stats.shape[-1]))
            self.stats[rows] = counted.stats

    def _grow(self) -> None:
        """Add a quarter to the store, where it is: a copy of the cmi may not fit beside them."""
        size = len(self._entropies)
        more = max(size // 4, FIRST_ROWS)
        for name in ("_entropies", "cmi", "stats", "whole", "known", "strengths", "following"):
            field = getattr(self, name)
            if field is not None and len(field) == size:
                field.resize((size + more, *field.shape[1:]), refcheck=False)
        self.given += [()] * more
        self._unused = list(range(size + more - 1, size - 1, -1)) + self._unused


def exclude(cmi: Floats, rows: Sequence[int], contexts: Sequence[Context]) -> None:
    """The target and what is given are no candidates."""
    for row, (target, given) in zip(rows, contexts, strict=True):
        cmi[row, target] = -np.inf
        for k in given:
            cmi[row, k] = -np.inf


def in_parts(contexts: Sequence[Context], n_variables: int) -> Iterator[Sequence[Context]]:
    """Contexts whose rows are of that size together."""
    some = max(1, ROW_BYTES // (8 * n_variables))
    for start in range(0, len(contexts), some):
        yield contexts[start : start + some]
