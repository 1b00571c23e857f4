"""The best of the searches, by the likelihood of what they found, and its refinement.

Each search rests on a condition of its own, and nobody knows which hold. So all are run on the
same counts, their DAGs are scored on the same rows, and the best is kept; what the paper's masking
found wins a tie. Then the order is refined (``refine``). The refined DAG replaces the one the
entropies found only where it is better beyond noise, or simpler and no worse: otherwise among
graphs that fit alike the entropies keep the orientation. Beyond the paper.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tamis.decisions.pvalue import PValueRule
from tamis.information.interface import Context, Information
from tamis.search.outcome import Admission, Outcome
from tamis.search.refine import Refined, refine
from tamis.search.selection import Selector
from tamis.search.tam import Progress, Settings, run

TRIED = ("node", "sieve", "sequential")
"""The searches in the order in which they win ties."""
REFINED = "refined"
RESTS_ON = {
    "node": "Condition 1 and the PPS condition",
    "layer": "the general version and the PPS condition",
    "reference": "the general version and the PPS condition",
    "sieve": "uncertainty that grows along every dependence, and the PPS condition on its way",
    "sequential": "the least uncertain node always being due, and the PPS condition on its way",
}
"""What must hold for each search to find the DAG, in words."""
LIKELIHOOD = "the likelihood, which directs an edge only where all equivalent graphs agree"
"""And for the refined DAG."""
TIE = 1e-9
"""Scores are equal if they differ by less than this share: rounding."""
NO_LEVEL = 0.05
"""Where the rule is no test, a rise counts as noise at this level."""


@dataclass(frozen=True)
class Tried:
    """What one search found, and the score of its DAG."""

    search: str
    outcome: Outcome
    score: float

    @property
    def n_edges(self) -> int:
        """The number of edges of its DAG."""
        return sum(len(boundary.members) for boundary in self.outcome.boundaries.values())


def try_all(
    information: Information, settings: Settings, progress: Progress | None = None
) -> list[Tried]:
    """Run the searches and the refinement of the best; the first of the list is the answer."""
    tried = []
    for i, search in enumerate(TRIED):
        outcome = run(information, replace(settings, search=search), _part(progress, i))
        tried.append(Tried(search, outcome, score_of(information, outcome)))
    best = max(tried, key=lambda one: one.score)
    best = next(one for one in tried if one.score >= best.score - TIE * abs(best.score))
    others = [one for one in tried if one is not best]
    refined = _refined(information, settings, best)
    if refined is None:
        ranking = [best, *others]
    elif _replaces(refined, best, settings):
        ranking = [refined, best, *others]
    else:
        ranking = [best, refined, *others]
    return ranking[:1] + sorted(ranking[1:], key=lambda one: -one.score)


def score_of(information: Information, outcome: Outcome) -> float:
    """The penalised likelihood of the DAG."""
    contexts = [
        Context(k, tuple(sorted(boundary.members))) for k, boundary in outcome.boundaries.items()
    ]
    return math.fsum(information.penalised_likelihoods(contexts).tolist())


def noise(settings: Settings, n_edges: int) -> float:
    """How much the score may rise by chance: each edge is a turn that could be tried, and the
    level of the tests is shared by all of them."""
    rule = settings.boundary_rule
    level = rule.alpha if isinstance(rule, PValueRule) else NO_LEVEL
    return math.log(max(n_edges, 1) / level)


def _replaces(refined: Tried, best: Tried, settings: Settings) -> bool:
    """Whether the refined DAG is better beyond noise, or simpler and no worse."""
    rise = refined.score - best.score
    simpler = refined.n_edges < best.n_edges
    return rise > noise(settings, best.n_edges) or (simpler and rise > 0)


def _part(progress: Progress | None, i: int) -> Progress | None:
    """The i-th search's share of the way."""
    if progress is None:
        return None
    whole = progress

    def report(done: int, total: int) -> None:
        whole((i * total + done) // len(TRIED), total)

    return report


def _refined(information: Information, settings: Settings, best: Tried) -> Tried | None:
    """The best DAG after all moves that raise its score; None if there are none."""
    interactions = (
        information.interactions(settings.look_ahead) if settings.look_ahead > 1 else None
    )
    selector = Selector(
        information,
        settings.boundary_rule,
        interactions,
        backward=settings.backward != "none",
        max_boundary=settings.max_boundary,
    )
    order = [k for layer in best.outcome.layers for k in layer]
    constant = {k for k in order if not information.varies(k)}
    found = refine(selector, [k for k in order if k not in constant], 0.0)
    if not found.moves:
        return None
    outcome = _outcome(information, selector, found, sorted(constant))
    return Tried(REFINED, outcome, score_of(information, outcome))


def _outcome(
    information: Information, selector: Selector, found: Refined, constant: Sequence[int]
) -> Outcome:
    """The refined order as a search leaves it behind: one node a layer, with its boundary."""
    outcome = Outcome(moves=list(found.moves))
    for place, k in enumerate((*constant, *found.order)):
        before = [] if k in constant else found.order[: place - len(constant)]
        boundary = selector.boundary(k, before)
        outcome.boundaries[k] = boundary
        outcome.layers.append([k])
        outcome.admissions.append(Admission(k, place, boundary.entropy, None, None, None))
    children: dict[int, list[int]] = {k: [] for k in outcome.boundaries}
    for k, boundary in outcome.boundaries.items():
        for parent in boundary.members:
            children[parent].append(k)
    for (k,) in outcome.layers:
        outcome.uncertainties.append(_uncertainties(information, outcome, k, children[k]))
    return outcome


def _uncertainties(
    information: Information, outcome: Outcome, node: int, children: Sequence[int]
) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """H of a node and of its children given the node's parents; the others were not compared."""
    found = np.full(information.n_variables, np.inf, dtype=np.float32)
    given = tuple(sorted(outcome.boundaries[node].members))
    nodes = [node, *children]
    found[nodes] = information.entropies([Context(k, given) for k in nodes])
    return found
