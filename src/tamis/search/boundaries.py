"""What the remaining nodes are conditioned on while the ancestral set grows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence

import numpy as np

from tamis.information.interface import Context, Floats, Ints, Query, Source, Tests
from tamis.search.cmi_rows import Given, ListedRow
from tamis.search.constraints import Constraints, as_bits
from tamis.search.outcome import Boundary
from tamis.search.selection import Selector


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


class AncestralBoundaries(Boundaries):
    """No boundary search: every node is conditioned on the whole ancestral set (Alg. 1)."""

    def __init__(self, information: Source, constraints: Constraints | None = None) -> None:
        super().__init__(information)
        self._blocked = () if constraints is None else constraints.blocked
        self._ancestors: tuple[int, ...] = ()
        self._remaining = set(range(information.n_variables))
        self.entropies = np.full(information.n_variables, np.inf)
        self._refresh()

    def given(self, target: int) -> Given:
        """All admitted nodes."""
        return self._ancestors

    def offer(self, newcomers: Sequence[int]) -> None:
        """Condition on the newcomers too."""
        self._ancestors = tuple(sorted((*self._ancestors, *newcomers)))
        self._refresh()

    def close(self, targets: Sequence[int]) -> list[Boundary]:
        """The whole ancestral set, as far as it is allowed, for the backward phase to shrink."""
        return [self._close(k) for k in targets]

    def _close(self, target: int) -> Boundary:
        entropy = float(self.entropies[target])
        blocked = self._blocked[target] if self._blocked else 0
        members = tuple(k for k in self._ancestors if not blocked >> k & 1)
        self._remaining.discard(target)
        self.entropies[target] = np.inf
        return Boundary(target, members, entropy)

    def _refresh(self) -> None:
        nodes = sorted(self._remaining)
        self.entropies[nodes] = self._information.entropies(
            [Context(k, self._ancestors) for k in nodes]
        )


class GrownBoundaries(Boundaries):
    """The PPS boundary of every remaining node.

    The paper runs PPS from nothing for every node after every layer. Here only those nodes select
    anew whose selection the newcomers concern (``Grown.rivals`` and ``Grown.most``), from what has
    been counted. With ``first_come`` ties between candidates go by admission.
    """

    def __init__(
        self, information: Source, selector: Selector, *, first_come: bool = False
    ) -> None:
        super().__init__(information)
        d = information.n_variables
        self._selector = selector
        if first_come:
            selector.rank = [d] * d
        self._offered: list[int] = []
        self._candidates = 0
        self._given: list[Given] = [()] * d
        self._remains = np.ones(d, dtype=np.bool_)
        self._most = np.zeros(d, dtype=np.int64)
        self._rivals = np.zeros((d, d // 8 + 1), dtype=np.uint8)  # a bit for each node
        self._tests: tuple[Floats, Floats] | None = None
        self._unread = set(range(d))
        self.entropies = np.zeros(d)
        selector.rows.know([Context(k, ()) for k in range(d)])
        for k in range(d):
            self._condition(k, ())

    def given(self, target: int) -> Given:
        """What PPS has found so far."""
        return self._given[target]

    def offer(self, newcomers: Sequence[int]) -> None:
        """Select anew where the newcomers may change something."""
        if self._selector.rank is not None:
            for i, k in enumerate(newcomers, len(self._offered)):
                self._selector.rank[k] = i
        self._offered += newcomers
        arrived = as_bits(newcomers)
        self._candidates |= arrived
        bits = self._packed(arrived)
        columns = np.flatnonzero(bits)
        concerned = (self._rivals[:, columns] & bits[columns]).any(axis=1)
        concerned |= self._most < len(self._offered)
        self._select(np.flatnonzero(concerned & self._remains).tolist())

    def close(self, targets: Sequence[int]) -> list[Boundary]:
        """The boundaries with the decisions of their steps."""
        grown = self._selector.grow([(k, self._candidates) for k in targets])
        found = [self._selector.told(k, one) for k, one in zip(targets, grown, strict=True)]
        for k in targets:
            self._selector.rows.forget(k, ())
            self._remains[k] = False
            self.entropies[k] = np.inf
        return found

    def tests(self, targets: Sequence[int], candidates: Sequence[Ints]) -> Tests:
        """Read from the rows of gains, if they come with the tests of all candidates."""
        tests = self._whole_rows(targets)
        if tests is None:
            return super().tests(targets, candidates)
        gains, stats = tests
        rows = np.repeat(np.array(targets, dtype=np.int64), [len(c) for c in candidates])
        others = np.concatenate(candidates)
        return self._information.as_tests(gains[rows, others], stats[rows, others])

    def _whole_rows(self, targets: Sequence[int]) -> tuple[Floats, Floats] | None:
        """The gains and the tests of all variables given the boundary of each target."""
        for k in self._unread.intersection(targets):
            row = self._selector.rows.of(k)[self._given[k]]
            if not isinstance(row, ListedRow) or row.tests is None or row.tests.stats is None:
                return None
            if self._tests is None:
                d = len(self._given)
                self._tests = np.zeros((d, d)), np.zeros((d, d, row.tests.stats.shape[-1]))
            self._tests[0][k] = row.tests.cmi
            self._tests[1][k] = row.tests.stats
            self._unread.discard(k)
        return self._tests

    def _select(self, targets: Sequence[int]) -> None:
        grown = self._selector.grow([(k, self._candidates) for k in targets])
        contexts = [
            Context(k, tuple(sorted(one.members))) for k, one in zip(targets, grown, strict=True)
        ]
        self._selector.rows.know(contexts)
        for (k, given), one in zip(contexts, grown, strict=True):
            self._most[k] = len(self._offered) if one.by_set else one.most
            self._rivals[k] = self._packed(self._selector.concerns(k, one))
            if given != self._given[k]:
                self._condition(k, given)
                self._selector.rows.forget(k, [*(step.given for step in one.taken), given])

    def _condition(self, target: int, given: Given) -> None:
        self._given[target] = given
        self._unread.add(target)
        self.entropies[target] = self._selector.rows.of(target)[given].entropy

    def _packed(self, bits: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
        size = self._rivals.shape[1]
        return np.frombuffer(bits.to_bytes(size, "little"), dtype=np.uint8)
