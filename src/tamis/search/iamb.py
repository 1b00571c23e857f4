"""The backward phase of IAMB: remove from a Markov blanket what it does not need.

The paper's version removes at once every member that the others make superfluous; two
members that stand in for each other then both go. Removing the weakest one at a time keeps
one of them, and is the default here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tamis.decisions.rule import Rule
from tamis.information.interface import Information, Query
from tamis.search.outcome import Decision


def shrink(
    information: Information,
    target: int,
    members: Sequence[int],
    rule: Rule,
    candidates: int,
    *,
    together: bool,
    grown: bool = True,
    inclusive: bool = False,
) -> tuple[tuple[int, ...], tuple[Decision, ...], tuple[Decision, ...]]:
    """The members that stay, in their order; the decisions that removed the others; and those
    that kept the members, given what was there when they were judged last.

    ``candidates`` is the number the members were chosen from. A member of a ``grown`` boundary
    is judged on the way out as on the way in, as the best of those that are not among the
    other members; where the members are all candidates, each is one of so many.
    """
    kept = list(members)
    removed: list[Decision] = []
    retained: list[Decision] = []
    while kept:
        tests = candidates - len(kept) + 1 if grown else candidates
        verdicts = _verdicts(information, target, kept, rule, tests, inclusive)
        superfluous = [verdict for verdict in verdicts if not verdict.dependent]
        retained = [verdict for verdict in verdicts if verdict.dependent]
        if not superfluous:
            break
        leaving = superfluous if together else [min(superfluous, key=_strength)]
        removed += leaving
        gone = {verdict.others[0] for verdict in leaving}
        kept = [k for k in kept if k not in gone]
        if together:
            break
    return tuple(kept), tuple(removed), tuple(retained)


def _strength(verdict: Decision) -> tuple[float, float, int]:
    return verdict.gain, verdict.score, verdict.others[0]


def _verdicts(
    information: Information,
    target: int,
    members: Sequence[int],
    rule: Rule,
    tests: int,
    inclusive: bool,
) -> list[Decision]:
    """Each member against the target, given all the other members."""
    givens = [tuple(sorted(set(members) - {k})) for k in members]
    evidence = information.evidence(
        [Query(target, given, np.array([k])) for k, given in zip(members, givens, strict=True)]
    )
    scores = rule.scores(evidence)
    dependent = rule.accepts(scores, tests, inclusive=inclusive)
    bar = float(rule.bar(tests))
    return [
        Decision(target, (k,), given, gain, score, bar, bool(yes))
        for k, given, gain, score, yes in zip(
            members, givens, evidence.gain.tolist(), scores.tolist(), dependent, strict=True
        )
    ]
