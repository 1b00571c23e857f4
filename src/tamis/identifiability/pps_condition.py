"""Condition cond:pps: greedy selection only ever meets members of the Markov boundary.

For a node k and an ancestral set A with m = MB(X_k ; A): from every proper subset of m, some
member still missing must inform more about k than every node of A outside m. ``Delta~`` is the
smallest such lead, ``xi`` half the smallest gain of a missing member (eq. defn:ppsgap).

What is checked is stricter than what is printed. As printed the condition is empty when m is all of
A, and parity then satisfies it although no single gain is positive and PPS stops at once. Here the
best gain must be positive as well: the gain of an outsider is never less than 0
(docs/departures.md). The verdict to the letter is among the details, as ``as_printed``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import entr

from tamis.identifiability.conditions import (
    TOLERANCE,
    UNDECIDABLE,
    Condition,
    Findings,
    TooMany,
    Violation,
)
from tamis.identifiability.known import Known, LinearInformation, Nodes, resolved
from tamis.information.inference import RESOLUTION
from tamis.information.interface import Floats

MOST_GAINS = 100_000
"""Gains compared for one node in one ancestral set; a node that needs more is left undecided."""

_WORDS = {True: "holds", False: "fails, too", None: "is undecided"}


@dataclass(frozen=True)
class Selection:
    """PPS for one node in one ancestral set."""

    node: int
    j: int | None
    """The ancestral set is A_j, the first j layers; None if it is none of those."""
    boundary: Nodes
    lead: float
    """Delta~: infinite when the boundary is empty, for then there is nothing to select."""
    weakest: float
    """xi, as printed: half the smallest gain of any missing member."""
    strongest: float
    """Half the smallest, over the subsets, of the largest gain of a missing member: what the
    proof of Proposition prop:pps needs of xi."""
    rival: int | None
    """The outsider that comes nearest to being selected."""
    at: Nodes
    """The subset where it does."""


@dataclass(frozen=True)
class Unselected:
    """One that could not be computed."""

    node: int
    j: int
    trouble: str


def markov_boundary(known: Known, k: int, A: frozenset[int]) -> Nodes:
    """MB(X_k ; A) of an ancestral set, from what d-separation leaves, one removal at a time.

    If the distribution is positive the boundary is unique, and this is it.
    """
    members = set(known.information.relevant(k, A & known.ancestors[k]))
    for member in sorted(members):
        if known.information.gain(k, [member], members - {member}) <= TOLERANCE:
            members.discard(member)
    return tuple(sorted(members))


def all_selections(known: Known) -> Iterable[Selection | Unselected]:
    """Every node beyond every canonical ancestral set, one after the other."""
    for j in range(1, len(known.layers)):
        A = known.canonical[j]
        for k in known.beyond(A):
            try:
                yield select(known, k, A, j)
            except UNDECIDABLE as error:
                yield Unselected(k, j, str(error))


def select(known: Known, k: int, A: frozenset[int], j: int | None = None) -> Selection:
    """PPS for a node in any ancestral set; ``j`` says which canonical one it is, if any.

    The same boundary among the same outsiders is compared once.
    """
    boundary = markov_boundary(known, k, A)
    outside = A.difference(boundary)
    n_gains = 2 ** len(boundary) * len(A)
    if n_gains > MOST_GAINS:
        raise TooMany(
            f"{known.name(k)} has a Markov boundary of {len(boundary)} nodes among the "
            f"{len(A)} before it: {n_gains} gains to compare"
        )
    key = k, boundary, outside
    if key not in known.compared:
        known.compared[key] = _compare(known, k, boundary, outside)
    return Selection(k, j, boundary, *known.compared[key])


def _compare(
    known: Known, k: int, boundary: Nodes, outside: frozenset[int]
) -> tuple[float, float, float, int | None, Nodes]:
    """Delta~, xi as printed and as needed, the nearest outsider and where it is nearest."""
    uncertain = uncertainties(known, k, boundary)
    outsiders = sorted(outside)
    rivals = np.array([gains(known, k, other, boundary) for other in outsiders])
    lead = weakest = strongest = math.inf
    rival: int | None = None
    at: Nodes = ()
    for m in range(2 ** len(boundary) - 1):
        missing = [
            resolved(uncertain[m] - uncertain[m | 1 << i])
            for i in range(len(boundary))
            if not m >> i & 1
        ]
        best = max(missing)
        nearest = int(rivals[:, m].argmax()) if outsiders else None
        second = 0.0 if nearest is None else float(rivals[nearest, m])
        weakest = min(weakest, *missing)
        strongest = min(strongest, best)
        if best - second < lead:
            lead = best - second
            at = tuple(c for i, c in enumerate(boundary) if m >> i & 1)
            rival = outsiders[nearest] if nearest is not None and second > TOLERANCE else None
    return lead, weakest / 2, strongest / 2, rival, at


def pps_condition(known: Known, found: Iterable[Selection | Unselected]) -> Condition:
    """The verdict over all canonical ancestral sets."""
    found = list(found)
    findings = Findings()
    for one in found:
        if isinstance(one, Unselected):
            findings.skip(one.trouble)
        elif one.boundary:
            findings.add(one.lead, partial(_violation, known, one))
    printed = _as_printed(known, found)
    return findings.condition(
        "PPS",
        "PPS condition (cond:pps), stricter than printed",
        good="Greedy selection takes parents and nothing else: no backward phase is needed. "
        "Stricter than printed: the best gain must also be positive.",
        bad="Greedy selection can take a node that is no parent, or stop before the last parent. "
        f"Stricter than printed: the letter of the condition {_WORDS[printed]}.",
        details={
            "as_printed": printed,
            "selections": [
                _as_dict(known, one) for one in found if not isinstance(one, Unselected)
            ],
        },
    )


def _as_printed(known: Known, found: Iterable[Selection | Unselected]) -> bool | None:
    """The verdict to the letter, which asks nothing where no node is outside the boundary."""
    verdicts = [
        None if isinstance(one, Unselected) else one.lead > TOLERANCE
        for one in found
        if isinstance(one, Unselected) or len(one.boundary) < len(known.canonical[one.j or 0])
    ]
    if False in verdicts:
        return False
    return None if None in verdicts else True


def _violation(known: Known, one: Selection) -> Violation:
    k = known.name(one.node)
    given = f" given {', '.join(known.called(one.at))}" if one.at else ""
    where = f"for {k} among the first " + ("layer" if one.j == 1 else f"{one.j} layers")
    if one.rival is None:
        text = f"{where}: no single member of its boundary informs about it{given}, so PPS stops"
        return Violation(text, (k,), {"lead": one.lead})
    rival = known.name(one.rival)
    text = f"{where}: {rival}, no member of its boundary, informs the most{given}"
    return Violation(text, (k, rival), {"lead": one.lead})


def _as_dict(known: Known, one: Selection) -> dict[str, object]:
    return {
        "node": known.name(one.node),
        "layers": one.j,
        "boundary": list(known.called(one.boundary)),
        "Delta~": one.lead if one.boundary else None,
        "xi": one.weakest if one.boundary else None,
    }


MOST_CELLS = 2**21
"""Larger tables are not made; the questions are then asked one by one."""


# The PPS condition asks 2^|m| times as many questions as there are candidates. Asked one by one
# each is an inference; but all of them concern marginals of one table over the node, the candidate
# and the members of m, and those follow from each other by summing out a member at a time.


def uncertainties(known: Known, k: int, members: Sequence[int]) -> Floats:
    """H(X_k | S) for every subset S of the members, S as a number whose bit i is member i."""
    ask = known.information
    if isinstance(ask, LinearInformation) or not _fits(known, (k, *members)):
        return np.array([ask.conditional_entropy(k, subset) for subset in _subsets(members)])
    table = ask.marginal((k, *members))
    found = np.empty(2 ** len(members))
    for subset, marginal in _marginals(table, 1):
        found[subset] = _entropy(marginal) - _entropy(marginal.sum(axis=0))
    return found


def gains(known: Known, k: int, other: int, members: Sequence[int]) -> Floats:
    """I(X_k ; X_other | S) for every subset S of the members."""
    ask = known.information
    if ask.separated(other, (k, *members), ()):
        return np.zeros(2 ** len(members))
    if isinstance(ask, LinearInformation) or not _fits(known, (k, other, *members)):
        return np.array([ask.gain(k, [other], subset) for subset in _subsets(members)])
    table = ask.marginal((k, other, *members))
    found = np.empty(2 ** len(members))
    for subset, marginal in _marginals(table, 2):
        found[subset] = (
            _entropy(marginal.sum(axis=0))
            + _entropy(marginal.sum(axis=1))
            - _entropy(marginal)
            - _entropy(marginal.sum(axis=(0, 1)))
        )
    found[found < RESOLUTION] = 0.0
    return found


def _fits(known: Known, variables: Sequence[int]) -> bool:
    levels = known.network.levels
    cells = 1
    for k in variables:
        cells *= len(levels[k])
    return cells <= MOST_CELLS and len(variables) <= 30


def _subsets(members: Sequence[int]) -> Iterator[tuple[int, ...]]:
    for subset in range(2 ** len(members)):
        yield tuple(m for i, m in enumerate(members) if subset >> i & 1)


def _marginals(table: Floats, kept: int) -> Iterator[tuple[int, Floats]]:
    """Every marginal that keeps the first axes, with the subset of the others it keeps.

    Axes are summed out in falling order, so that every subset comes once and only the marginals on
    the way to it are held.
    """
    n_members = table.ndim - kept
    waiting = [(2**n_members - 1, n_members, table)]
    while waiting:
        subset, below, marginal = waiting.pop()
        yield subset, marginal
        for i in range(below):
            # All members below ``below`` are still there, so member i is axis kept + i.
            waiting.append((subset & ~(1 << i), i, marginal.sum(axis=kept + i)))


def _entropy(marginal: Floats) -> float:
    return float(entr(marginal).sum())
