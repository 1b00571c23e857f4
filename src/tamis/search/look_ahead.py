"""PPS that looks two steps ahead, for all remaining nodes at once.

The parents of a parity say nothing one by one, so PPS stops before the first of them. Where no
single candidate passes, the pair of largest gain is judged, as the best of all pairs there are,
and taken if it passes; then single candidates have their turn again. Beyond the paper.

Like the single steps (``greedy``) the pairs are kept up to date while the ancestral set grows: a
step at which single candidates have failed, a *stuck* one, remembers its best pair, and only the
pairs with newcomers are counted. The outcome is that of ``pps.possible_parents`` with
``look_ahead=2`` from nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tamis.decisions.rule import Rule
from tamis.information.interface import Context, Floats, Group, Information, Ints
from tamis.search.greedy import GreedyBoundaries
from tamis.search.outcome import Decision

MOST_TESTS = 2**20
"""Pairs times contexts that are counted in one batch."""


def n_pair_tests(n_variables: int) -> int:
    """About how many pairs a search counts: each newcomer with all before it, for each node that
    waits, and about as many again where paths change."""
    return n_variables**3 // 2


class PairedBoundaries(GreedyBoundaries):
    """The PPS boundary of every remaining node, with pairs where single candidates fail."""

    def __init__(
        self,
        information: Information,
        rule: Rule,
        *,
        inclusive: bool = False,
        max_boundary: int | None = None,
        first_come: bool = False,
    ) -> None:
        self._pair = np.zeros((0, 2), dtype=np.int64)
        self._pair_gain = np.zeros(0)
        self._pair_score = np.zeros(0)
        self._pair_seen = np.zeros(0, dtype=np.int64)
        self._flags = np.zeros(information.n_variables, dtype=np.bool_)
        super().__init__(
            information,
            rule,
            inclusive=inclusive,
            max_boundary=max_boundary,
            first_come=first_come,
        )

    def offer(self, newcomers: Sequence[int]) -> None:
        """Single candidates first, then pairs, until nothing changes any more."""
        super().offer(newcomers)
        self._make_room()
        waiting = self._stuck(k for k, path in enumerate(self._paths) if path)
        while len(waiting):
            self._consider(waiting)
            changed = self._first_to_change(waiting)
            for row in changed:
                if self._by_pair[row]:
                    self._cut_after(row)
            taking = [row for row in changed if self._passes(row)]
            if taking:
                self._by_pair[taking] = True
                self._taken[taking] = True
                self._settle(self._append_rows([self._extended(row) for row in taking]))
            waiting = self._stuck({int(self._owner[row]) for row in changed})

    def _append_rows(self, contexts: Sequence[Context]) -> Ints:
        rows = super()._append_rows(contexts)
        self._make_room()
        for target, _ in contexts:
            row = self._paths[target][-1]
            self._pair_gain[row] = -np.inf
            self._pair_score[row] = 0.0
            self._pair_seen[row] = 0
            self._by_pair[row] = False
        return rows

    def _make_room(self) -> None:
        """As many entries as the store of rows has."""
        more = len(self._owner) - len(self._pair)
        if more > 0:
            self._pair = np.concatenate([self._pair, np.full((more, 2), -1, dtype=np.int64)])
            self._pair_gain = np.concatenate([self._pair_gain, np.full(more, -np.inf)])
            self._pair_score = np.concatenate([self._pair_score, np.zeros(more)])
            self._pair_seen = np.concatenate([self._pair_seen, np.zeros(more, dtype=np.int64)])

    def _stuck(self, targets: object) -> Ints:
        """The steps of these nodes at which pairs have their turn."""
        rows = [
            row
            for k in targets  # type: ignore[attr-defined]
            for row in self._paths[k]
            if (self._by_pair[row] or not self._taken[row])
            and self._depth[row] + 2 <= min(self._max_size, len(self._offered))
        ]
        return np.array(rows, dtype=np.int64)

    def _first_to_change(self, rows: Ints) -> list[int]:
        """Of each node the first of these steps that is to be decided anew."""
        found: dict[int, int] = {}
        for row in rows.tolist():
            owner = int(self._owner[row])
            if owner not in found and self._decides_anew(row):
                found[owner] = row
        return list(found.values())

    def _decides_anew(self, row: int) -> bool:
        """Whether what the best pair asks for is not what was done: nothing, or another pair."""
        if not self._by_pair[row]:
            return self._passes(row)
        return not self._passes(row) or self._goes_on_with(row) != self._pair_of(row)

    def _goes_on_with(self, row: int) -> tuple[int, ...]:
        """The members that the step after this one has and this one has not."""
        path = self._paths[self._owner[row]]
        after = self._given[path[path.index(row) + 1]]
        return tuple(sorted(set(after) - set(self._given[row])))

    def _pair_of(self, row: int) -> tuple[int, ...]:
        return tuple(sorted(self._pair[row].tolist()))

    def _passes(self, row: int) -> bool:
        if self._pair[row, 0] < 0 or self._pair_gain[row] == -np.inf:
            return False
        bar = self._pair_bar(row)
        score = float(self._pair_score[row])
        return score > bar or (self._inclusive and score == bar)

    def _pair_bar(self, row: int) -> float:
        left = len(self._offered) - int(self._depth[row])
        return float(self._rule.bar(left * (left - 1) // 2))

    def _consider(self, rows: Ints) -> None:
        """Let the pairs with newcomers compete at these steps."""
        n_offered = len(self._offered)
        for seen in np.unique(self._pair_seen[rows]).tolist():
            if seen < n_offered:
                pairs = self._pairs_since(seen)
                step = max(MOST_TESTS // max(len(pairs), 1), 1)
                group = rows[self._pair_seen[rows] == seen]
                for start in range(0, len(group), step):
                    self._compete_pairs(group[start : start + step], pairs)
                self._pair_seen[group] = n_offered

    def _pairs_since(self, seen: int) -> Ints:
        """The pairs with a member offered after the first ``seen``, best rank first."""
        later = np.arange(seen, len(self._offered))
        b = np.repeat(later, later)
        a = np.arange(len(b)) - np.repeat(np.cumsum(later) - later, later)
        members = np.stack([self._offered[a], self._offered[b]], axis=1)
        ranks = np.sort(self._rank[members], axis=1)
        order = np.lexsort((ranks[:, 0], ranks[:, 1]))
        chosen: Ints = np.take_along_axis(members, np.argsort(self._rank[members], axis=1), axis=1)
        return chosen[order]

    def _compete_pairs(self, rows: Ints, pairs: Ints) -> None:
        if not len(pairs):
            return
        contexts = [Context(int(self._owner[row]), self._given[row]) for row in rows]
        gains = self._information.pair_gains(contexts, pairs)
        for line, (_, given) in zip(gains, contexts, strict=True):
            if given:
                self._flags[list(given)] = True
                line[self._flags[pairs].any(axis=1)] = -np.inf
                self._flags[list(given)] = False
        top = gains.argmax(axis=1)
        best = gains[np.arange(len(rows)), top]
        won = [
            i
            for i, row in enumerate(rows.tolist())
            if best[i] > self._pair_gain[row]
            or (best[i] == self._pair_gain[row] and self._precedes(pairs[top[i]], self._pair[row]))
        ]
        self._pair[rows[won]] = pairs[top[won]]
        self._pair_gain[rows[won]] = best[won]
        self._pair_score[rows[won]] = self._scores([contexts[i] for i in won], pairs[top[won]])

    def _scores(self, contexts: Sequence[Context], pairs: Ints) -> Floats:
        """How strongly each context's own pair speaks."""
        groups = [
            Group(target, given, (int(a), int(b)))
            for (target, given), (a, b) in zip(contexts, pairs, strict=True)
        ]
        return self._rule.scores(self._information.joint_evidence(groups))

    def _precedes(self, pair: Ints, other: Ints) -> bool:
        """Which of two equal pairs comes first: the one whose later member does."""
        low, high = sorted(self._rank[pair].tolist())
        other_low, other_high = sorted(self._rank[other].tolist())
        return (high, low) < (other_high, other_low)

    def _extended(self, row: int) -> Context:
        if not self._by_pair[row]:
            return super()._extended(row)
        given = (*self._given[row], *self._pair[row].tolist())
        return Context(int(self._owner[row]), tuple(sorted(given)))

    def _decision(self, row: int) -> Decision:
        if not self._by_pair[row]:
            return super()._decision(row)
        return Decision(
            target=int(self._owner[row]),
            others=tuple(self._pair[row].tolist()),
            given=self._given[row],
            gain=float(self._pair_gain[row]),
            score=float(self._pair_score[row]),
            bar=self._pair_bar(row),
            dependent=True,
        )
