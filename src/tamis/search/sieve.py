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
    for k, strongest in _strongest(boundaries, order, rule, inclusive):
        if strongest.dependent:
            masked[k] = strongest
        else:
            layer.append(k)
            closest[k] = strongest
    return layer, masked, closest


def _strongest(
    boundaries: Boundaries, order: Sequence[int], rule: Rule, inclusive: bool
) -> Iterator[tuple[int, Decision]]:
    """For each node but the first, its test with the less uncertain nodes that speaks loudest."""
    tau = np.array(order, dtype=np.int64)
    places = range(1, len(tau))
    if not places:
        return
    evidence = boundaries.evidence(order[1:], [tau[:i] for i in places])
    scores = rule.scores(evidence)
    start = 0
    for i in places:
        top = start + int(np.argmax(scores[start : start + i]))
        score, bar = float(scores[top]), float(rule.bar(i))
        yield (
            order[i],
            Decision(
                order[i],
                (int(tau[top - start]),),
                boundaries.given(order[i]),
                gain=float(evidence.gain[top]),
                score=score,
                bar=bar,
                dependent=score >= bar if inclusive else score > bar,
            ),
        )
        start += i
