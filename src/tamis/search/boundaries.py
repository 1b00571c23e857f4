"""What the remaining nodes are conditioned on while the ancestral set grows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence

import numpy as np

from tamis.information.interface import Context, Floats, Ints, Query, Source, Tests
from tamis.search.constraints import Constraints
from tamis.search.outcome import Boundary


class Boundaries(ABC):
    """The boundaries of the remaining nodes, and how uncertain they leave them."""

    entropies: Floats
    """H(X_k | m_k) of the remaining nodes; infinite for the admitted ones."""

    def __init__(self, information: Source) -> None:
        self._information = information

    @abstractmethod
    def given(self, target: int) -> tuple[int, ...]:
        """The boundary of a remaining node, sorted."""

    @abstractmethod
    def offer(self, newcomers: Sequence[int]) -> None:
        """These nodes have been admitted: let all remaining ones consider them."""

    @abstractmethod
    def close(self, target: int) -> Boundary:
        """The boundary of a node at its admission; the node remains no longer."""

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

    def given(self, target: int) -> tuple[int, ...]:
        """All admitted nodes."""
        return self._ancestors

    def offer(self, newcomers: Sequence[int]) -> None:
        """Condition on the newcomers too."""
        self._ancestors = tuple(sorted((*self._ancestors, *newcomers)))
        self._refresh()

    def close(self, target: int) -> Boundary:
        """The whole ancestral set, as far as it is allowed, for the backward phase to shrink."""
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
