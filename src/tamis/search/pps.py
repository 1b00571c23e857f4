"""Algorithm 2: possible parent selection (PPS), the greedy Markov boundary of one node.

This file is the procedure as the paper states it, for one node from nothing. A search runs
it for all nodes after every layer; ``greedy.py`` does that without starting over and is
tested against this one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from tamis.decisions.rule import Rule
from tamis.information.interface import Context, Group, Interaction, Query, Source
from tamis.search.outcome import Boundary, Decision

MOST_JUDGED = 4
"""Of the interactions whose members are all candidates, so many, the strongest, are judged."""


def possible_parents(
    information: Source,
    target: int,
    candidates: Sequence[int],
    rule: Rule,
    *,
    inclusive: bool = False,
    max_boundary: int | None = None,
    interactions: Sequence[Interaction] = (),
    required: tuple[int, ...] = (),
    blocked: int = 0,
) -> Boundary:
    """PPS(X, k, A, kappa): the boundary of ``target`` among ``candidates`` and H(X_k | m).

    Ties for the largest gain go to the candidate that comes first. ``inclusive`` lets a gain
    that equals the threshold pass, as the authors' program does. ``interactions``, beyond the
    paper, are sets to be tried where no single candidate passes: the parents of a parity say
    nothing one by one. So is background knowledge: ``required`` members are there from the start,
    and ``blocked`` ones (a bit for each) are never taken.
    """
    limit = len(candidates) if max_boundary is None else max_boundary
    known, among = listed(interactions), as_bits(candidates) & ~blocked
    m: list[int] = list(required)
    taken: list[Decision] = []
    refused: Decision | None = None
    while len(m) < limit:
        n_left = len(candidates) - len(m)
        left = [k for k in candidates if k not in m and not blocked >> k & 1]
        if not left:
            break
        given = tuple(sorted(m))
        gains = information.cmi([Context(target, given)])[0]
        best = left[int(np.argmax(gains[left]))]
        decision = decide(information, target, best, given, rule, n_left, inclusive)
        if not decision.dependent:
            sets = sets_to_try(known, among, given, limit)
            judged = judge_sets(information, [Group(target, given, one) for one in sets], rule)
            together = best_set(target, sets, judged, given, rule, n_left, inclusive)
            if together is None or not together.dependent:
                refused = decision
                break
            decision = together
        m += decision.others
        taken.append(decision)
    entropy = float(information.entropies([Context(target, tuple(sorted(m)))])[0])
    return Boundary(target, tuple(m), entropy, tuple(taken), refused)


Listed = tuple[tuple[int, tuple[int, ...]], ...]
"""Sets of nodes, the strongest first, each with its members as bits too."""


def listed(interactions: Sequence[Interaction]) -> Listed:
    """The sets of these interactions as ``sets_to_try`` reads them, which is asked very often."""
    return tuple((as_bits(members), members) for _, members in interactions)


def as_bits(nodes: Iterable[int]) -> int:
    """A set of nodes as a number with one bit for each: quick to compare, small to keep."""
    bits = 0
    for k in nodes:
        bits |= 1 << k
    return bits


def sets_to_try(
    interactions: Listed, candidates: int, given: tuple[int, ...], limit: int
) -> tuple[tuple[int, ...], ...]:
    """What the strongest interactions among the candidates (one bit each) add to what is given,
    if it is more than one member and not more than there is room for."""
    sets: list[tuple[int, ...]] = []
    for bits, members in interactions:
        if bits & ~candidates:
            continue
        fresh = tuple(k for k in members if k not in given) if given else members
        if 2 <= len(fresh) <= limit - len(given):
            sets.append(fresh)
            if len(sets) == MOST_JUDGED:
                break
    return tuple(sets)


Judged = tuple[float, float]
"""The gain and the score of a set."""


def judge_sets(information: Source, groups: Sequence[Group], rule: Rule) -> list[Judged]:
    """The gain and the score of each set taken as one candidate."""
    if not groups:
        return []
    evidence = information.joint_tests(groups)
    return list(zip(evidence.cmi.tolist(), rule.scores(evidence).tolist(), strict=True))


def best_set(
    target: int,
    sets: Sequence[tuple[int, ...]],
    judged: Sequence[Judged],
    given: tuple[int, ...],
    rule: Rule,
    n_left: int,
    inclusive: bool,
) -> Decision | None:
    """The set that clears its bar by most, the first of equals; the bar is that of the best of
    all sets of its size."""
    best: Decision | None = None
    for members, (gain, score) in zip(sets, judged, strict=True):
        bar = float(rule.bar(math.comb(n_left, len(members))))
        if best is None or score - bar > best.score - best.bar:
            passes = score >= bar if inclusive else score > bar
            best = Decision(target, members, given, gain, score, bar, passes)
    return best


def decide(
    information: Source,
    target: int,
    candidate: int,
    given: tuple[int, ...],
    rule: Rule,
    tests: int,
    inclusive: bool,
) -> Decision:
    """Judge one candidate, the best of ``tests``."""
    evidence = information.tests([Query(target, given, np.array([candidate]))])
    scores = rule.scores(evidence)
    return Decision(
        target,
        (candidate,),
        given,
        gain=float(evidence.cmi[0]),
        score=float(scores[0]),
        bar=float(rule.bar(tests)),
        dependent=bool(rule.accepts(scores, tests, inclusive=inclusive)[0]),
    )
