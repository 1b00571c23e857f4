"""Algorithm 2: possible parent selection (PPS), the greedy Markov boundary of one node.

This file is the procedure as the paper states it, for one node from nothing. A search runs
it for all nodes after every layer; ``greedy.py`` does that without starting over and is
tested against this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from tamis.decisions.rule import Rule
from tamis.information.interface import Context, Group, Information, Query
from tamis.search.outcome import Boundary, Decision


def possible_parents(
    information: Information,
    target: int,
    candidates: Sequence[int],
    rule: Rule,
    *,
    inclusive: bool = False,
    max_boundary: int | None = None,
    look_ahead: int = 1,
) -> Boundary:
    """PPS(X, k, A, kappa): the boundary of ``target`` among ``candidates`` and H(X_k | m).

    Ties for the largest gain go to the candidate that comes first. ``inclusive`` lets a gain
    that equals the threshold pass, as the authors' program does. With ``look_ahead`` 2, beyond
    the paper, pairs of candidates are tried where no single one passes: the parents of a parity
    say nothing one by one.
    """
    limit = len(candidates) if max_boundary is None else max_boundary
    m: list[int] = []
    taken: list[Decision] = []
    refused: Decision | None = None
    while len(m) < limit:
        left = [k for k in candidates if k not in m]
        if not left:
            break
        given = tuple(sorted(m))
        gains = information.gains([Context(target, given)])[0]
        best = left[int(np.argmax(gains[left]))]
        decision = decide(information, target, best, given, rule, len(left), inclusive)
        if not decision.dependent:
            pair = (
                best_pair(information, target, left, given, rule, inclusive)
                if look_ahead > 1 and len(m) + 1 < limit
                else None
            )
            if pair is None or not pair.dependent:
                refused = decision
                break
            decision = pair
        m += decision.others
        taken.append(decision)
    entropy = float(information.entropies([Context(target, tuple(sorted(m)))])[0])
    return Boundary(target, tuple(m), entropy, tuple(taken), refused)


def best_pair(
    information: Information,
    target: int,
    left: Sequence[int],
    given: tuple[int, ...],
    rule: Rule,
    inclusive: bool,
) -> Decision | None:
    """Judge the pair of candidates of largest gain, the best of all pairs there are.

    Ties go to the pair whose later member comes first, then to the earlier one.
    """
    pairs = sorted(combinations(range(len(left)), 2), key=lambda pair: pair[::-1])
    if not pairs:
        return None
    places = np.array([(left[a], left[b]) for a, b in pairs], dtype=np.int64)
    gains = information.pair_gains([Context(target, given)], places)[0]
    top = int(np.argmax(gains))
    members = (int(places[top, 0]), int(places[top, 1]))
    evidence = information.joint_evidence([Group(target, given, members)])
    score, bar = float(rule.scores(evidence)[0]), float(rule.bar(len(pairs)))
    return Decision(
        target,
        members,
        given,
        gain=float(gains[top]),
        score=score,
        bar=bar,
        dependent=score >= bar if inclusive else score > bar,
    )


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
