"""The boundaries of all remaining nodes while the ancestral set grows.

The paper runs PPS from nothing for every node after every layer. Here each node keeps the
path its greedy search took, one row of gains for each step, and is only *offered* the newly
admitted nodes: a step changes when a newcomer beats the candidate taken there, or when the
bar, which rises with the number of candidates, is no longer cleared; from the first such
step on, and only there, the search is repeated. The outcome is that of PPS from nothing
(property-tested against ``pps.possible_parents``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tamis.decisions.rule import Rule
from tamis.information.interface import Context, Floats, Information, Ints, Query
from tamis.search.outcome import Boundary, Decision


class Boundaries(ABC):
    """What the remaining nodes are conditioned on, and how uncertain that leaves them."""

    entropies: Floats
    """H(X_k | m_k) of the remaining nodes; infinite for the admitted ones."""

    @abstractmethod
    def given(self, target: int) -> tuple[int, ...]:
        """The boundary of a remaining node, sorted."""

    @abstractmethod
    def offer(self, newcomers: Sequence[int]) -> None:
        """These nodes have been admitted: let all remaining ones consider them."""

    @abstractmethod
    def close(self, target: int) -> Boundary:
        """The boundary of a node at its admission; the node remains no longer."""

    def in_order(self, remaining: Sequence[int]) -> list[int]:
        """The permutation tau: least uncertain first, ties to the first of ``remaining``."""
        nodes = np.array(remaining, dtype=np.int64)
        order: list[int] = nodes[np.argsort(self.entropies[nodes], kind="stable")].tolist()
        return order


class AncestralBoundaries(Boundaries):
    """No boundary search: every node is conditioned on the whole ancestral set (Alg. 1)."""

    def __init__(self, information: Information) -> None:
        self._information = information
        self._ancestors: tuple[int, ...] = ()
        self._remaining = set(range(information.n_variables))
        self.entropies = np.full(information.n_variables, np.inf)
        self._refresh()

    def given(self, target: int) -> tuple[int, ...]:
        """All admitted nodes."""
        return self._ancestors

    def offer(self, newcomers: Sequence[int]) -> None:
        """Condition on the newcomers too."""
        self._ancestors = tuple(sorted((*self._ancestors, *newcomers)))
        self._refresh()

    def close(self, target: int) -> Boundary:
        """The whole ancestral set, for the backward phase to shrink."""
        entropy = float(self.entropies[target])
        self._remaining.discard(target)
        self.entropies[target] = np.inf
        return Boundary(target, self._ancestors, entropy)

    def _refresh(self) -> None:
        nodes = sorted(self._remaining)
        self.entropies[nodes] = self._information.entropies(
            [Context(k, self._ancestors) for k in nodes]
        )


class GreedyBoundaries(Boundaries):
    """PPS for every remaining node, kept up to date as nodes are admitted.

    A *row* is one step of one node's search: the gains of all variables given the members
    taken so far, the best candidate offered, and whether it was taken. ``first_come`` breaks
    ties between candidates by admission rather than by position.
    """

    def __init__(
        self,
        information: Information,
        rule: Rule,
        *,
        inclusive: bool = False,
        max_boundary: int | None = None,
        first_come: bool = False,
    ) -> None:
        d = information.n_variables
        self._information = information
        self._rule = rule
        self._inclusive = inclusive
        self._max_size = d if max_boundary is None else max_boundary
        self._first_come = first_come
        self._rank = np.arange(d, dtype=np.int64)
        self._place = np.zeros(d, dtype=np.int64)
        self._offered: list[int] = []
        self._offered_by_rank = np.zeros(0, dtype=np.int64)
        self._allocate(2 * d)
        self._paths: list[list[int]] = [[] for _ in range(d)]
        self.entropies = np.zeros(d)
        self._append_rows([Context(k, ()) for k in range(d)])
        self._note_entropies(range(d))

    def given(self, target: int) -> tuple[int, ...]:
        """What the node's last step conditions on."""
        return self._given[self._paths[target][-1]]

    def offer(self, newcomers: Sequence[int]) -> None:
        """Repeat each node's search from the first step that the newcomers change."""
        if not newcomers:
            return
        self._register(newcomers)
        rows = np.flatnonzero(self._owner >= 0)
        improved = self._improve(rows, newcomers)
        lapsed = self._taken[rows] & ~improved & ~self._accepted(rows)
        changed: set[int] = set()
        decide_anew = []
        for i in self._earliest_by_owner(rows, np.flatnonzero(improved | lapsed)):
            row = int(rows[i])
            if self._cut_after(row):
                changed.add(int(self._owner[row]))
            # A lapsed step stays refused; an improved one is decided anew.
            if improved[i]:
                decide_anew.append(row)
        changed |= self._settle(np.array(decide_anew, dtype=np.int64))
        self._note_entropies(sorted(changed))

    def close(self, target: int) -> Boundary:
        """The boundary with the decisions of its steps; its rows are freed."""
        path = self._paths[target]
        decisions = [self._decision(row) for row in path if self._best[row] >= 0]
        taken = tuple(d for d in decisions if d.dependent)
        refused = decisions[-1] if decisions and not decisions[-1].dependent else None
        if len(path) - 1 >= self._max_size:
            refused = None
        members = tuple(d.others[0] for d in taken)
        entropy = float(self.entropies[target])
        self._free(path)
        self._paths[target] = []
        self.entropies[target] = np.inf
        return Boundary(target, members, entropy, taken, refused)

    # The steps of an offer.

    def _register(self, newcomers: Sequence[int]) -> None:
        for node in newcomers:
            if self._first_come:
                self._rank[node] = len(self._offered)
            self._offered.append(node)
        offered = np.array(self._offered, dtype=np.int64)
        self._offered_by_rank = offered[np.argsort(self._rank[offered], kind="stable")]
        self._place[self._offered_by_rank] = np.arange(len(offered))

    def _improve(self, rows: Ints, newcomers: Sequence[int]) -> NDArray[np.bool_]:
        """Let the newcomers compete in every row; say where one of them is now the best."""
        ranked = np.array(sorted(newcomers, key=lambda k: self._rank[k]), dtype=np.int64)
        block = self._gains[rows[:, None], ranked]
        top = block.argmax(axis=1)
        gains = block[np.arange(len(rows)), top]
        candidates = ranked[top]
        incumbent = self._best_gain[rows]
        improved: NDArray[np.bool_] = gains > incumbent
        ties = gains == incumbent
        if ties.any():
            improved |= ties & (self._rank[candidates] < self._rank[self._best[rows]])
        winners = rows[improved]
        self._best[winners] = candidates[improved]
        self._best_gain[winners] = gains[improved]
        return improved

    def _accepted(self, rows: Ints) -> NDArray[np.bool_]:
        return self._rule.accepts(
            self._score[rows], len(self._offered) - self._depth[rows], inclusive=self._inclusive
        )

    def _earliest_by_owner(self, rows: Ints, touched: Ints) -> list[int]:
        """Of these places in ``rows``, the one of the first step of each node."""
        earliest: dict[int, int] = {}
        owners = self._owner[rows[touched]].tolist()
        depths = self._depth[rows].tolist()
        for i, owner in zip(touched.tolist(), owners, strict=True):
            if owner not in earliest or depths[i] < depths[earliest[owner]]:
                earliest[owner] = i
        return list(earliest.values())

    def _cut_after(self, row: int) -> bool:
        """Drop the steps after this one; say whether there were any."""
        path = self._paths[self._owner[row]]
        keep = int(self._depth[row]) + 1
        was_taken = bool(self._taken[row])
        self._taken[row] = False
        self._free(path[keep:])
        del path[keep:]
        return was_taken

    def _settle(self, rows: Ints) -> set[int]:
        """Decide these last steps and go on greedily from those that are taken."""
        changed: set[int] = set()
        rows = rows[self._depth[rows] < self._max_size]
        while len(rows):
            queries = [
                Query(int(self._owner[row]), self._given[row], self._best[row : row + 1])
                for row in rows
            ]
            self._score[rows] = self._rule.scores(self._information.evidence(queries))
            taken = rows[self._accepted(rows)]
            self._taken[taken] = True
            contexts = []
            for row in taken.tolist():
                owner = int(self._owner[row])
                given = tuple(sorted((*self._given[row], int(self._best[row]))))
                contexts.append(Context(owner, given))
                changed.add(owner)
            rows = self._append_rows(contexts)
            self._find_best(rows)
            rows = rows[(self._best[rows] >= 0) & (self._depth[rows] < self._max_size)]
        return changed

    def _find_best(self, rows: Ints) -> None:
        """The best candidate offered so far, for steps that have not seen any."""
        for row in rows.tolist():
            offered = self._offered_by_rank
            given = self._given[row]
            if len(given) == len(offered):
                continue
            gains = self._gains[row, offered]
            gains[self._place[list(given)]] = -np.inf
            top = int(gains.argmax())
            self._best[row] = offered[top]
            self._best_gain[row] = gains[top]

    def _note_entropies(self, targets: Sequence[int]) -> None:
        if len(targets):
            self.entropies[list(targets)] = self._information.entropies(
                [Context(k, self.given(k)) for k in targets]
            )

    def _decision(self, row: int) -> Decision:
        tests = len(self._offered) - int(self._depth[row])
        return Decision(
            target=int(self._owner[row]),
            others=(int(self._best[row]),),
            given=self._given[row],
            gain=float(self._best_gain[row]),
            score=float(self._score[row]),
            bar=float(self._rule.bar(tests)),
            dependent=bool(self._taken[row]),
        )

    # The store of rows.

    def _allocate(self, capacity: int) -> None:
        self._gains = np.empty((capacity, self._information.n_variables))
        self._owner = np.full(capacity, -1, dtype=np.int64)
        self._depth = np.zeros(capacity, dtype=np.int64)
        self._best = np.full(capacity, -1, dtype=np.int64)
        self._best_gain = np.full(capacity, -np.inf)
        self._score = np.zeros(capacity)
        self._taken = np.zeros(capacity, dtype=np.bool_)
        self._given: list[tuple[int, ...]] = [()] * capacity
        self._unused = list(range(capacity - 1, -1, -1))

    def _append_rows(self, contexts: Sequence[Context]) -> Ints:
        """Count these contexts and make each the last step of its target's path."""
        if not contexts:
            return np.zeros(0, dtype=np.int64)
        while len(self._unused) < len(contexts):
            self._grow()
        rows = np.array([self._unused.pop() for _ in contexts], dtype=np.int64)
        self._gains[rows] = self._information.gains(contexts)
        self._best[rows] = -1
        self._best_gain[rows] = -np.inf
        self._score[rows] = 0.0
        self._taken[rows] = False
        for row, (target, given) in zip(rows.tolist(), contexts, strict=True):
            self._owner[row] = target
            self._given[row] = given
            self._depth[row] = len(given)
            self._paths[target].append(row)
        return rows

    def _grow(self) -> None:
        more = len(self._owner)
        self._gains = np.concatenate([self._gains, np.empty_like(self._gains)])
        self._owner = np.concatenate([self._owner, np.full(more, -1, dtype=np.int64)])
        self._depth = np.concatenate([self._depth, np.zeros(more, dtype=np.int64)])
        self._best = np.concatenate([self._best, np.full(more, -1, dtype=np.int64)])
        self._best_gain = np.concatenate([self._best_gain, np.full(more, -np.inf)])
        self._score = np.concatenate([self._score, np.zeros(more)])
        self._taken = np.concatenate([self._taken, np.zeros(more, dtype=np.bool_)])
        self._given += [()] * more
        self._unused = list(range(2 * more - 1, more - 1, -1)) + self._unused

    def _free(self, rows: Sequence[int]) -> None:
        for row in rows:
            self._owner[row] = -1
            self._taken[row] = False
            self._unused.append(row)
