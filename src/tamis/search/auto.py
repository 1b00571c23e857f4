"""The best of the searches, by the likelihood of what they found, and its refinement.

Each search rests on a condition of its own, and nobody knows which hold. So all are run on the
same counts, their DAGs are scored on the same rows, and one that is better beyond noise replaces
"sequential"'s. Then the order is refined (``refine``). The refined DAG replaces the one the
entropies found only where it is better beyond noise: otherwise among graphs that fit alike the
entropies keep the orientation. Beyond the paper.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tamis.information.interface import Context, Information
from tamis.search.outcome import Admission, Outcome
from tamis.search.refine import Refined, refine
from tamis.search.selection import Selector
from tamis.search.tam import Progress, Settings, run

TRIED = ("sequential", "sieve", "node")
"""The searches, that which wins ties first."""
REFINED = "refined"
SAME = "the same DAG"
"""Stands for a reading that was not searched, but scored on the DAG of another."""
NOT_SEARCHED = "nothing: not searched, being far behind on the same DAG"
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
DEVIANCE = 0.5
"""A search replaces "sequential" if its score is higher by more than this share of the logarithm of
the number of turns; chosen on seeds of its own (docs/best-by-default.md)."""
ROUNDING = 1e-6
"""Scores of equivalent graphs differ by less than this, in nats."""


@dataclass(frozen=True)
class Tried:
    """What one search found: its DAG, the score of that, and how it came about."""

    search: str
    parents: Mapping[int, frozenset[int]]
    score: float
    outcome: Outcome | None = None
    """None for a refined DAG that was not better beyond noise."""

    @property
    def n_edges(self) -> int:
        """The number of edges of its DAG."""
        return sum(map(len, self.parents.values()))


def try_searches(
    information: Information, settings: Settings, progress: Progress | None = None
) -> list[Tried]:
    """Run the searches; the best comes first."""
    tried = []
    for i, search in enumerate(TRIED):
        outcome = run(information, replace(settings, search=search), _part(progress, i))
        parents = {k: frozenset(one.members) for k, one in outcome.boundaries.items()}
        tried.append(Tried(search, parents, score_of(information, parents), outcome))
    best = tried[0]
    for one in tried[1:]:
        if one.score > best.score + DEVIANCE * _log_turns(information, best.n_edges):
            best = one
    best = _credited(tried, best)
    return [best, *sorted((one for one in tried if one is not best), key=lambda one: -one.score)]


def _credited(tried: Sequence[Tried], best: Tried) -> Tried:
    """Where several searches found the best DAG, the one that finds layers, the paper's first.

    Of different DAGs that fit alike, "sequential" was right more often than masking.
    """
    same = [one for one in tried if one.parents == best.parents]
    return same[-1]


def with_refinement(
    information: Information, settings: Settings, tried: Sequence[Tried]
) -> list[Tried]:
    """Refine the best of what was tried; it comes first if it replaces that one."""
    best, *others = tried
    selector = _selector(information, settings)
    found = _refined(information, selector, best)
    if not found.moves:
        return list(tried)
    parents = {**best.parents, **{k: frozenset(one.members) for k, one in found.selected.items()}}
    refined = Tried(REFINED, parents, score_of(information, parents))
    if refined.score > best.score + found.chances * noise(information, best.n_edges):
        outcome = _outcome(information, selector, found)
        return [replace(refined, outcome=outcome), best, *others]
    return [best, *sorted((refined, *others), key=lambda one: -one.score)]


def score_of(information: Information, parents: Mapping[int, frozenset[int]]) -> float:
    """The penalised likelihood of a DAG."""
    contexts = [Context(k, tuple(sorted(members))) for k, members in parents.items()]
    return math.fsum(information.penalised_likelihoods(contexts).tolist())


def noise(information: Information, n_edges: int) -> float:
    """How much moving nodes may raise the score by chance."""
    return information.score_noise * _log_turns(information, n_edges)


def _log_turns(information: Information, n_edges: int) -> float:
    """Every edge can be turned, and its end can go to any place: about 2 d ways each."""
    return math.log(2 * max(n_edges, 1) * information.n_variables)


def _part(progress: Progress | None, i: int) -> Progress | None:
    """The i-th search's share of the way."""
    if progress is None:
        return None
    whole = progress
    told = -1

    def report(done: int, total: int) -> None:
        nonlocal told
        now = (i * total + done) // len(TRIED)
        if now > max(told, i * total // len(TRIED)):
            told = now
            whole(now, total)

    return report


def _selector(information: Information, settings: Settings) -> Selector:
    ahead = settings.look_ahead
    return Selector(
        information,
        settings.boundary_rule,
        information.interactions(ahead) if ahead > 1 else None,
        backward=settings.backward != "none",
        max_boundary=settings.max_boundary,
        constraints=settings.constraints,
    )


def _refined(information: Information, selector: Selector, best: Tried) -> Refined:
    """The order of the best DAG after all moves that raise its score."""
    layers = best.outcome.layers if best.outcome is not None else []
    order = [k for layer in layers for k in layer]
    varying = [k for k in order if information.varies(k)]
    return refine(selector, varying, ROUNDING, noise(information, best.n_edges))


def _outcome(information: Information, selector: Selector, found: Refined) -> Outcome:
    """The refined order as a search leaves it behind: one node a layer, with its boundary."""
    outcome = Outcome(moves=list(found.moves))
    constant = [k for k in range(information.n_variables) if not information.varies(k)]
    for place, k in enumerate((*constant, *found.order)):
        boundary = selector.boundary(k, found.order[: max(place - len(constant), 0)])
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
