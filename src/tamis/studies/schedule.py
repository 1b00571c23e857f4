"""Which table comes next, and which methods have been given up.

The first ``patience`` replications come first, small tables before large, because they decide what
is given up; the other replications follow one by one, so that a study stopped half-way has all of
its cells, with fewer replications. A table waits until what decides about it is known: the rows
do not depend on how many processes there are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from tamis.studies.plans import Draw, Plan
from tamis.studies.rows import TIMED_OUT, Row

Cell = tuple[str, str, int, int]


@dataclass
class Task:
    """A table, the methods that are to learn from it, and those that are not, with the reason."""

    draw: Draw
    methods: list[str]
    skipped: dict[str, str] = field(default_factory=dict)


class Schedule:
    """The runs of a plan that are still to be made."""

    def __init__(self, plan: Plan, rows: Iterable[Row]) -> None:
        self._patience = plan.patience
        self._timed_out = Counter[tuple[Cell, str]]()
        self._deciding = Counter(d.cell for d in plan.draws if d.replication < plan.patience)
        self._groups = defaultdict[tuple[str, str], list[Cell]](list)
        for cell in sorted(self._deciding):
            self._groups[cell[:2]].append(cell)
        done = set[str]()
        for row in rows:
            done.add(row.key)
            self.hear(row)
        left = {d: [m for m in d.methods if d.key(m) not in done] for d in plan.draws}
        self._waiting = {d: left[d] for d in sorted(plan.draws, key=self._turn) if left[d]}
        self._undecided = Counter(d.cell for d in self._waiting if d.replication < plan.patience)

    def next(self) -> Task | None:
        """A table that can be begun now, if there is one."""
        for draw, methods in self._waiting.items():
            if not any(self._undecided[cell] for cell in self._deciders(draw)):
                del self._waiting[draw]
                skipped = {one: why for one in methods if (why := self._given_up(draw, one))}
                return Task(draw, [one for one in methods if one not in skipped], skipped)
        return None

    def hear(self, row: Row) -> None:
        """Remember time-outs that count."""
        if row.status == TIMED_OUT and row.replication < self._patience:
            self._timed_out[row.cell, row.method] += 1

    def finish(self, draw: Draw) -> None:
        """All runs on a table have been made."""
        if draw.replication < self._patience:
            self._undecided[draw.cell] -= 1

    def put_back(self, draw: Draw, methods: list[str]) -> None:
        """Some runs on a table have not been made after all; they come first."""
        self._waiting = {draw: methods, **self._waiting}

    def _turn(self, draw: Draw) -> tuple[int, int, int, Draw]:
        first = draw.replication < self._patience
        return 0 if first else draw.replication, draw.d * draw.n, draw.replication, draw

    def _deciders(self, draw: Draw) -> list[Cell]:
        """The cells whose time-outs can lead to runs on ``draw`` being skipped."""
        later = draw.replication >= self._patience
        return [
            cell
            for cell in self._groups[draw.cell[:2]]
            if cell[2] <= draw.d and cell[3] <= draw.n and (later or cell != draw.cell)
        ]

    def _given_up(self, draw: Draw, method: str) -> str | None:
        """Why a method does not learn from this table; None if it does."""
        for cell in self._deciders(draw):
            count = self._deciding[cell]
            if self._timed_out[cell, method] == count:
                first = "the first replication" if count == 1 else f"the first {count} replications"
                return f"{method} timed out on {first} with d {cell[2]}, n {cell[3]}"
        return None
