"""Tables counted and judged by numpy: where they are few, compiling would take longer, or loading
what was compiled.

So it is done for the first tables of a process.

The answers are those of the compiled loops to the last bit (``folding.TableBatch``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tamis.counting.compiled import Codes, Ints, Judgements, uncompiled
from tamis.counting.counts import Batch, Shapes, part_starts
from tamis.counting.folding import occurring

SECONDS, SECONDS_PER_ROW = 5e-5, 1e-8
"""What a table takes, about."""
SMALL_CELLS = 1024
"""Those of more cells are never counted by numpy."""
SMALL_ROWS = 10_000
"""Nor are those of tables with more rows."""


class SmallCounts:
    """The contingency tables of a small table, until there were too many of them."""

    def __init__(self, codes: Codes, shapes: Shapes, loop: Callable[..., Any]) -> None:
        """``loop`` is the one that would count them."""
        self._codes = codes
        self._shapes = shapes
        self._loop = loop
        self._open = codes.shape[1] <= SMALL_ROWS

    @property
    def is_open(self) -> bool:
        """Whether tables may still be counted here."""
        return self._open and uncompiled.allows(self._loop)

    def take(self, n_tables: int, sets: Iterable[tuple[int, ...]]) -> bool:
        """Whether so many joint tables, of these columns, are to be counted here; if so, they are
        taken for counted."""
        seconds = n_tables * (SECONDS + SECONDS_PER_ROW * self._codes.shape[1])
        self._open = self._open and uncompiled.allows(self._loop, seconds)
        if not self._open or any(self._shapes.n_joint(one) > SMALL_CELLS for one in sets):
            return False
        uncompiled.spent += seconds
        return True

    def cells(self, variables: tuple[int, ...]) -> Ints:
        """The rows of every joint state, whether it occurs or not."""
        state = np.zeros(self._codes.shape[1], dtype=np.int64)
        for k in variables:
            state = state * self._shapes.sizes[k] + self._codes[k]
        return np.bincount(state, minlength=self._shapes.n_joint(variables))

    def judge(self, batch: Batch, answers: Judgements) -> bool:
        """Judge a batch, if it is to be judged here."""
        if not self.take(len(batch.contexts) + int(batch.starts[-1]), batch.tables()):
            return False
        answers.gains[:] = 0.0
        answers.stats[:] = 0.0
        asked = [
            (b, c)
            for b, (target, given) in enumerate(batch.contexts)
            for c in range(batch.starts[b], batch.starts[b + 1])
            if len(batch.parts) or batch.candidates[c] not in (target, *given)
        ]
        context, c = np.array(asked, dtype=np.int64).reshape(-1, 2).T
        sets = [(*given, target) for target, given in batch.contexts]
        candidates = [batch.columns(i) for i in c]
        margins = [self.cells(one) for one in sets]
        cells = [self.cells(sets[b] + one) for b, one in zip(context, candidates, strict=True)]
        occurring(
            self._shapes.arities[[target for target, _ in batch.contexts]],
            part_starts(margins), np.concatenate(margins), context,
            np.array(list(map(self._shapes.n_joint, candidates)), dtype=np.int64),
            np.concatenate([np.zeros(0, dtype=np.int64), *cells]),
        ).judge(batch, self._shapes, np.arange(len(sets)), c, answers)  # fmt: skip
        return True
