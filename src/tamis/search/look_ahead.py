"""PPS that looks ahead, for all remaining nodes at once.

The parents of a parity say nothing one by one, so PPS stops before the first of them. Where no
single candidate passes, the strongest known interactions among the candidates are judged, each
set as one candidate and as the best of all sets of its size; the best of them is taken if it
passes, and then single candidates have their turn again. Beyond the paper.

Like the single steps (``greedy``) the sets are kept up to date while the ancestral set grows: a
step at which single candidates have failed, a *stuck* one, remembers what was judged there. The
outcome is that of ``pps.possible_parents`` with the same interactions from nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tamis.decisions.rule import Rule
from tamis.information.interface import Context, Group, Interaction, Ints, Source
from tamis.search.constraints import Constraints
from tamis.search.greedy import GreedyBoundaries
from tamis.search.outcome import Boundary, Decision
from tamis.search.pps import Judged, as_bits, best_set, judge_sets, listed, sets_to_try


@dataclass(slots=True)
class _Stuck:
    """A step at which no single candidate passes: the sets tried there and how they fared."""

    sets: tuple[tuple[int, ...], ...] = ()
    judged: Sequence[Judged] = ()
    taken: tuple[int, ...] | None = None
    hopeless: bool = False
    """None of the sets passes, and bars only rise."""


class InteractingBoundaries(GreedyBoundaries):
    """The PPS boundary of every remaining node, with interactions where single candidates fail."""

    def __init__(
        self,
        information: Source,
        rule: Rule,
        interactions: Sequence[Sequence[Interaction]],
        *,
        inclusive: bool = False,
        max_boundary: int | None = None,
        constraints: Constraints | None = None,
    ) -> None:
        self._barred = () if constraints is None else constraints.blocked
        self._listed = [listed(one) for one in interactions]
        self._mentioned = [as_bits(k for _, one in sets for k in one) for sets in self._listed]
        self._candidates = 0
        self._fresh = 0
        self._stuck: dict[int, _Stuck] = {}
        super().__init__(
            information,
            rule,
            inclusive=inclusive,
            max_boundary=max_boundary,
            constraints=constraints,
        )

    def offer(self, newcomers: Sequence[int]) -> None:
        """Single candidates first, then sets, until nothing changes any more."""
        super().offer(newcomers)
        self._fresh = as_bits(newcomers)
        self._candidates |= self._fresh
        waiting = [k for k, path in enumerate(self._paths) if path and self._listed[k]]
        while waiting:
            self._judge(waiting)
            changed = [row for k in waiting if (row := self._first_to_change(k)) is not None]
            for row in changed:
                if self._by_set[row]:
                    self._cut_after(row)
            taking = [row for row in changed if self._take(row)]
            if taking:
                self._settle(self._append_rows([self._extended(row) for row in taking]))
            waiting = [int(self._owner[row]) for row in changed]

    def close(self, target: int) -> Boundary:
        """The boundary with the decisions of its steps; its rows are freed."""
        path = list(self._paths[target])
        boundary = super().close(target)
        for row in path:
            self._stuck.pop(row, None)
        return boundary

    def _append_rows(self, contexts: Sequence[Context]) -> Ints:
        rows = super()._append_rows(contexts)
        for target, _ in contexts:
            row = self._paths[target][-1]
            self._stuck.pop(row, None)
            self._by_set[row] = False
        return rows

    def _stuck_rows(self, target: int) -> Iterable[int]:
        """The steps of this node at which sets have their turn."""
        for row in self._paths[target]:
            if self._by_set[row] or not self._taken[row]:
                yield row

    def _judge(self, targets: Sequence[int]) -> None:
        """Judge the sets that can be tried at the stuck steps of these nodes, in one batch."""
        limit = min(self._max_size, len(self._offered))
        changed: list[_Stuck] = []
        groups: list[Group] = []
        for k in targets:
            concerned = bool(self._mentioned[k] & self._fresh)
            for row in self._stuck_rows(k):
                if not concerned and row in self._stuck:
                    continue  # its sets are those it had
                stuck = self._stuck.setdefault(row, _Stuck())
                given = self._given[row]
                candidates = (
                    self._candidates & ~self._barred[k] if self._barred else self._candidates
                )
                sets = sets_to_try(self._listed[k], candidates, given, limit)
                if sets != stuck.sets:
                    stuck.sets = sets
                    stuck.hopeless = False
                    changed.append(stuck)
                    groups += [Group(k, given, one) for one in sets]
        judged = iter(judge_sets(self._information, groups, self._rule))
        for stuck in changed:
            stuck.judged = [next(judged) for _ in stuck.sets]

    def _first_to_change(self, target: int) -> int | None:
        """The first stuck step whose best set is not what was done there: nothing, or another."""
        for row in self._stuck_rows(target):
            done = self._stuck[row].taken if self._by_set[row] else None
            if self._wanted(row) != done:
                return row
        return None

    def _wanted(self, row: int) -> tuple[int, ...] | None:
        stuck = self._stuck[row]
        if stuck.hopeless:
            return None
        best = self._best_set(row)
        if best is not None and best.dependent:
            return best.others
        stuck.hopeless = True
        return None

    def _best_set(self, row: int) -> Decision | None:
        stuck = self._stuck[row]
        n_left = len(self._offered) - int(self._depth[row])
        return best_set(
            int(self._owner[row]), stuck.sets, stuck.judged, self._given[row], self._rule, n_left,
            self._inclusive,
        )  # fmt: skip

    def _take(self, row: int) -> bool:
        """Take the best set at this step, if it passes."""
        wanted = self._wanted(row)
        self._stuck[row].taken = wanted
        self._by_set[row] = self._taken[row] = wanted is not None
        return wanted is not None

    def _extended(self, row: int) -> Context:
        if not self._by_set[row]:
            return super()._extended(row)
        given = (*self._given[row], *(self._stuck[row].taken or ()))
        return Context(int(self._owner[row]), tuple(sorted(given)))

    def _decision(self, row: int) -> Decision:
        best = self._best_set(row) if self._by_set[row] else None
        return super()._decision(row) if best is None else best
