"""Testing and masking: Algorithm `alg:uneq:withpps` (short) and `alg:uneq` (general).

Both find one layer from the nodes in order of conditional entropy: the least uncertain enters
the layer, the nodes that depend on it are masked, and so on until no node is left. The short
version tests with the node just admitted, the general one with the whole layer so far.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tamis.decisions.rule import Rule
from tamis.information.interface import Group, Source
from tamis.search.boundaries import Boundaries
from tamis.search.outcome import Decision

LayerStep = tuple[list[int], dict[int, Decision], dict[int, Decision]]
"""The layer, who was masked by what, and for the admitted the test nearest to masking."""


def find_layer(
    information: Source,
    boundaries: Boundaries,
    order: Sequence[int],
    rule: Rule,
    *,
    whole_layer: bool,
    inclusive: bool = True,
) -> LayerStep:
    """The TAM step: one layer from ``order``, the permutation tau of the remaining nodes.

    ``whole_layer`` chooses the general version. ``inclusive`` masks a node whose cmi equals
    the threshold, as the paper states.
    """
    tau = list(order)
    layer: list[int] = []
    masked: dict[int, Decision] = {}
    closest: dict[int, Decision] = {}
    while tau:
        layer.append(tau.pop(0))
        others = tuple(layer) if whole_layer else (layer[-1],)
        verdicts = test_all(information, boundaries, tau, others, rule, inclusive, closest)
        for verdict in verdicts:
            if verdict.dependent:
                masked[verdict.target] = verdict
            else:
                keep_closest(closest, verdict)
        tau = [k for k in tau if k not in masked]
    return layer, masked, {k: closest[k] for k in layer if k in closest}


def test_all(
    information: Source,
    boundaries: Boundaries,
    targets: Sequence[int],
    others: tuple[int, ...],
    rule: Rule,
    inclusive: bool,
    closest: Mapping[int, Decision],
) -> list[Decision]:
    """Is each target independent of ``others`` given its boundary?

    Left out are those that are, unless they are nearer to the threshold than the ``closest`` so
    far.
    """
    if not targets:
        return []
    if len(others) == 1:
        evidence = boundaries.tests(targets, [np.array(others, dtype=np.int64)] * len(targets))
    else:
        groups = [Group(k, boundaries.given(k), others) for k in targets]
        evidence = information.joint_tests(groups)
    threshold = float(rule.threshold_for(1))
    known = np.array([closest[k].strength if k in closest else -np.inf for k in targets])
    ceilings = rule.ceilings(evidence)
    open_ones = np.flatnonzero((ceilings >= threshold) | (ceilings > known))
    strengths = rule.strengths(evidence.at(open_ones))
    dependent = rule.accepts(strengths, 1, inclusive=inclusive).tolist()
    cmi = evidence.cmi[open_ones].tolist()
    return [
        Decision(targets[i], others, boundaries.given(targets[i]), cmi, strength, threshold, yes)
        for i, cmi, strength, yes in zip(
            open_ones.tolist(), cmi, strengths.tolist(), dependent, strict=True
        )
    ]


def keep_closest(closest: dict[int, Decision], verdict: Decision) -> None:
    """Remember the refused test that came nearest to its threshold."""
    known = closest.get(verdict.target)
    if known is None or verdict.strength - verdict.threshold > known.strength - known.threshold:
        closest[verdict.target] = verdict
