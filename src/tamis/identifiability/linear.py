"""Exact H and I of a linear Gaussian network, from the covariance that its regressions imply.

What d-separation decides is decided on the graph, as it is for networks with tables.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from tamis.errors import SettingError
from tamis.information.interface import Context, Floats, Group, Source, Tests
from tamis.information.joint import RESOLUTION
from tamis.information.separation import Dag, members, node_set
from tamis.network import GaussianNetwork


class LinearInformation(Source):
    """Differential entropies ln(2 pi e v) / 2, v the variance that is left; its nodes in the order
    of ``names``."""

    title = "exact information"

    def __init__(self, network: GaussianNetwork, names: Sequence[str]) -> None:
        if any(network.levels):
            k = next(k for k, levels in enumerate(network.levels) if levels)
            raise SettingError(
                "network must have levels in all columns or numbers in all columns, and "
                f"{network.names[k]!r} has levels beside numbers: leave it out, or cut the numbers "
                "into levels with tamis.discretize"
            )
        self.names = tuple(names)
        self.n_rows = math.inf
        place = {name: k for k, name in enumerate(self.names)}
        parents = [tuple(place[p] for p in network.parents_of(name)) for name in self.names]
        self._dag = Dag(parents)
        self._covariance = _covariance(network, parents, [place[name] for name in network.names])

    def conditional_entropy(self, k: int, given: Iterable[int] = ()) -> float:
        """H(k | given)."""
        return math.log(2 * math.pi * math.e * self._left(k, given)) / 2

    def gain(self, k: int, others: Iterable[int], given: Iterable[int] = ()) -> float:
        """I(k ; others | given), the others taken as one variable."""
        given = set(given)
        others = set(others) - given - {k}
        if k in given or self.separated(k, others, given):
            return 0.0
        gain = math.log(self._left(k, given) / self._left(k, given | others)) / 2
        return gain if gain > RESOLUTION else 0.0

    def relevant(self, k: int, given: Iterable[int]) -> tuple[int, ...]:
        """The part of the given that says anything about k: the rest is d-separated by it."""
        z = node_set(given)
        return tuple(members(self._dag.reached(1 << k & ~z, z) & z))

    def separated(self, k: int, others: Iterable[int], given: Iterable[int] = ()) -> bool:
        """Whether the given d-separate k from all of the others that are not given."""
        z = node_set(given)
        return not self._dag.reached(1 << k & ~z, z) & node_set(others) & ~(1 << k) & ~z

    def forecast(self, question: Context) -> int:
        """The cells of the largest table that an answer takes: there is none."""
        return 0

    def entropies(self, contexts: Sequence[Context]) -> Floats:
        """H(target | given), one for each context."""
        return np.array([self.conditional_entropy(*context) for context in contexts], dtype=float)

    def cmi(self, contexts: Sequence[Context]) -> Floats:
        """I(target ; l | given) for every variable l: a row of d values for each context."""
        nodes = range(self.n_variables)
        rows = [[self.gain(target, [k], given) for k in nodes] for target, given in contexts]
        return np.array(rows, dtype=float).reshape(len(contexts), len(nodes))

    def joint_tests(self, groups: Sequence[Group]) -> Tests:
        """The exact cmi of each group; p-values are of samples."""
        gains = [self.gain(target, group, given) for target, given, group in groups]
        return Tests(np.array(gains, dtype=np.float64))

    def _left(self, k: int, given: Iterable[int]) -> float:
        """The variance of k that linear regression on the given leaves."""
        S = sorted(set(given))
        between = self._covariance[S, k]
        among = self._covariance[np.ix_(S, S)]
        return float(self._covariance[k, k] - between @ np.linalg.solve(among, between))


def _covariance(
    network: GaussianNetwork, parents: Sequence[tuple[int, ...]], place: Sequence[int]
) -> Floats:
    """(1 - B)^-1 D (1 - B)^-T of the slopes B and the variances D of the noise."""
    d = len(place)
    slopes, noise = np.zeros((d, d)), np.zeros(d)
    for k, law in zip(place, network.laws, strict=True):
        one = law.regressions[0]  # type: ignore[attr-defined]  # numbers have no other law
        slopes[k, list(parents[k])] = one.slopes
        noise[k] = one.scale**2
        if not noise[k] > 0:
            raise SettingError(
                f"{law.own.name!r} has noise of variance 0, so its differential entropy is not "  # type: ignore[attr-defined]
                "finite: leave out the column, which is a function of its parents"
            )
    mixing = np.linalg.inv(np.eye(d) - slopes)
    return np.asarray(mixing * noise @ mixing.T)
