"""The backward phase of IAMB: remove from a Markov blanket what it does not need.

The paper's version removes at once every member that the others make superfluous; two
members that stand in for each other then both go. Removing the weakest one at a time keeps
one of them, and is the default here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tamis.decisions.rule import Rule
from tamis.information.interface import Query, Source
from tamis.search.outcome import Decision


@dataclass(slots=True)
class Blanket:
    """A node's Markov blanket while it is being shrunk.

    ``candidates`` is the number the members were chosen from; ``required`` members stay whatever
    the tests say. ``removed`` holds the decisions
    that took members out; ``retained`` those that kept the rest, given what was there when
    they were judged last.
    """

    target: int
    members: Sequence[int]
    candidates: int
    required: tuple[int, ...] = ()
    removed: list[Decision] = field(default_factory=list)
    retained: list[Decision] = field(default_factory=list)


def shrink(
    information: Source,
    blankets: Sequence[Blanket],
    rule: Rule,
    *,
    together: bool,
    grown: bool = True,
    inclusive: bool = False,
) -> None:
    """Algorithm alg:iamb on several nodes in step, so that their tests come in one batch.

    A member of a ``grown`` boundary is judged on the way out as on the way in, as the best of
    those that are not among the other members; where the members are all candidates, each is
    one of so many. The members that stay keep their order.
    """
    unfinished = [blanket for blanket in blankets if blanket.members]
    while unfinished:
        verdicts = _verdicts(information, unfinished, rule, grown, inclusive)
        changed = []
        for blanket, found in zip(unfinished, verdicts, strict=True):
            if _take_out(blanket, found, together) and blanket.members and not together:
                changed.append(blanket)
        unfinished = changed


def _take_out(blanket: Blanket, verdicts: Sequence[Decision], together: bool) -> bool:
    """Remove what the verdicts make superfluous, the weakest or all; say whether anything was."""
    superfluous = [
        one for one in verdicts if not one.dependent and one.others[0] not in blanket.required
    ]
    blanket.retained = [verdict for verdict in verdicts if verdict.dependent]
    if not superfluous:
        return False
    leaving = superfluous if together else [min(superfluous, key=_strength)]
    blanket.removed += leaving
    gone = {verdict.others[0] for verdict in leaving}
    blanket.members = [k for k in blanket.members if k not in gone]
    return True


def _strength(verdict: Decision) -> tuple[float, float, int]:
    return verdict.gain, verdict.score, verdict.others[0]


def _verdicts(
    information: Source,
    blankets: Sequence[Blanket],
    rule: Rule,
    grown: bool,
    inclusive: bool,
) -> list[list[Decision]]:
    """Each member of each blanket against its target, given all the other members."""
    queries = [
        Query(blanket.target, _without(blanket.members, k), np.array([k]))
        for blanket in blankets
        for k in blanket.members
    ]
    evidence = information.tests(queries)
    scores = rule.scores(evidence).tolist()
    gains = evidence.cmi.tolist()
    verdicts = []
    place = 0
    for blanket in blankets:
        tests = blanket.candidates - len(blanket.members) + 1 if grown else blanket.candidates
        bar = float(rule.bar(tests))
        found = []
        for k in blanket.members:
            score = scores[place]
            dependent = score >= bar if inclusive else score > bar
            found.append(
                Decision(
                    blanket.target, (k,), queries[place].given, gains[place], score, bar, dependent
                )
            )
            place += 1
        verdicts.append(found)
    return verdicts


def _without(members: Sequence[int], k: int) -> tuple[int, ...]:
    return tuple(sorted(m for m in members if m != k))
