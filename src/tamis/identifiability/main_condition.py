"""Condition 1 of the paper (C1 and C2), and its general version (U1 and U2).

For every node k and every layer before its own there must be an *important ancestor*: an
ancestor of k in that layer which, given all layers before, is less uncertain than k (C1) and
informs about k (C2). In the general version (Theorem thm:ident:unequal2) the other ancestors of
k in that layer that are no more uncertain than the important one may help to inform (U2).

C1 and C2 are reported one by one, and so are U1 and U2; "main" and "general" ask that one and the
same ancestor satisfies both, which is what the theorems need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from tamis.identifiability.known import Known
from tamis.identifiability.verdicts import TOLERANCE, UNDECIDABLE, Condition, Findings, Violation


@dataclass(frozen=True)
class Ancestor:
    """One ancestor i of k in the layer after A_j, and how it compares."""

    node: int
    lead: float
    """H(X_k | A_j) - H(X_i | A_j)."""
    gain: float
    """I(X_k ; X_i | A_j)."""
    joint_gain: float
    """I(X_k ; X_i and its helpers | A_j)."""
    helpers: tuple[int, ...]
    """X_i and the other ancestors in its layer that are no more uncertain."""


@dataclass(frozen=True)
class Place:
    """A node k against the layer after A_j; None where a table would have been too large."""

    node: int
    j: int
    ancestors: tuple[Ancestor, ...] | None
    trouble: str = ""

    def best(self) -> Ancestor:
        """The ancestor whose weaker side is the strongest: it gives Delta and eta here."""
        return max(self.ancestors or (), key=_both)


def all_places(known: Known) -> Iterable[Place]:
    """Every (k, j) of the condition, one after the other, so that progress can be shown."""
    for k, j in known.pairs():
        try:
            yield Place(k, j, tuple(_ancestors(known, k, j)))
        except UNDECIDABLE as error:
            yield Place(k, j, None, str(error))


def _ancestors(known: Known, k: int, j: int) -> Iterable[Ancestor]:
    A = known.canonical[j]
    candidates = known.important_candidates(k, j)
    uncertainty = {i: known.own(i) for i in candidates}  # all parents of i lie in A_j
    target = known.entropy(k, A)
    for i in candidates:
        gain = known.gain_of_ancestors(k, [i], A)
        helpers = tuple(
            other for other in candidates if uncertainty[other] <= uncertainty[i] + TOLERANCE
        )
        joint = gain if helpers == (i,) else known.gain_of_ancestors(k, helpers, A)
        yield Ancestor(i, target - uncertainty[i], gain, max(joint, gain), helpers)


def conditions(known: Known, places: Iterable[Place]) -> list[Condition]:
    """C1, C2, U1, U2 and their two combinations."""
    places = list(places)
    return [
        _condition(known, places, *row)
        for row in (
            ("C1", "C1, uncertainty grows", _lead, _GROWS, _SHRINKS),
            ("C2", "C2, ancestors inform", _gain, _INFORM, _SILENT),
            ("main", "Condition 1 (C1 and C2 by one ancestor)", _both, _MAIN, _NOT_MAIN),
            ("U1", "U1, uncertainty grows (general version)", _lead, _GROWS, _SHRINKS),
            ("U2", "U2, ancestors inform together", _joint, _TOGETHER, _SILENT_TOGETHER),
            (
                "general",
                "General version (U1 and U2 by one ancestor)",
                _general,
                _GENERAL,
                _NOT_GENERAL,
            ),
        )
    ]


def _lead(a: Ancestor) -> float:
    return a.lead


def _gain(a: Ancestor) -> float:
    return a.gain


def _joint(a: Ancestor) -> float:
    return a.joint_gain


def _both(a: Ancestor) -> float:
    return min(a.lead, a.gain)


def _general(a: Ancestor) -> float:
    return min(a.lead, a.joint_gain)


_GROWS = "In every layer each later node has an ancestor that is less uncertain than itself."
_SHRINKS = (
    "Some node is no more uncertain than all its ancestors in a layer, so it may enter too early."
)
_INFORM = "In every layer each later node depends on an ancestor."
_SILENT = (
    "Some node is independent of all its ancestors in a layer, one by one, so nothing masks it."
)
_MAIN = "Every node has an important ancestor in every layer before its own."
_NOT_MAIN = "Some node has no ancestor in a layer that is both less uncertain and informative."
_TOGETHER = "In every layer each later node depends on its ancestors, taken together."
_SILENT_TOGETHER = "Some node is independent of all its ancestors in a layer, even taken together."
_GENERAL = "With ancestors helping each other, every node has an important one in every layer."
_NOT_GENERAL = (
    "Even with ancestors helping each other, some node has no important ancestor in a layer."
)


def _condition(
    known: Known,
    places: Sequence[Place],
    key: str,
    title: str,
    slack: Callable[[Ancestor], float],
    good: str,
    bad: str,
) -> Condition:
    findings = Findings()
    for place in places:
        if place.ancestors is None:
            findings.skip(place.trouble)
            continue
        best = max(place.ancestors, key=slack)
        findings.add(slack(best), partial(_violation, known, place, best, key))
    details: dict[str, object] = {"ancestors": _satisfying(known, places, slack)}
    return findings.condition(key, title, good=good, bad=bad, details=details)


def _violation(known: Known, place: Place, best: Ancestor, key: str) -> Violation:
    """The node, the layer, and the ancestor that came closest."""
    k, i = known.name(place.node), known.name(best.node)
    layer = place.j + 1
    given = ("", " given layer 1")[place.j] if place.j < 2 else f" given layers 1 to {place.j}"
    tie = abs(best.lead) <= TOLERANCE
    texts = {
        "C1": f"{k} is no more uncertain than its ancestors in layer {layer}{given}: the nearest, "
        f"{i}, " + ("ties" if tie else f"is {-best.lead:.3g} nats more uncertain"),
        "C2": f"{k} is independent of each of its ancestors in layer {layer}{given}",
        "main": f"{k} has no important ancestor in layer {layer}{given}: the nearest, {i}, "
        f"leads by {best.lead:.3g} and informs by {best.gain:.3g} nats",
        "U2": f"{k} is independent of its ancestors in layer {layer}{given}, taken together",
        "general": f"{k} has no important ancestor in layer {layer}{given}: the nearest, {i}, "
        f"leads by {best.lead:.3g} and, with its helpers, informs by {best.joint_gain:.3g} nats",
    }
    numbers = {"lead": best.lead, "gain": best.gain, "joint_gain": best.joint_gain}
    return Violation(
        texts["C1" if key == "U1" else key], (k, i), {**numbers, "layer": float(layer)}
    )


def _satisfying(
    known: Known, places: Sequence[Place], slack: Callable[[Ancestor], float]
) -> list[dict[str, object]]:
    """For each node and layer the ancestors that satisfy the condition: for the combined ones
    these are the paper's important ancestors."""
    return [
        {
            "node": known.name(place.node),
            "layer": place.j + 1,
            "ancestors": [known.name(a.node) for a in place.ancestors if slack(a) > TOLERANCE],
        }
        for place in places
        if place.ancestors is not None
    ]
