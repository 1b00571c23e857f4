"""Algorithm 2, possible parent selection (PPS), for many nodes in step.

``paper`` has it as printed. Here the steps that have been made before are followed in a compiled
loop (``paths``), and what must be counted comes in one batch for all. Beyond the paper are
background knowledge and looking ahead: the parents of a parity say nothing one by one, so where no
single candidate passes, the strongest known interactions among the candidates are judged, each set
as one candidate and as the best of all sets of its size.
"""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from functools import cache

import numpy as np

from tamis.constants import constants
from tamis.decisions.rule import Rule
from tamis.information.interface import Context, Group, Interaction, Ints, Query, Source
from tamis.knowledge import Constraints, as_bits
from tamis.search.cmi_rows import CmiRows, Given
from tamis.search.outcome import Boundary, Decision
from tamis.search.paths import (
    CLEARLY_MORE,
    FULL,
    LEFT,
    NEEDS_ROOM,
    NEEDS_ROW,
    NEEDS_STRENGTH,
    NEEDS_WHOLE,
    REFUSED,
    Bytes,
    Flags,
    follow,
)

NOBODY = np.zeros(0, dtype=np.int64)
ROOM = 16
"""Members that a path has room for at first."""

Members = tuple[int, ...]
Asked = tuple[int, int]
"""A target and its candidates, one bit each: thousands of sets of them are kept."""
Judged = tuple[float, float]
"""The cmi and the strength of a test."""


class Paths:
    """Selections in step, as the compiled loop reads them.

    ``candidates`` has a row of flags for each selection, or one for all; ``n_candidates`` counts
    the blocked too.
    """

    def __init__(self, targets: Sequence[int], candidates: Flags, n_candidates: Ints) -> None:
        n, d = len(targets), candidates.shape[1]
        self.targets = targets
        self.candidates = candidates
        self.n_candidates = n_candidates
        self.roots = np.full(n, -1)
        """The rows where selections begin, and how many members are given there."""
        self.n_given = np.zeros(n, dtype=np.int64)
        self.rows = self.roots.copy()
        self.depths = self.n_given.copy()
        self.path = np.empty((n, ROOM), dtype=np.int64)
        """The members in the order in which they were taken, and then who was refused."""
        self.rivals = np.zeros((n, d // 8 + 1), dtype=np.uint8)
        """Who was no candidate, and would have been taken before the next or in place of none: a
        bit each."""
        self.most = np.full(n, d)
        """The number of candidates up to which a selection is the same, if none is a rival."""
        self.refused = np.zeros(n, dtype=np.bool_)
        """Whether a selection ends because the best candidate was refused."""
        self.walked = np.zeros(n, dtype=np.int64)
        """How much of a path was found to be best before the last newcomers."""
        self.answers = np.full(n, np.nan)
        """Strengths that selections wait for."""
        self.sets: dict[int, list[tuple[int, int]]] = {}
        """For selections that have taken several together: from which to which member."""

    def begin_with(self, i: int, members: Members, row: int) -> None:
        """Members that are there from the start."""
        self.make_room(len(members))
        self.path[i, : len(members)] = members
        self.n_given[i] = self.depths[i] = len(members)
        self.walked[i] = 0
        self.roots[i] = self.rows[i] = row

    def restart(self, active: Ints) -> None:
        """Begin again."""
        self.rows[active] = self.roots[active]
        self.depths[active] = self.n_given[active]
        self.most[active] = self.candidates.shape[1]
        self.refused[active] = False
        if self.sets:
            for i in active.tolist():
                for start, _ in self.sets.pop(i, ()):
                    self.walked[i] = min(int(self.walked[i]), start)

    def members(self, i: int) -> Members:
        """Who has been taken, in that order."""
        return tuple(self.path[i, : self.depths[i]].tolist())

    def context(self, i: int) -> Context:
        """Where a selection has come to."""
        return Context(self.targets[i], tuple(sorted(self.members(i))))

    def take(self, i: int, together: Members) -> None:
        """Take several candidates at once."""
        start = int(self.depths[i])
        stop = start + len(together)
        self.make_room(stop)
        self.path[i, start:stop] = together
        self.depths[i] = stop
        self.sets.setdefault(i, []).append((start, stop))

    def make_room(self, size: int) -> None:
        """Let paths have ``size`` members, and one who is refused."""
        if size >= self.path.shape[1]:
            self.path = np.pad(self.path, ((0, 0), (0, size)))


class PPS:
    """Grows boundaries, and keeps what was counted for it.

    ``inclusive`` lets a strength that equals the threshold pass, as the authors' program does.
    Required parents are members from the start, once all of them are candidates; blocked
    candidates are never taken, but count as candidates. ``rows`` are those of others who select by
    the same rule.
    """

    def __init__(
        self,
        information: Source,
        rule: Rule,
        interactions: Sequence[Sequence[Interaction]] | None = None,
        *,
        max_boundary: int | None = None,
        constraints: Constraints | None = None,
        inclusive: bool = False,
        rows: CmiRows | None = None,
    ) -> None:
        d = information.n_variables
        self.information = information
        self.rule = rule
        # With their members as bits too: they are asked about very often.
        self._known_sets = [
            [(as_bits(one), one) for _, one in sets] for sets in interactions or [()] * d
        ]
        self.look_ahead_at(range(d))
        self.limit = d if max_boundary is None else max_boundary
        self.constraints = constraints
        self.blocked = (0,) * d if constraints is None else constraints.blocked
        self.required = {} if constraints is None else constraints.required
        self._inclusive = inclusive
        self.rank = np.arange(d)
        """Of candidates with the same cmi the lowest rank is taken."""
        self.thresholds = np.ascontiguousarray(
            np.broadcast_to(rule.threshold_for(np.arange(d + 1)), d + 1)
        )
        self.rows = CmiRows(information) if rows is None else rows
        self._groups_of: dict[tuple[Given, int, int], list[Group]] = {}
        self.set_threshold = cache(
            lambda n_left, size: float(rule.threshold_for(math.comb(n_left, size)))
        )
        """The strength that the best of all sets of a size has to clear."""
        self.judged: dict[Group, Judged] = {}
        """Single candidates and sets, as far as they have been asked for."""

    def look_ahead_at(self, targets: Container[int]) -> None:
        """Let only these take several candidates together from now on."""
        self.sets_of = [sets if k in targets else [] for k, sets in enumerate(self._known_sets)]
        self._looks_ahead = any(self.sets_of)
        self.mentioned = [as_bits(k for _, one in sets for k in one) for sets in self.sets_of]

    def grow(self, asked: Sequence[Asked]) -> Paths:
        """The boundaries of targets among candidates."""
        paths = self.begin(asked)
        self.go_on(paths, np.arange(len(asked)), NOBODY)
        return paths

    def begin(self, asked: Sequence[Asked]) -> Paths:
        """Selections that have taken nobody yet."""
        d = self.information.n_variables
        allowed = [bits & ~self.blocked[target] for target, bits in asked]
        paths = Paths(
            [target for target, _ in asked],
            np.unpackbits(as_bytes(allowed, d), axis=1, count=d, bitorder="little").view(np.bool_),
            np.array([bits.bit_count() for _, bits in asked]),
        )
        for i, (target, bits) in enumerate(asked):
            members = self.required.get(target, ())
            if members and not as_bits(members) & ~bits:
                paths.begin_with(i, members, self.rows.find(target, members))
            else:
                paths.rows[i] = self.rows.find(target, ())
        return paths

    def go_on(self, paths: Paths, active: Ints, newcomers: Ints, limit: int | None = None) -> None:
        """Let selections take candidates until all have ended, or have ``limit`` of them; of those
        that have begun again only the newcomers are news."""
        most = self.limit if limit is None else min(limit, self.limit)
        while len(active):
            rows = self.rows
            ends = np.empty(len(active), dtype=np.int64)
            follow(
                active, newcomers, paths.rows, paths.depths, paths.n_candidates, paths.candidates,
                most, rows.cmi, rows.whole, self.rank, rows.known, rows.strengths,
                rows.following, self.thresholds, self._inclusive, paths.rivals, paths.most,
                paths.path, paths.walked, paths.answers, ends,
            )  # fmt: skip
            active = self._react(paths, active, ends)

    def _react(self, paths: Paths, active: Ints, ends: Ints) -> Ints:
        """Do what paths have ended for; who goes on."""
        seen = set(ends.tolist())
        own = {one: active if len(seen) == 1 else active[ends == one] for one in seen}
        if NEEDS_STRENGTH in own:
            self._judge_next(paths, own[NEEDS_STRENGTH])
        if NEEDS_ROW in own:
            self.enter(paths, own[NEEDS_ROW].tolist())
        if NEEDS_WHOLE in own:
            short = own[NEEDS_WHOLE]
            self.rows.complete(paths.rows[short].tolist(), [paths.targets[i] for i in short])
        if NEEDS_ROOM in own:
            paths.make_room(2 * paths.path.shape[1])
        if FULL in own:
            paths.most[own[FULL]] = paths.n_candidates[own[FULL]]  # one more may change everything
        going = active if min(seen) > REFUSED else active[ends > REFUSED]
        if REFUSED in own:
            paths.refused[own[REFUSED]] = True
            if self._looks_ahead:
                took = self._take_sets(paths, own[REFUSED].tolist())
                going = np.concatenate([going, took])
        return going

    def enter(self, paths: Paths, active: Sequence[int]) -> None:
        """Count the rows that selections have come to."""
        contexts = [paths.context(i) for i in active]
        self.rows.know(contexts)
        own, left = np.array(active), LEFT - paths.rows[active]
        paths.rows[own] = rows = np.array([self.rows.find(*one) for one in contexts])
        came = left >= 0
        taken = paths.path[own[came], paths.depths[own[came]] - 1]
        self.rows.link(left[came], taken, rows[came])

    def _judge_next(self, paths: Paths, active: Ints) -> None:
        """Answer with the strengths of the candidates that are next."""
        rows = paths.rows[active]
        variables = paths.path[active, paths.depths[active]]
        tests = self.rows.tests(rows, variables)
        if tests is None:
            each = zip(active.tolist(), rows.tolist(), variables.reshape(-1, 1), strict=True)
            tests = self.information.tests(
                [Query(paths.targets[i], self.rows.given[row], one) for i, row, one in each]
            )
        paths.answers[active] = self.rule.strengths(tests)

    def _take_sets(self, paths: Paths, stuck: Sequence[int]) -> Ints:
        """Take several where no single candidate passes; who has."""
        groups = {i: own for i in stuck if (own := self._groups(paths, i))}
        self.judge([one for own in groups.values() for one in own])
        took = []
        for i, own in groups.items():
            together = self.best_set(own, int(paths.n_candidates[i] - paths.depths[i]))
            if together:
                paths.take(i, together)
                paths.rows[i] = -1
                paths.refused[i] = False
                took.append(i)
        return np.array(took, dtype=np.int64)

    def best_set(self, groups: Sequence[Group], n_left: int) -> Members:
        """The set that clears its threshold by most, the first of equals, or none; the threshold
        is that of the best of all sets of its size."""
        best: Members = ()
        margin = 0.0
        for one in groups:
            lead = self.judged[one][1] - self.set_threshold(n_left, len(one.members))
            if lead > margin * CLEARLY_MORE or (self._inclusive and lead == 0 and not best):
                best, margin = one.members, lead
        return best

    def _groups(self, paths: Paths, i: int) -> Sequence[Group]:
        """The sets to try where a selection has come to."""
        target = paths.targets[i]
        if not self.sets_of[target]:
            return ()
        flags = paths.candidates[i if len(paths.candidates) > 1 else 0]
        bits = int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")
        return self.groups(target, self.rows.given[int(paths.rows[i])], bits)

    def groups(self, target: int, given: Given, candidates: int) -> Sequence[Group]:
        """What the strongest interactions among the candidates, one bit each, add to what is
        given."""
        asked = given, target, candidates & self.mentioned[target]
        if asked not in self._groups_of:
            self._groups_of[asked] = self._strongest(target, candidates, given)
        return self._groups_of[asked]

    def _strongest(self, target: int, candidates: int, given: Given) -> list[Group]:
        """The strongest sets of more than one member that there is room for."""
        groups: list[Group] = []
        for bits, members in self.sets_of[target]:
            if bits & ~candidates:
                continue
            fresh = tuple(k for k in members if k not in given) if given else members
            if 2 <= len(fresh) <= self.limit - len(given):
                groups.append(Group(target, given, fresh))
                if len(groups) == constants.sets_judged:
                    break
        return groups

    def boundary(self, paths: Paths, i: int) -> Boundary:
        """What a selection has found, with every decision."""
        members, together = paths.members(i), dict(paths.sets.get(i, ()))
        taken = []
        start = int(paths.n_given[i])
        while start < len(members):
            stop = together.get(start, start + 1)
            taken.append(self._decision(paths, i, members[:start], members[start:stop], True))
            start = stop
        refused = None
        if paths.refused[i]:
            last = int(paths.path[i, len(members)])
            refused = self._decision(paths, i, members, (last,), False)
        return Boundary(
            paths.targets[i], members, self.entropy(paths.context(i)), tuple(taken), refused
        )

    def _decision(
        self, paths: Paths, i: int, before: Members, others: Members, passes: bool
    ) -> Decision:
        context = Context(paths.targets[i], tuple(sorted(before)))
        n_left = int(paths.n_candidates[i]) - len(before)
        group, several = Group(*context, others), len(others) > 1
        judged = None if several else self.rows.judged(*context, others[0])
        if judged is None:
            self.judge([group])
            judged = self.judged[group]
        threshold = (
            self.set_threshold(n_left, len(others)) if several else float(self.thresholds[n_left])
        )
        return Decision(context.target, others, context.given, *judged, threshold, passes)

    def entropy(self, context: Context) -> float:
        """H(target | given)."""
        row = self.rows.find(*context)
        if row < 0:
            return float(self.information.entropies([context])[0])
        return self.rows.entropy(row, context)

    def judge(self, groups: Sequence[Group]) -> None:
        """Test single candidates, or sets of several. Whole rows would tell the same and more of
        single ones, but few of them are read again."""
        fresh = [one for one in dict.fromkeys(groups) if one not in self.judged]
        if not fresh:
            return
        if len(fresh[0].members) > 1:
            tests = self.information.joint_tests(fresh)
        else:
            tests = self.information.tests(
                [Query(k, given, np.array(one, dtype=np.int64)) for k, given, one in fresh]
            )
        strengths = self.rule.strengths(tests).tolist()
        self.judged.update(zip(fresh, zip(tests.cmi.tolist(), strengths, strict=True), strict=True))


def as_bytes(sets: Sequence[int], n_variables: int) -> Bytes:
    """Sets of variables, one bit each, as rows of bytes."""
    size = n_variables // 8 + 1
    joined = b"".join([bits.to_bytes(size, "little") for bits in sets])
    return np.frombuffer(joined, dtype=np.uint8).reshape(len(sets), size)
