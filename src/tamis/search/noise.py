"""Noise entropies e_k = H(X_k | parents of k): how evenly they spread, and whether they compare.

Entropies of measurements carry the logarithm of a unit. Whether the units of a table are such that
they can be compared is a second question, with an answer of its own: either they are arbitrary,
and the entropies scatter widely and say nothing, or they are not, and scatter by less.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property

import numpy as np

from tamis.constants import constants
from tamis.information.interface import NUMBERS, Context, Floats, Source

Parents = Mapping[int, Collection[int]]

SMALLEST = 1e-18
"""What stands for an SS of 0, which only a known network has."""


class NoiseEntropies:
    """The noise entropies of nodes, as squares about the mean of their group.

    The mean is that of one DAG; in a class without groups all members have it, and with groups it
    differs little.
    """

    def __init__(self, information: Source, parents: Parents) -> None:
        self._information = information
        self._known: dict[Context, float] = {}
        kinds = information.entropy_kinds()
        varying = [k for k in parents if information.varies(k)]
        counted = Counter(kinds[k] for k in varying)
        # One column alone has nobody to be compared with.
        named = sorted(kind for kind, n in counted.items() if kind is not None and n > 1)
        place: dict[str | None, int] = {kind: i for i, kind in enumerate(named)}
        self.group_of: dict[int, int | None] = dict.fromkeys(parents)
        self.group_of.update((k, place.get(kinds[k])) for k in varying)
        self.has_units = [kind == NUMBERS for kind in named]
        self.sizes = [counted[kind] for kind in named]
        per_node = information.entropy_variance / information.n_rows
        self.variances = [size * per_node for size in self.sizes]
        self._parents = parents

    @cached_property
    def means(self) -> list[float]:
        """The mean entropy of each group in that DAG."""
        return self.means_of(self._parents)

    def means_of(self, parents: Parents) -> list[float]:
        """The mean entropy of each group in a DAG."""
        contexts = self.contexts(parents)
        self.know(contexts)
        return [
            math.fsum(self._known[one] for one in contexts if self.group_of[one.target] == group)
            / size
            for group, size in enumerate(self.sizes)
        ]

    def contexts(self, parents: Parents) -> list[Context]:
        """Those of the nodes whose entropies are compared."""
        return [
            Context(k, tuple(sorted(members)))
            for k, members in parents.items()
            if self.group_of[k] is not None
        ]

    def know(self, contexts: Iterable[Context]) -> None:
        """Ask for what is not known yet, in one batch."""
        fresh = [
            one
            for one in dict.fromkeys(contexts)
            if one not in self._known and self.group_of[one.target] is not None
        ]
        if fresh:
            self._known.update(zip(fresh, self._information.entropies(fresh).tolist(), strict=True))

    def squares(self, contexts: Iterable[Context]) -> list[float]:
        """The sum of squares of each group over these nodes."""
        found = [0.0] * len(self.sizes)
        for one in contexts:
            group = self.group_of[one.target]
            if group is not None:
                found[group] += (self._known[one] - self.means[group]) ** 2
        return found

    def spreads(self, parents: Parents) -> Floats:
        """The SS of each group in a DAG, with the variances of the estimates."""
        contexts = self.contexts(parents)
        self.know(contexts)
        return np.add(self.squares(contexts), self.variances)

    def comparable(self, parents: Parents) -> float:
        """How likely it is that the units of numbers can be compared, if this is the DAG."""
        group = self.has_units.index(True)
        return comparable(float(self.spreads(parents)[group]), self.sizes[group])


def evenness(information: Source, parents: Parents) -> float:
    """ln of the weight of one DAG: how evenly its noise entropies are spread.

    It compares DAGs of different classes too, where these fit alike.
    """
    noise = NoiseEntropies(information, parents)
    return -math.fsum(
        (size - 1) / 2 * math.log(max(spread, SMALLEST))
        for size, spread in zip(noise.sizes, noise.spreads(parents), strict=True)
    )


def most_even(information: Source) -> float:
    """The largest evenness that a DAG may have: where nothing but the variances of the estimates
    sets its noise entropies apart."""
    noise = NoiseEntropies(information, {k: frozenset() for k in range(information.n_variables)})
    return -math.fsum(
        (size - 1) / 2 * math.log(max(spread, SMALLEST))
        for size, spread in zip(noise.sizes, noise.variances, strict=True)
    )


def unit_probability(information: Source, parents: Parents) -> float:
    """How likely it is that the units of a table's numbers can be compared, if this is its DAG;
    1 where nothing has a unit."""
    noise = NoiseEntropies(information, parents)
    return noise.comparable(parents) if any(noise.has_units) else 1.0


def log_sum(values: Floats) -> Floats:
    """ln of the sum of exp of finite values, along the first axis."""
    most = values.max(axis=0)
    is_most = values == most
    n_most = is_most.sum(axis=0)
    # Apart from the largest, so that what the others add is not lost beside them.
    rest = np.where(is_most, 0.0, np.exp(values - most)).sum(axis=0)
    found: Floats = np.log1p(rest / n_most) + np.log(n_most) + most
    return found


def comparable(spread: float, size: int) -> float:
    """The probability that units can be compared, if the noise entropies of ``size`` columns have
    this sum of squares about their mean; before they were seen it was one half."""
    finest, widest = constants.finest_spread, constants.arbitrary_spread
    scales = np.geomspace(finest, widest, 1 + round(math.log(widest / finest) / 0.05))
    fits = -(size - 1) * np.log(scales) - spread / (2 * scales**2)
    return float(1 / (1 + np.exp(fits[-1] - log_sum(fits) + math.log(len(fits)))))
