"""Conditions under which unequal entropies identify a graph: Condition 1 of the paper (C1 and C2),
its general version (U1 and U2), and cond:uneq1.

For every node k and every layer before its own there must be an *important ancestor*: an
ancestor of k in that layer which, given all layers before, is less uncertain than k (C1) and
informs about k (C2). In the general version (Theorem thm:ident:unequal2) the other ancestors of
k in that layer that are no more uncertain than the important one may help to inform (U2).

C1 and C2 are reported one by one, and so are U1 and U2; "main" and "general" ask that one and the
same ancestor satisfies both, which is what the theorems need.

In cond:uneq1 (Theorem thm:ident:unequal1), for an ordering tau and the nodes A before its j-th,
h_l + I(X_l ; pa(l) \\ A | A) is nothing but H(X_l | A), and h_k of the j-th node, whose parents are
all in A, is H(X_k | A). So the condition says: in this topological ordering each node is, given
those before it, less uncertain than all that follow; only nodes of one layer may tie, when their
own entropies are equal. Following the least conditional entropy therefore finds the ordering if
there is one; where nodes tie, every choice is tried.

``always_topological`` is what the search "sequential" needs: whichever tied node is taken first,
no node ever comes before its parents. It is weaker in one way (nodes of different layers may tie
as long as both are due) and stronger in another (all choices must do, not one).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter

from tamis.identifiability.conditions import (
    TOLERANCE,
    UNDECIDABLE,
    Condition,
    Findings,
    TooMany,
    Violation,
)
from tamis.identifiability.known import Known


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


def main_conditions(known: Known, places: Iterable[Place]) -> list[Condition]:
    """C1, C2, U1, U2 and their two combinations."""
    places = list(places)
    return [_main_condition(known, places, *row) for row in _MAIN_CONDITIONS]


_lead, _gain, _joint = attrgetter("lead"), attrgetter("gain"), attrgetter("joint_gain")


def _both(a: Ancestor) -> float:
    return min(a.lead, a.gain)


def _general(a: Ancestor) -> float:
    return min(a.lead, a.joint_gain)


_GROWS = "In every layer each later node has an ancestor that is less uncertain than itself."
_SHRINKS = (
    "Some node is no more uncertain than all its ancestors in a layer, so it may enter too early."
)
_MAIN_CONDITIONS = (
    ("C1", "C1, uncertainty grows", _lead, _GROWS, _SHRINKS),
    (
        "C2", "C2, ancestors inform", _gain,
        "In every layer each later node depends on an ancestor.",
        "Some node is independent of all its ancestors in a layer, one by one, so nothing masks "
        "it.",
    ),
    (
        "main", "Condition 1 (C1 and C2 by one ancestor)", _both,
        "Every node has an important ancestor in every layer before its own.",
        "Some node has no ancestor in a layer that is both less uncertain and informative.",
    ),
    ("U1", "U1, uncertainty grows (general version)", _lead, _GROWS, _SHRINKS),
    (
        "U2", "U2, ancestors inform together", _joint,
        "In every layer each later node depends on its ancestors, taken together.",
        "Some node is independent of all its ancestors in a layer, even taken together.",
    ),
    (
        "general", "General version (U1 and U2 by one ancestor)", _general,
        "With ancestors helping each other, every node has an important one in every layer.",
        "Even with ancestors helping each other, some node has no important ancestor in a layer.",
    ),
)  # fmt: skip
"""The key and title of each, its slack, and what is said where it holds and where it fails."""


def _main_condition(
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
        findings.add(slack(best), partial(_no_ancestor, known, place, best, key))
    details: dict[str, object] = {"ancestors": _satisfying(known, places, slack)}
    return findings.condition(key, title, good=good, bad=bad, details=details)


def _no_ancestor(known: Known, place: Place, best: Ancestor, key: str) -> Violation:
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


MOST_SETS = 2_000
"""Ancestral sets that are looked at, where ties leave a choice, before giving up."""

Set = frozenset[int]


class Follower:
    """Follows the least conditional entropy from the empty set."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self.passed: set[Set] = set()
        self.stopped_at: tuple[Set, tuple[int, ...]] | None = None

    def tied(self, A: Set) -> list[int]:
        """The least uncertain nodes outside A."""
        entropies = {k: self._known.entropy(k, A) for k in self._known.beyond(A)}
        least = min(entropies.values())
        return [k for k, h in entropies.items() if h <= least + TOLERANCE]

    def allows(self, A: Set, tied: list[int]) -> list[int]:
        """The tied nodes that cond:uneq1 lets come next; none if it is broken here."""
        known = self._known
        due = known.sources(A)
        layers = {known.layer_of[k] for k in tied}
        own = [known.own(k) for k in tied]
        one_layer = len(layers) == 1 and max(own) - min(own) <= TOLERANCE
        return [k for k in tied if k in due] if len(tied) == 1 or one_layer else []

    def find_ordering(self) -> tuple[int, ...] | None:
        """An ordering that satisfies cond:uneq1, depth first without recursion."""
        start: Set = frozenset()
        path: list[tuple[Set, list[int]]] = [(start, self._choices(start))]
        chosen: list[int] = []
        dead: set[Set] = set()
        while path:
            here, choices = path[-1]
            if len(here) == self._known.n_variables:
                return tuple(chosen)
            if not choices:
                dead.add(here)
                path.pop()
                if chosen:
                    chosen.pop()
                continue
            k = choices.pop()
            after = here | {k}
            if after in dead:
                continue
            if len(dead) > MOST_SETS:
                raise TooMany(f"ties leave more than {MOST_SETS} ancestral sets to follow")
            chosen.append(k)
            path.append((after, self._choices(after)))
        return None

    def _choices(self, A: Set) -> list[int]:
        if len(A) == self._known.n_variables:
            return []
        tied = self.tied(A)
        allowed = self.allows(A, tied)
        if not allowed and (self.stopped_at is None or len(A) > len(self.stopped_at[0])):
            self.stopped_at = A, tuple(tied)
        return allowed[::-1]

    def always_topological(self) -> bool:
        """Whether every way of breaking ties takes parents before children.

        Raises what leaves a condition undecided.
        """
        waiting: list[Set] = [frozenset()]
        seen = self.passed = set(waiting)
        while waiting:
            A = waiting.pop()
            if len(A) == self._known.n_variables:
                continue
            tied = self.tied(A)
            due = self._known.sources(A)
            if not due.issuperset(tied):
                self.stopped_at = A, tuple(k for k in tied if k not in due)
                return False
            for k in tied:
                after = A | {k}
                if after not in seen:
                    seen.add(after)
                    waiting.append(after)
            if len(seen) > MOST_SETS:
                raise TooMany(f"ties leave more than {MOST_SETS} ancestral sets to follow")
        return True


def unequal_entropy(known: Known) -> Condition:
    """cond:uneq1 as printed, with the ordering found."""
    follower = Follower(known)
    key, title = "unequal", "Unequal entropy (cond:uneq1)"
    try:
        ordering = follower.find_ordering()
    except UNDECIDABLE as error:
        why = str(error)
        return Condition(key, title, None, None, f"Not decided: {why}", undecided=(why,))
    if ordering is not None:
        return Condition(
            key,
            title,
            True,
            _slack(known, ordering),
            "Taking the least uncertain node, one at a time, follows the arrows.",
            details={"ordering": list(known.called(ordering))},
        )
    return Condition(
        key,
        title,
        False,
        _shortfall(known, follower),
        "Taking the least uncertain node, one at a time, would not follow the arrows for sure.",
        violations=(_no_ordering(known, follower),),
    )


def _slack(known: Known, ordering: tuple[int, ...]) -> float | None:
    """The smallest lead of a node over a later one of another layer."""
    slack = None
    for j, k in enumerate(ordering):
        A = frozenset(ordering[:j])
        for later in ordering[j + 1 :]:
            if known.layer_of[later] != known.layer_of[k]:
                lead = known.entropy(later, A) - known.own(k)
                slack = lead if slack is None else min(slack, lead)
    return slack


def _shortfall(known: Known, follower: Follower) -> float | None:
    """By how much the best source misses being the least uncertain, where the search got to."""
    if follower.stopped_at is None:
        return None
    A, tied = follower.stopped_at
    best_source = min(known.own(k) for k in known.sources(A))
    return min(known.entropy(k, A) for k in tied) - best_source


def _no_ordering(known: Known, follower: Follower) -> Violation:
    if follower.stopped_at is None:
        return Violation("no ordering satisfies it", ())
    A, tied = follower.stopped_at
    due = known.sources(A)
    early = [k for k in tied if k not in due]
    given = f"given {', '.join(known.called(sorted(A)))}" if A else "to begin with"
    if early:
        k = early[0]
        s = min(due, key=known.own)
        text = (
            f"{given}, {known.name(k)} is the least uncertain ({known.entropy(k, A):.4g} nats), "
            f"before its parents; the best node due, {known.name(s)}, has {known.own(s):.4g}"
        )
        return Violation(text, known.called((k, s)))
    names = known.called(tied)
    return Violation(f"{given}, {' and '.join(names)} tie across layers", names)


def ancestral_sets_on_the_way(known: Known) -> set[frozenset[int]] | None:
    """Every ancestral set that the search "sequential" may pass through, whichever tied node it
    takes first; None if it can take a node before its parents."""
    follower = Follower(known)
    return follower.passed if follower.always_topological() else None
