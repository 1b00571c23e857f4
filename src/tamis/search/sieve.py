"""The sieve: masking by every less uncertain node, admitted or not.

Plain masking tests a node only with the nodes that entered the layer. A deep descendant whose
dependence on those is too weak to see then enters as well, and its true parents become its
children. Here a node enters only if it is independent, given its boundary, of *every*
remaining node of lower conditional entropy, so that the nearest relative, where dependence is
strongest, speaks too. Beyond the paper; what it costs is that a node with a less uncertain
descendant waits for a later layer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tamis.decisions.rule import Rule
from tamis.information.interface import Information, Query
from tamis.search.boundaries import Boundaries
from tamis.search.masking import LayerStep
from tamis.search.outcome import Decision


def find_layer(
    information: Information,
    boundaries: Boundaries,
    order: Sequence[int],
    rule: Rule,
    *,
    inclusive: bool = True,
) -> LayerStep:
    """One layer from ``order``, the permutation tau of the remaining nodes."""
    layer: list[int] = []
    masked: dict[int, Decision] = {}
    closest: dict[int, Decision] = {}
    for position, k in enumerate(order):
        if position == 0:
            layer.append(k)
            continue
        strongest = _strongest(
            information, boundaries, k, np.array(order[:position]), rule, inclusive
        )
        if strongest.dependent:
            masked[k] = strongest
        else:
            layer.append(k)
            closest[k] = strongest
    return layer, masked, closest


def _strongest(
    information: Information,
    boundaries: Boundaries,
    target: int,
    lower: np.ndarray[tuple[int], np.dtype[np.int64]],
    rule: Rule,
    inclusive: bool,
) -> Decision:
    """The test, among all with the less uncertain nodes, that speaks loudest for dependence."""
    given = boundaries.given(target)
    evidence = information.evidence([Query(target, given, lower)])
    scores = rule.scores(evidence)
    top = int(np.argmax(scores))
    tests = len(lower)
    return Decision(
        target,
        (int(lower[top]),),
        given,
        gain=float(evidence.gain[top]),
        score=float(scores[top]),
        bar=float(rule.bar(tests)),
        dependent=bool(rule.accepts(scores[top : top + 1], tests, inclusive=inclusive)[0]),
    )
