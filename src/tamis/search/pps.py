"""Algorithm 2: possible parent selection (PPS), the greedy Markov boundary of one node.

This file is the procedure as the paper states it, for one node from nothing. A search runs
it for all nodes after every layer; ``greedy.py`` does that without starting over and is
tested against this one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tamis.decisions.rule import Rule
from tamis.information.interface import Context, Information, Query
from tamis.search.outcome import Boundary, Decision


def possible_parents(
    information: Information,
    target: int,
    candidates: Sequence[int],
    rule: Rule,
    *,
    inclusive: bool = False,
    max_boundary: int | None = None,
) -> Boundary:
    """PPS(X, k, A, kappa): the boundary of ``target`` among ``candidates`` and H(X_k | m).

    Ties for the largest gain go to the candidate that comes first. ``inclusive`` lets a gain
    that equals the threshold pass, as the authors' program does.
    """
    m: list[int] = []
    taken: list[Decision] = []
    refused: Decision | None = None
    while max_boundary is None or len(m) < max_boundary:
        left = [k for k in candidates if k not in m]
        if not left:
            break
        gains = information.gains([Context(target, tuple(sorted(m)))])[0]
        best = left[int(np.argmax(gains[left]))]
        decision = decide(information, target, best, tuple(sorted(m)), rule, len(left), inclusive)
        if not decision.dependent:
            refused = decision
            break
        m.append(best)
        taken.append(decision)
    entropy = float(information.entropies([Context(target, tuple(sorted(m)))])[0])
    return Boundary(target, tuple(m), entropy, tuple(taken), refused)


def decide(
    information: Information,
    target: int,
    candidate: int,
    given: tuple[int, ...],
    rule: Rule,
    tests: int,
    inclusive: bool,
) -> Decision:
    """Judge one candidate, the best of ``tests``."""
    evidence = information.evidence([Query(target, given, np.array([candidate]))])
    scores = rule.scores(evidence)
    return Decision(
        target,
        (candidate,),
        given,
        gain=float(evidence.gain[0]),
        score=float(scores[0]),
        bar=float(rule.bar(tests)),
        dependent=bool(rule.accepts(scores, tests, inclusive=inclusive)[0]),
    )
