"""PPS and the backward phase from nothing, step by step: slow, and plain to see."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np

from tamis.decisions.rule import Rule
from tamis.information.interface import Context, Query, Source
from tamis.search.outcome import Boundary, Decision

Passes = Callable[[float, float], bool]


def strictly(score: float, threshold: float) -> bool:
    """A score that equals the threshold fails."""
    return score > threshold


def or_equal(score: float, threshold: float) -> bool:
    """A score that equals the threshold passes."""
    return score >= threshold


def judge(
    information: Source,
    target: int,
    others: tuple[int, ...],
    members: Collection[int],
    rule: Rule,
    tests: int,
    passes: Passes,
) -> Decision:
    """Whether the target depends on another, the best of so many, given the members."""
    given = tuple(sorted(members))
    evidence = information.tests([Query(target, given, np.array(others))])
    score, threshold = float(rule.strengths(evidence)[0]), float(rule.threshold_for(tests))
    gain = float(evidence.cmi[0])
    return Decision(target, others, given, gain, score, threshold, passes(score, threshold))


def grown(
    information: Source,
    target: int,
    candidates: Sequence[int],
    rule: Rule,
    *,
    passes: Passes = strictly,
    max_boundary: int | None = None,
    required: tuple[int, ...] = (),
    blocked: Collection[int] = (),
) -> Boundary:
    """The forward phase; ties go to the candidate that comes first."""
    room = len(candidates) if max_boundary is None else max_boundary
    members = list(required) if set(required) <= set(candidates) else []
    allowed = [k for k in candidates if k not in blocked]
    taken: list[Decision] = []
    refused = None
    while len(members) < room:
        left = [k for k in allowed if k not in members]
        if not left:
            break
        n_left = len(candidates) - len(members)
        gains = information.cmi([Context(target, tuple(sorted(members)))])[0]
        best = max(left, key=lambda k: gains[k])
        found = judge(information, target, (best,), members, rule, n_left, passes)
        if not found.dependent:
            refused = found
            break
        members += found.others
        taken.append(found)
    entropy = information.entropies([Context(target, tuple(sorted(members)))])[0]
    return Boundary(target, tuple(members), float(entropy), tuple(taken), refused)


def shrunk(
    information: Source,
    boundary: Boundary,
    rule: Rule,
    n_candidates: int,
    *,
    together: bool = False,
    required: tuple[int, ...] = (),
) -> Boundary:
    """The backward phase on a grown boundary."""
    members = list(boundary.members)
    removed: list[Decision] = []
    retained: list[Decision] = []
    going = bool(members)
    while going and members:
        n_left = n_candidates - len(members) + 1
        verdicts = [
            judge(
                information,
                boundary.target,
                (k,),
                set(members) - {k},
                rule,
                n_left,
                or_equal,
            )
            for k in members
        ]
        retained = [one for one in verdicts if one.dependent]
        out = [one for one in verdicts if not one.dependent and one.others[0] not in required]
        if not together:
            out = sorted(out, key=lambda one: (one.cmi, one.strength, one.others))[:1]
        removed += out
        members = [k for k in members if k not in {one.others[0] for one in out}]
        going = bool(out) and not together
    return Boundary(
        boundary.target,
        tuple(members),
        boundary.entropy,
        boundary.taken,
        boundary.refused,
        tuple(removed),
        tuple(retained),
    )
