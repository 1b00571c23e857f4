"""PPS for all remaining nodes at once, kept up to date while the ancestral set grows.

The paper runs PPS from nothing for every node after every layer. Here each node keeps the
path its greedy search took, one row of gains for each step, and is only *offered* the newly
admitted nodes: a step changes when a newcomer beats the candidate taken there, or when the
bar, which rises with the number of candidates, is no longer cleared; from the first such
step on, and only there, the search is repeated. The outcome is that of PPS from nothing
(property-tested against ``pps.possible_parents``).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tamis.decisions.rule import Rule
from tamis.information.interface import Context, Ints, Source, Tests
from tamis.search.boundaries import Boundaries
from tamis.search.constraints import Constraints
from tamis.search.outcome import Boundary, Decision
from tamis.search.parts import in_parts
from tamis.search.scan import decide, file_rows, first_changes


class GreedyBoundaries(Boundaries):
    """The PPS boundary of every remaining node.

    A *row* is one step of one node's search: the gains of all variables given the members
    taken so far, the best candidate offered, its score, and whether it was taken. A path ends
    with a row whose best candidate was refused. ``first_come`` breaks ties between candidates
    by admission rather than by position.

    With ``constraints`` a blocked candidate never competes, though it counts as one of those that
    the best was chosen from; and once all required parents of a node are there, its path begins
    with them.
    """

    def __init__(
        self,
        information: Source,
        rule: Rule,
        *,
        inclusive: bool = False,
        max_boundary: int | None = None,
        first_come: bool = False,
        constraints: Constraints | None = None,
    ) -> None:
        super().__init__(information)
        d = information.n_variables
        self._blocked = None if constraints is None else constraints.blocked_matrix()
        self._expected = {} if constraints is None else dict(constraints.required)
        self._rule = rule
        self._inclusive = inclusive
        self._max_size = d if max_boundary is None else min(max_boundary, d)
        self._first_come = first_come
        self._rank = np.arange(d, dtype=np.int64)
        self._offered = np.zeros(0, dtype=np.int64)
        # Kept from the hardest choice down, so that the bars of all depths are a slice.
        self._bar_table = np.ascontiguousarray(
            np.broadcast_to(rule.bar(np.arange(d, -1, -1)), d + 1)
        )
        self._bars = self._bar_table[d:]
        self._paths: list[list[int]] = [[] for _ in range(d)]
        self.entropies = np.zeros(d)
        self._allocate(2 * d)
        self._append_rows([Context(k, ()) for k in range(d)])

    def given(self, target: int) -> tuple[int, ...]:
        """What the node's last step conditions on."""
        return self._given[self._paths[target][-1]]

    def tests(self, targets: Sequence[int], candidates: Sequence[Ints]) -> Tests:
        """Read from the last rows, if they hold the tests of all candidates."""
        if self._stats is None or self._blocked is not None:
            return super().tests(targets, candidates)
        last = np.array([self._paths[k][-1] for k in targets], dtype=np.int64)
        rows = np.repeat(last, [len(c) for c in candidates])
        others = np.concatenate(candidates)
        return self._information.as_tests(self._gains[rows, others], self._stats[rows, others])

    def offer(self, newcomers: Sequence[int]) -> None:
        """Repeat each node's search from the first step that the newcomers change."""
        arrived = np.array(newcomers, dtype=np.int64)
        if self._first_come:
            self._rank[arrived] = len(self._offered) + np.arange(len(arrived))
        self._offered = np.concatenate([self._offered, arrived])
        self._bars = self._bar_table[-1 - len(self._offered) :]
        to_take_back, to_decide = first_changes(
            arrived, self._rank, self._gains, self._best, self._best_gain, self._owner,
            self._depth, self._taken, self._by_set, self._score, self._bars, self._inclusive,
            self._max_size,
        )  # fmt: skip
        for row in to_take_back.tolist():
            self._cut_after(row)
        self._settle(to_decide)
        self._begin_with_required()

    def close(self, target: int) -> Boundary:
        """The boundary with the decisions of its steps; its rows are freed."""
        path = self._paths[target]
        taken = tuple(self._decision(row) for row in path[:-1])
        last = path[-1]
        members = self._given[path[0]] + tuple(k for one in taken for k in one.others)
        judged = self._best[last] >= 0 and len(members) < self._max_size
        boundary = Boundary(
            target,
            members,
            float(self.entropies[target]),
            taken,
            self._decision(last) if judged else None,
        )
        self._free(path)
        self._paths[target] = []
        self.entropies[target] = np.inf
        return boundary

    def _begin_with_required(self) -> None:
        """Start anew where the last required parent has arrived."""
        if not self._expected:
            return
        offered = set(self._offered.tolist())
        complete = [k for k, parents in self._expected.items() if offered.issuperset(parents)]
        contexts = [Context(k, self._expected.pop(k)) for k in complete]
        for k in complete:
            self._free(self._paths[k])
            self._paths[k] = []
        if contexts:
            self._settle(self._append_rows(contexts))

    def _settle(self, rows: Ints) -> None:
        """Decide these last steps and go on greedily from those that are taken."""
        while len(rows):
            scores = self._rule.scores(self._evidence_of_best(rows))
            taken = decide(
                rows, scores, self._bars, self._inclusive, self._depth, self._score, self._taken
            )
            if not len(taken):
                break
            rows = self._append_rows([self._extended(row) for row in taken.tolist()])

    def _evidence_of_best(self, rows: Ints) -> Tests:
        if self._stats is not None:
            stats = self._stats[rows, self._best[rows]]
            return self._information.as_tests(self._best_gain[rows], stats)
        targets = self._owner[rows].tolist()
        return super().tests(targets, [self._best[row : row + 1] for row in rows])

    def _extended(self, row: int) -> Context:
        """The context of the step after this one."""
        given = (*self._given[row], int(self._best[row]))
        return Context(int(self._owner[row]), tuple(sorted(given)))

    def _cut_after(self, row: int) -> None:
        """Take this step back, and drop the steps after it."""
        path = self._paths[self._owner[row]]
        keep = path.index(row) + 1
        self._taken[row] = False
        self._by_set[row] = False
        self._free(path[keep:])
        del path[keep:]
        self.entropies[self._owner[row]] = self._entropy[row]

    def _decision(self, row: int) -> Decision:
        return Decision(
            target=int(self._owner[row]),
            others=(int(self._best[row]),),
            given=self._given[row],
            gain=float(self._best_gain[row]),
            score=float(self._score[row]),
            bar=float(self._bars[self._depth[row]]),
            dependent=bool(self._taken[row]),
        )

    # The store of rows.

    def _allocate(self, capacity: int) -> None:
        d = self._information.n_variables
        self._entropy = np.zeros(capacity)
        self._gains = np.empty((capacity, d))
        self._stats: np.ndarray[tuple[int, ...], np.dtype[np.float64]] | None = None
        self._owner = np.full(capacity, -1, dtype=np.int64)
        self._depth = np.zeros(capacity, dtype=np.int64)
        self._best = np.full(capacity, -1, dtype=np.int64)
        self._best_gain = np.full(capacity, -np.inf)
        self._score = np.zeros(capacity)
        self._taken = np.zeros(capacity, dtype=np.bool_)
        self._by_set = np.zeros(capacity, dtype=np.bool_)  # never, unless sets are tried
        self._given: list[tuple[int, ...]] = [()] * capacity
        self._unused = list(range(capacity - 1, -1, -1))

    def _append_rows(self, contexts: Sequence[Context]) -> Ints:
        """Count these contexts, make each the last step of its target's path, and let all
        nodes offered so far compete in it; return the steps that are to be decided."""
        parts = in_parts(contexts, self._information.n_variables)
        return np.concatenate([self._append_some(part) for part in parts])

    def _append_some(self, contexts: Sequence[Context]) -> Ints:
        while len(self._unused) < len(contexts):
            self._grow()
        rows = np.array([self._unused.pop() for _ in contexts], dtype=np.int64)
        counted = self._information.profiles(contexts)
        if counted.stats is not None:
            if self._stats is None:
                self._stats = np.empty((*self._gains.shape, counted.stats.shape[-1]))
            self._stats[rows] = counted.stats
        members: list[int] = []
        starts = [0]
        for row, (target, given) in zip(rows.tolist(), contexts, strict=True):
            self._given[row] = given
            self._paths[target].append(row)
            members += given
            starts.append(len(members))
        targets = np.array([target for target, _ in contexts])
        gains = counted.cmi
        if self._blocked is not None:
            gains = np.where(self._blocked[targets], -np.inf, gains)
        return file_rows(
            rows, targets,
            np.array(members, dtype=np.int64), np.array(starts), counted.entropies, gains,
            self._offered, self._rank, self._entropy, self._gains, self._owner, self._depth,
            self._best, self._best_gain, self._score, self._taken, self.entropies,
            self._max_size,
        )  # fmt: skip

    def _grow(self) -> None:
        """Add a quarter to the store, where it is: a copy of the gains may not fit beside them."""
        size = len(self._owner)
        more = max(size // 4, 1)
        for name, blank in _FIELDS.items():
            field = getattr(self, name)
            if field is not None:
                field.resize((size + more, *field.shape[1:]), refcheck=False)
                field[size:] = blank
        self._given += [()] * more
        self._unused = list(range(size + more - 1, size - 1, -1)) + self._unused

    def _free(self, rows: Sequence[int]) -> None:
        for row in rows:
            self._owner[row] = -1
            self._taken[row] = False
            self._unused.append(row)


_FIELDS = {
    "_entropy": 0.0,
    "_gains": 0.0,
    "_stats": 0.0,
    "_owner": -1,
    "_depth": 0,
    "_best": -1,
    "_best_gain": -np.inf,
    "_score": 0.0,
    "_taken": False,
    "_by_set": False,
}
"""The arrays of the store and what an unused row holds."""
