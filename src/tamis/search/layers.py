"""How the next layer is found: by testing and masking, by the sieve, or one node at a time.

*Masking*, Algorithm `alg:uneq:withpps` (short) and `alg:uneq` (general): the nodes come in order of
conditional entropy; the least uncertain enters the layer, the nodes that depend on it are masked,
and so on until no node is left. The short version tests with the node just admitted, the general
one with the whole layer so far.

*Sequential*, Theorem `thm:ident:unequal1`: whenever Condition `cond:uneq1` holds, the remaining
node of least conditional entropy given all nodes already taken comes next in a topological order.

*The sieve*, beyond the paper: plain masking tests a node only with the nodes that entered the
layer. A deep descendant whose dependence on those is too weak to see then enters as well, and its
true parents become its children. Here a node enters only if it is independent, given its boundary,
of *every* remaining node of lower conditional entropy, so that the nearest relative, where
dependence is strongest, speaks too. What it costs is that a node with a less uncertain descendant
waits for a later layer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from tamis.decisions.rule import Rule
from tamis.information.interface import Floats, Group, Ints, Source, Tests
from tamis.search.boundaries import Boundaries
from tamis.search.outcome import Decision

TOGETHER = 16
"""Nodes that are tested together with all that are in the layer when they come."""
MANY = 2**12
"""With fewer tests ceilings do not pay."""

LayerStep = tuple[list[int], dict[int, Decision], dict[int, Decision]]
"""The layer, who was masked by what, and for the admitted the test nearest to masking."""


def by_masking(
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
    layer: list[int] = []
    masked: dict[int, Decision] = {}
    closest: dict[int, Decision] = {}
    some = len(order) if whole_layer else TOGETHER
    for start in range(0, len(order), some):
        tau = list(order[start : start + some])
        if layer:
            for verdict in first_masking(boundaries, tau, layer, rule, inclusive):
                (masked if verdict.dependent else closest)[verdict.target] = verdict
            tau = [k for k in tau if k not in masked]
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
    if not whole_layer:  # as if each had been tested with all nodes when it entered the layer
        place = {k: i for i, k in enumerate(layer)}
        at = {k: i for i, k in enumerate(order)}
        by_entry = sorted(masked, key=lambda k: (place[masked[k].others[0]], at[k]))
        masked = {k: masked[k] for k in by_entry}
    return layer, masked, {k: closest[k] for k in layer if k in closest}


def first_masking(
    boundaries: Boundaries,
    targets: Sequence[int],
    layer: Sequence[int],
    rule: Rule,
    inclusive: bool,
) -> list[Decision]:
    """For each target the first node of the layer that it depends on, or else the test that came
    nearest to it.

    A node is asked about all of these at once: its boundary is counted once.
    """
    others, n = np.array(layer, dtype=np.int64), len(layer)
    tests = boundaries.tests(targets, [others] * len(targets))
    threshold = float(rule.threshold_for(1))
    open_ones = np.flatnonzero(rule.ceilings(tests) >= threshold)
    strengths = rule.strengths(tests.at(open_ones))
    passing = rule.accepts(strengths, 1, inclusive=inclusive)
    owners, first = np.unique(open_ones[passing] // n, return_index=True)
    tops, values = open_ones[passing][first], strengths[passing][first]
    free = np.setdiff1d(np.arange(len(targets)), owners)
    if len(free):
        span = (free[:, None] * n + np.arange(n)).ravel()
        best, most = strongest(rule, tests.at(span), np.full(len(free), n))
        tops, values = np.concatenate([tops, span[best]]), np.concatenate([values, most])
    found = zip(tops.tolist(), tests.cmi[tops].tolist(), values.tolist(), strict=True)
    return [
        Decision(
            k := targets[top // n], (layer[top % n],), boundaries.given(k), cmi, strength,
            threshold, i < len(owners),
        )
        for i, (top, cmi, strength) in enumerate(found)
    ]  # fmt: skip


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

    Of very many those may be left out that are, and no nearer to the threshold than the ``closest``
    so far.
    """
    if not targets:
        return []
    if len(others) == 1:
        tests = boundaries.tests(targets, [np.array(others, dtype=np.int64)] * len(targets))
    else:
        groups = [Group(k, boundaries.given(k), others) for k in targets]
        tests = information.joint_tests(groups)
    threshold = float(rule.threshold_for(1))
    if len(tests) >= MANY:
        known = np.array([closest[k].strength if k in closest else -np.inf for k in targets])
        ceilings = rule.ceilings(tests)
        open_ones = np.flatnonzero((ceilings >= threshold) | (ceilings > known))
        targets, tests = [targets[i] for i in open_ones.tolist()], tests.at(open_ones)
    strengths = rule.strengths(tests)
    dependent = rule.accepts(strengths, 1, inclusive=inclusive)
    found = zip(targets, tests.cmi.tolist(), strengths.tolist(), dependent.tolist(), strict=True)
    return [
        Decision(k, others, boundaries.given(k), cmi, strength, threshold, yes)
        for k, cmi, strength, yes in found
    ]


def keep_closest(closest: dict[int, Decision], verdict: Decision) -> None:
    """Remember the refused test that came nearest to its threshold."""
    known = closest.get(verdict.target)
    if known is None or verdict.strength - verdict.threshold > known.strength - known.threshold:
        closest[verdict.target] = verdict


# Sequential.


def by_entropy(boundaries: Boundaries, free: Sequence[int] | None = None) -> tuple[int, int | None]:
    """The least uncertain remaining node and the one after it, if there is another; with ``free``
    only these count.

    Admitted nodes have infinite entropy; ties go to the first position.
    """
    if free is not None:
        order = boundaries.in_order(free)
        return order[0], order[1] if len(order) > 1 else None
    entropies = boundaries.entropies.copy()
    first = int(entropies.argmin())
    entropies[first] = np.inf
    second = int(entropies.argmin())
    return first, second if entropies[second] < np.inf else None


# The sieve.


AT_ONCE = 2**20
"""Tests that are counted at once: of wide tables there is no room for all."""


def by_sieve(boundaries: Boundaries, order: Sequence[int], rule: Rule) -> LayerStep:
    """One layer from ``order``, the permutation tau of the remaining nodes."""
    layer = [order[0]]
    masked: dict[int, Decision] = {}
    closest: dict[int, Decision] = {}
    for k, found in _strongest(boundaries, order, rule):
        if found.dependent:
            masked[k] = found
        else:
            layer.append(k)
            closest[k] = found
    return layer, masked, closest


def _strongest(
    boundaries: Boundaries, order: Sequence[int], rule: Rule
) -> Iterator[tuple[int, Decision]]:
    """For each node but the first, its test with the less uncertain nodes that is strongest."""
    tau = np.array(order, dtype=np.int64)
    for places in _places(len(tau)):
        tests = boundaries.tests([order[i] for i in places], [tau[:i] for i in places])
        lengths = np.array(places)
        tops, strengths = strongest(rule, tests, lengths)
        found = tests.cmi[tops].tolist()
        others = tau[tops - (np.cumsum(lengths) - lengths)].tolist()
        for i, other, cmi, strength in zip(places, others, found, strengths.tolist(), strict=True):
            threshold = float(rule.threshold_for(i))
            given, dependent = boundaries.given(order[i]), strength >= threshold
            yield order[i], Decision(order[i], (other,), given, cmi, strength, threshold, dependent)


def _places(n_nodes: int) -> Iterator[range]:
    """The places after the first, as many at once as have AT_ONCE tests together."""
    start, held = 1, 0
    for i in range(1, n_nodes):
        if held and held + i > AT_ONCE:
            yield range(start, i)
            start, held = i, 0
        held += i
    if start < n_nodes:
        yield range(start, n_nodes)


def strongest(rule: Rule, tests: Tests, lengths: Ints) -> tuple[Ints, Floats]:
    """The place and the strength of the strongest test of each run, which are of these lengths;
    of equals the first."""
    if len(tests) < MANY:
        strengths = rule.strengths(tests)
    else:
        # Whose ceiling is below the strength of another cannot be the strongest.
        ceilings = rule.ceilings(tests)
        floors = rule.strengths(tests.at(_first_largest(ceilings, lengths)))
        rivals = np.flatnonzero(ceilings >= np.repeat(floors, lengths))
        strengths = np.full(len(tests), -np.inf)
        strengths[rivals] = rule.strengths(tests.at(rivals))
    tops = _first_largest(strengths, lengths)
    return tops, strengths[tops]


def _first_largest(values: Floats, lengths: Ints) -> Ints:
    ends = np.cumsum(lengths)
    return np.array(
        [
            start + int(values[start:end].argmax())
            for start, end in zip((ends - lengths).tolist(), ends.tolist(), strict=True)
        ],
        dtype=np.int64,
    )
