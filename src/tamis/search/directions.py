"""Which DAG of an equivalence class: the one whose noise entropies are spread most evenly.

Equivalent DAGs have the same total of noise entropies e_k = H(X_k | parents of k); they differ in
how it is spread over the nodes. Condition C3 of the paper says that all e_k are equal. Here they
are exchangeable: draws from one normal law of unknown location and scale. With the reference prior
1/sigma on both, the marginal likelihood of a DAG's e_1, ..., e_d is proportional to

    SS^(-(d - 1) / 2),    SS = sum of (e_k - mean)^2, and their variances as estimates,

and the probability of a direction is the weight of the members that have it. C3 is the limit in
which one member has all the weight; where noise entropies differ widely, or units are arbitrary,
all members weigh about the same. docs/directions.md has the derivation.

The power of SS is a mixture over a precision t of exp(-t SS / 2). Given t the chain components of
the class are independent of each other, so that they are listed one by one and joined by an
integral over t. Columns whose entropies cannot be compared form groups with a law of their own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product

import numpy as np

from tamis.information.interface import Floats, Source
from tamis.knowledge import Constraints
from tamis.metrics.equivalence import compelled_edges
from tamis.search.members import Component, Edge, chain_components, topological
from tamis.search.noise import SMALLEST, NoiseEntropies, Parents, log_sum

WIDTHS = 8.0
"""How many widths of its law the integral over the precision goes beyond the largest and the
smallest SS,"""
PER_WIDTH = 3.0
"""and into how many steps a width is cut."""


@dataclass(frozen=True)
class Directions:
    """The likeliest member of an equivalence class, and how likely each arrow is."""

    parents: dict[int, frozenset[int]]
    """Of every node in that member."""
    compelled: set[Edge]
    """The arrows that all members have that knowledge leaves."""
    forced: set[Edge]
    """Those of them that other members of the class have the other way: they follow from knowledge
    and the class together."""
    weighed: Sequence[tuple[Component, Floats]]
    """The chain components, and the share of each of their members in the weight of all."""
    noise: NoiseEntropies
    """What they were weighed by."""

    @cached_property
    def probabilities(self) -> dict[Edge, float]:
        """Of each direction of the edges that are not compelled."""
        told = (one.probabilities(share).items() for one, share in self.weighed)
        return dict(chain.from_iterable(told))

    @cached_property
    def is_of_class(self) -> bool:
        """Whether it does not matter from which member one sets out: all were weighed, and the mean
        of their entropies is one, as it is where all columns are counted in the same rows."""
        means = self.noise.means, self.noise.means_of(self.parents)
        return all(one.is_whole for one, _ in self.weighed) and np.allclose(
            *means, rtol=0, atol=1e-12
        )

    def of(self, parent: int, child: int) -> float:
        """The probability of an arrow of any member."""
        return 1.0 if (parent, child) in self.compelled else self.probabilities[parent, child]


def directions(
    information: Source,
    parents: Parents,
    constraints: Constraints | None = None,
    *,
    same_units: bool = False,
) -> Directions:
    """The members of a DAG's equivalence class, weighed by their noise entropies.

    With ``same_units`` those of numbers are said to be comparable; otherwise they speak as far as
    the table shows that they are.

    Members that ``constraints`` rule out do not count. If they rule out all, as they may for a DAG
    whose own arrows they forbid, none is left out.
    """
    order = topological(parents)
    compelled = compelled_edges(order, parents)
    noise = NoiseEntropies(information, parents)
    components = chain_components(parents, compelled, noise, constraints)
    shares = _shares(noise, parents, components)
    chosen = {k: frozenset(members) for k, members in parents.items()}
    for component, share in zip(components, shares, strict=True):
        chosen |= component.parents(int(np.argmax(share)))
    if not same_units:
        shares = _doubted(noise, parents, components, shares, chosen)
    # Knowledge may leave members that share more than the class does.
    shared = {edge for one in components for edge in one.shared()} if constraints else set()
    weighed = list(zip(components, shares, strict=True))
    return Directions(chosen, compelled | shared, shared - compelled, weighed, noise)


def _shares(
    noise: NoiseEntropies,
    parents: Parents,
    components: Sequence[Component],
    without: int | None = None,
) -> list[Floats]:
    """The share of every member of every component in the weight of all: an integral over t.

    The entropies of the group ``without`` say nothing.
    """
    groups = [g for g in range(len(noise.sizes)) if g != without]
    if not groups or not components:
        return [one.allowed / one.allowed.sum() for one in components]
    inside = {k for one in components for k in one.nodes}
    outside = (one for one in noise.contexts(parents) if one.target not in inside)
    rest = np.add(noise.squares(outside), noise.variances)[groups]
    sizes = [noise.sizes[g] for g in groups]
    listed = [one.squares[one.allowed][:, groups] for one in components]
    grids = [
        _precisions(
            size,
            rest[g] + sum(float(one[:, g].min()) for one in listed),
            rest[g] + sum(float(one[:, g].max()) for one in listed),
        )
        for g, size in enumerate(sizes)
    ]
    t = np.array(list(product(*grids)))
    freedom = (np.array(sizes) - 1) / 2
    weight = np.log(t) @ freedom - t @ rest / 2
    exponents = [-one @ t.T / 2 for one in listed]
    totals = [log_sum(one) for one in exponents]
    weight += np.sum(totals, axis=0)
    at = np.exp(weight - log_sum(weight))
    found = []
    for component, one, total in zip(components, exponents, totals, strict=True):
        share = np.zeros(len(component.allowed))
        share[component.allowed] = np.exp(one - total) @ at
        found.append(share / share.sum())
    return found


def _doubted(
    noise: NoiseEntropies,
    parents: Parents,
    components: Sequence[Component],
    shares: Sequence[Floats],
    chosen: Parents,
) -> list[Floats]:
    """The shares, mixed with those that hold if the units of numbers are arbitrary."""
    if not any(noise.has_units) or not components:
        return list(shares)
    sure = noise.comparable(chosen)
    blind = _shares(noise, parents, components, without=noise.has_units.index(True))
    return [sure * one + (1 - sure) * other for one, other in zip(shares, blind, strict=True)]


def _precisions(size: int, least: float, most: float) -> Floats:
    """The precisions at which members with these sums of squares have their weight, evenly spaced
    in ln t, in which that weight has a width of sqrt(2 / (size - 1))."""
    width = math.sqrt(2 / (size - 1))
    mode = [math.log((size - 1) / max(one, SMALLEST)) for one in (most, least)]
    start, stop = mode[0] - WIDTHS * width, mode[1] + WIDTHS * width
    return np.exp(np.linspace(start, stop, 1 + math.ceil(PER_WIDTH * (stop - start) / width)))
