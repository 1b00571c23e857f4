"""The sieve: masking by every less uncertain node, admitted or not.

Plain masking tests a node only with the nodes that entered the layer. A deep descendant whose
dependence on those is too weak to see then enters as well, and its true parents become its
children. Here a node enters only if it is independent, given its boundary, of *every*
remaining node of lower conditional entropy, so that the nearest relative, where dependence is
strongest, speaks too. Beyond the paper; what it costs is that a node with a less uncertain
descendant waits for a later layer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tamis.decisions.rule import Rule
from tamis.search.boundaries import Boundaries
from tamis.search.masking import LayerStep
from tamis.search.outcome import Decision
from tamis.search.strongest import strongest

AT_ONCE = 2**20
"""Tests that are counted at once: of wide tables there is no room for all."""


def find_layer(
    boundaries: Boundaries,
    order: Sequence[int],
    rule: Rule,
    *,
    inclusive: bool = True,
) -> LayerStep:
    """One layer from ``order``, the permutation tau of the remaining nodes."""
    layer = [order[0]]
    masked: dict[int, Decision] = {}
    closest: dict[int, Decision] = {}
    for k, found in _strongest(boundaries, order, rule, inclusive):
        if found.dependent:
            masked[k] = found
        else:
            layer.append(k)
            closest[k] = found
    return layer, masked, closest


def _strongest(
    boundaries: Boundaries, order: Sequence[int], rule: Rule, inclusive: bool
) -> Iterator[tuple[int, Decision]]:
    """For each node but the first, its test with the less uncertain nodes that is strongest."""
    tau = np.array(order, dtype=np.int64)
    for places in _parts(len(tau)):
        evidence = boundaries.tests([order[i] for i in places], [tau[:i] for i in places])
        lengths = np.array(places)
        tops, strengths = strongest(rule, evidence, lengths)
        found = evidence.cmi[tops].tolist()
        others = tau[tops - (np.cumsum(lengths) - lengths)].tolist()
        for i, other, cmi, strength in zip(places, others, found, strengths.tolist(), strict=True):
            threshold = float(rule.threshold_for(i))
            dependent = strength >= threshold if inclusive else strength > threshold
            given = boundaries.given(order[i])
            yield order[i], Decision(order[i], (other,), given, cmi, strength, threshold, dependent)


def _parts(n_nodes: int) -> Iterator[range]:
    """The places after the first, as many at once as have AT_ONCE tests together."""
    start, held = 1, 0
    for i in range(1, n_nodes):
        if held and held + i > AT_ONCE:
            yield range(start, i)
            start, held = i, 0
        held += i
    if start < n_nodes:
        yield range(start, n_nodes)
