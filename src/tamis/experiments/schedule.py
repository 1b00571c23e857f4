"""Which table comes next, and which methods have been given up.

The first ``patience`` replications come first, small d before large, because they decide what is
given up; the other replications follow one by one, so that a study stopped half-way has all of
its cells, with fewer replications. A table waits until what decides about it is known: the rows
do not depend on how many processes there are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from tamis.experiments.cells import Cell, Draw
from tamis.experiments.plans import Plan
from tamis.experiments.rows import TIMED_OUT, Row

Group = tuple[str, str, int]
"""Model, graph and n: what a method is given up for, from some d on."""


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
        self._waiting = {draw: list(plan.methods) for draw in sorted(plan.draws, key=self._turn)}
        self._undecided = defaultdict[Group, set[tuple[int, int]]](set)
        self._deciding = defaultdict[tuple[Group, int], int](int)
        self._timed_out = defaultdict[tuple[Group, str], dict[int, int]](dict)
        for draw in plan.draws:
            if draw.replication < plan.patience:
                self._undecided[_group(draw)].add((draw.d, draw.replication))
                self._deciding[_group(draw), draw.d] += 1
        self._take_up(rows)

    def next(self) -> Task | None:
        """A table that can be begun now, if there is one."""
        for draw, methods in self._waiting.items():
            if not self._must_wait(draw):
                del self._waiting[draw]
                return self._task(draw, methods)
        return None

    def hear(self, row: Row) -> None:
        """Remember time-outs that count."""
        if row.status == TIMED_OUT and row.replication < self._patience:
            counts = self._timed_out[(row.model, row.graph, row.n), row.method]
            counts[row.d] = counts.get(row.d, 0) + 1

    def finish(self, draw: Draw) -> None:
        """All runs on a table have been made."""
        self._undecided[_group(draw)].discard((draw.d, draw.replication))

    def put_back(self, draw: Draw, methods: list[str]) -> None:
        """Some runs on a table have not been made after all; they come first."""
        self._waiting = {draw: methods, **self._waiting}

    def _turn(self, draw: Draw) -> tuple[int, int, int, Draw]:
        first = draw.replication < self._patience
        return 0 if first else draw.replication, draw.d, draw.replication, draw

    def _take_up(self, rows: Iterable[Row]) -> None:
        """What an earlier run of the same plan has done."""
        done = set[str]()
        for row in rows:
            done.add(row.key)
            self.hear(row)
        for draw, methods in list(self._waiting.items()):
            left = [name for name in methods if Cell(draw, name).key not in done]
            self._waiting[draw] = left
            if not left:
                del self._waiting[draw]
                self.finish(draw)

    def _must_wait(self, draw: Draw) -> bool:
        return any(self._decides(d, draw) for d, _ in self._undecided[_group(draw)])

    def _decides(self, d: int, draw: Draw) -> bool:
        """Whether time-outs at this d can lead to runs on ``draw`` being skipped."""
        return d < draw.d or (d == draw.d and draw.replication >= self._patience)

    def _task(self, draw: Draw, methods: list[str]) -> Task:
        skipped = {}
        for name in methods:
            given_up = self._given_up(draw, name)
            if given_up is not None:
                skipped[name] = given_up
        return Task(draw, [name for name in methods if name not in skipped], skipped)

    def _given_up(self, draw: Draw, method: str) -> str | None:
        """Why a method does not learn from this table; None if it does."""
        for d, count in sorted(self._timed_out[_group(draw), method].items()):
            all_of_them = count == self._deciding[_group(draw), d]
            if all_of_them and self._decides(d, draw):
                return f"timed out on {_first(count)} with d {d}"
        return None


def _group(draw: Draw) -> Group:
    return draw.model, draw.graph, draw.n


def _first(count: int) -> str:
    return "the first replication" if count == 1 else f"the first {count} replications"
