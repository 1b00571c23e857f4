"""What the remaining nodes are conditioned on while the ancestral set grows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence

import numpy as np

from tamis.information.interface import Context, Floats, Ints, Query, Source, Tests
from tamis.knowledge import Constraints
from tamis.search.cmi_rows import Given
from tamis.search.outcome import Boundary
from tamis.search.paths import concerned
from tamis.search.pps import PPS, Paths, as_bytes

WIDE = 512
"""With more columns there is no room for rows that are not needed."""


class Boundaries(ABC):
    """The boundaries of the remaining nodes, and how uncertain they leave them."""

    entropies: Floats
    """H(X_k | m_k) of the remaining nodes; infinite for the admitted ones."""

    def __init__(self, information: Source) -> None:
        self._information = information

    @abstractmethod
    def given(self, target: int) -> Given:
        """The boundary of a remaining node, sorted."""

    @abstractmethod
    def offer(self, newcomers: Sequence[int]) -> None:
        """These nodes have been admitted: let all remaining ones consider them."""

    @abstractmethod
    def close(self, targets: Sequence[int]) -> list[Boundary]:
        """The boundaries of nodes at their admission; they remain no longer."""

    def tests(self, targets: Sequence[int], candidates: Sequence[Ints]) -> Tests:
        """That each target depends on each of its candidates, given its boundary."""
        return self._information.tests(
            [Query(k, self.given(k), c) for k, c in zip(targets, candidates, strict=True)]
        )

    def in_order(self, remaining: Collection[int]) -> list[int]:
        """The permutation tau: least uncertain first, ties to the first of ``remaining``."""
        nodes = np.fromiter(remaining, dtype=np.int64, count=len(remaining))
        order: list[int] = nodes[np.argsort(self.entropies[nodes], kind="stable")].tolist()
        return order


BoundaryOf = Callable[[int, Given], Given]
"""The boundary of a node in an ancestral set."""


def whole_ancestral_set(target: int, ancestors: Given) -> Given:
    """No boundary search: a node is conditioned on all admitted ones (Algorithm 1)."""
    return ancestors


class SearchedBoundaries(Boundaries):
    """What a function finds, from nothing for every remaining node after every layer.

    Who is blocked may be conditioned on, but is no member.
    """

    def __init__(
        self, information: Source, search: BoundaryOf, constraints: Constraints | None = None
    ) -> None:
        super().__init__(information)
        d = information.n_variables
        self._search = search
        self._blocked = (0,) * d if constraints is None else constraints.blocked
        self._ancestors: Given = ()
        self._found: dict[int, Given] = dict.fromkeys(range(d), ())
        self.entropies = np.full(d, np.inf)
        self._condition()

    def given(self, target: int) -> Given:
        """What was found last, sorted."""
        return tuple(sorted(self._found[target]))

    def offer(self, newcomers: Sequence[int]) -> None:
        """Search anew, with the newcomers among the candidates."""
        self._ancestors = tuple(sorted((*self._ancestors, *newcomers)))
        for k in self._found:
            self._found[k] = self._search(k, self._ancestors)
        self._condition()

    def close(self, targets: Sequence[int]) -> list[Boundary]:
        """The members as they were found; a function gives no reasons."""
        found = []
        for k in targets:
            members = tuple(m for m in self._found.pop(k) if not self._blocked[k] >> m & 1)
            found.append(Boundary(k, members, float(self.entropies[k])))
            self.entropies[k] = np.inf
        return found

    def _condition(self) -> None:
        nodes = list(self._found)
        if nodes:
            contexts = [Context(k, self.given(k)) for k in nodes]
            self.entropies[nodes] = self._information.entropies(contexts)


class GrownBoundaries(Boundaries):
    """The PPS boundary of every remaining node.

    The paper runs PPS from nothing for every node after every layer. Here only those nodes select
    anew whose selection the newcomers concern (``Paths.rivals`` and ``Paths.most``), along what
    has been counted. With ``first_come`` ties between candidates go by admission.
    """

    def __init__(self, information: Source, pps: PPS, *, first_come: bool = False) -> None:
        super().__init__(information)
        d = information.n_variables
        self._pps = pps
        self._first_come = first_come
        self._n_offered = 0
        self._waiting = dict(pps.required)
        blocks = any(pps.blocked)
        self._allowed = ~as_bytes(pps.blocked, d) if blocks else None
        self._mentioned = as_bytes(pps.mentioned, d) if any(pps.mentioned) else None
        candidates = np.zeros((d if blocks else 1, d), dtype=np.bool_)
        self._paths = Paths(range(d), candidates, np.zeros(d, dtype=np.int64))
        self._remains = np.ones(d, dtype=np.bool_)
        pps.rows.know([Context(k, ()) for k in range(d)])
        for k in range(d):
            self._paths.roots[k] = pps.rows.find(k, ())
        self._paths.rows[:] = self._paths.roots
        self._paths.most[:] = 0
        self.entropies = pps.rows.entropies(self._paths.rows, range(d))

    def given(self, target: int) -> Given:
        """What PPS has found so far."""
        return self._pps.rows.given[int(self._paths.rows[target])]

    def offer(self, newcomers: Sequence[int]) -> None:
        """Select anew where the newcomers may change something."""
        paths, arrived = self._paths, np.array(newcomers, dtype=np.int64)
        if self._first_come:
            self._pps.rank[arrived] = self._n_offered + np.arange(len(arrived))
        self._n_offered += len(arrived)
        paths.n_candidates.fill(self._n_offered)
        if self._allowed is None:
            paths.candidates[:, arrived] = True
        else:
            bits = (1 << (arrived & 7)).astype(np.uint8)
            paths.candidates[:, arrived] = self._allowed[:, arrived >> 3] & bits
        if self._waiting:
            self._require()
        active = np.empty(len(self._remains), dtype=np.int64)
        n_active = concerned(
            arrived, self._n_offered, paths.rivals, paths.most, self._remains, active
        )
        if n_active:
            self._select(active[:n_active], arrived)

    def close(self, targets: Sequence[int]) -> list[Boundary]:
        """The boundaries with the decisions of their steps; their rows are dropped.

        Who was refused last is the best of all candidates: any newcomer that is better was a rival.
        """
        found = [self._pps.boundary(self._paths, k) for k in targets]
        for k in targets:
            self._pps.rows.forget(k)
        self._remains[list(targets)] = False
        self.entropies[list(targets)] = np.inf
        return found

    def tests(self, targets: Sequence[int], candidates: Sequence[Ints]) -> Tests:
        """Read from the rows of cmi, if they come with the tests of all candidates."""
        rows = np.repeat(self._paths.rows[list(targets)], [len(c) for c in candidates])
        known = self._pps.rows.tests(rows, np.concatenate(candidates))
        return super().tests(targets, candidates) if known is None else known

    def _require(self) -> None:
        """Let selections begin with required parents once they are all there."""
        here = set(np.flatnonzero(self._paths.candidates.any(axis=0)).tolist())
        complete = [k for k, parents in self._waiting.items() if here.issuperset(parents)]
        contexts = [Context(k, self._waiting.pop(k)) for k in complete]
        self._pps.rows.know(contexts)
        for k, parents in contexts:
            self._paths.begin_with(k, parents, self._pps.rows.find(k, parents))
        self._paths.most[complete] = 0

    def _select(self, active: Ints, newcomers: Ints) -> None:
        paths, pps = self._paths, self._pps
        paths.restart(active)
        pps.go_on(paths, active, newcomers)
        full = active[~paths.refused[active]].tolist()
        if full:
            pps.enter(paths, full)  # nobody is left: on to the rows of their last members
        self.entropies[active] = pps.rows.entropies(paths.rows[active], active.tolist())
        if self._mentioned is not None:
            paths.rivals[active] |= self._mentioned[active]
        if self._allowed is not None:
            paths.rivals[active] &= self._allowed[active]
        if paths.sets:
            paths.most[[k for k in active.tolist() if k in paths.sets]] = 0
        if len(self._remains) > WIDE:
            self._drop(active)

    def _drop(self, active: Ints) -> None:
        """Of wide tables keep only the rows that the boundaries have come by."""
        for k in active.tolist():
            first, last = int(self._paths.n_given[k]), int(self._paths.depths[k])
            if self._pps.rows.count(k) > last - first + 1:
                members = self._paths.members(k)
                path = {tuple(sorted(members[:n])) for n in range(first, last + 1)}
                self._pps.rows.forget(k, path)
