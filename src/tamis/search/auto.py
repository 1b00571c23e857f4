"""The default, in two steps: the equivalence class by likelihood, the DAG by its noise entropies.

The searches of the paper run first, on the same counts. Each rests on a condition of its own, and
nobody knows which hold, so their DAGs are scored on the same rows. The order search (``orders``)
starts from theirs and looks for the class that fits best. What it finds replaces the DAG of a
search only with clear support: whichever way parent sets are priced, and together with how evenly
the noise entropies are spread (``directions``), which speaks for a DAG that meets the paper's
conditions. Within its class the answer is the likeliest member. Beyond the paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import accumulate
from operator import or_

import numpy as np

from tamis.constants import constants
from tamis.information.interface import LEVELS, Context, Query, Source
from tamis.parameters import Search
from tamis.search.boundaries import WIDE
from tamis.search.directions import Directions, directions
from tamis.search.members import NOT_CLAIMED, Edge, topological
from tamis.search.noise import evenness, most_even, unit_probability
from tamis.search.orders import (
    Ordering,
    best_ordering,
    by_entropy,
    climb,
    losses_beside,
    losses_without,
)
from tamis.search.outcome import Admission, Boundary, Found, Outcome, Rounds
from tamis.search.parents import ParentSelector
from tamis.search.selection import Selector
from tamis.search.tam import Progress, run, told_in_rounds, told_of
from tamis.settings import Settings

TRIED: tuple[Search, ...] = ("sequential", "sieve", "node")
"""The searches, that which wins ties first."""
REFINED = "refined"
SAME = "the same DAG"
"""Stands for a reading that was not searched, but scored on the DAG of another."""
SIDE_BY_SIDE = 16
"""Directions whose losses are looked for at once."""
NOT_SEARCHED = "nothing: not searched, being far behind on the same DAG"
RESTS_ON = {
    "node": "Condition 1 and the PPS condition",
    "layer": "the general version and the PPS condition",
    "reference": "the general version and the PPS condition",
    "sieve": "uncertainty that grows along every dependence, and the PPS condition on its way",
    "sequential": "the least uncertain node always being due, and the PPS condition on its way",
}
"""What must hold for each search to find the DAG, in words."""
LIKELIHOOD = "the likelihood, which gives the class, and exchangeable noise entropies within it"
"""What the refined DAG rests on."""


@dataclass(frozen=True)
class Tried:
    """What one search found: its DAG, the score of that, and how it came about."""

    search: str
    parents: Mapping[int, frozenset[int]]
    score: float
    order: Sequence[int] = ()
    """In which a search has admitted what varies."""
    together: frozenset[int] = frozenset()
    """Who has taken several parents at once, and those who were taken."""
    tell: Callable[[], Outcome] | None = None
    """How it came about, worked out when it is asked for; None for a refined DAG that does not
    replace that of a search."""
    selector: ParentSelector | None = None
    """With what was counted on the way, for whoever goes on from there."""
    directions: Directions | None = None
    """Of its class, where they were looked for."""
    evenness: float = 0.0
    """How evenly its noise entropies are spread."""
    occurring: Callable[[], float] = field(default=float)
    """Its score with parent sets priced by the states that occur, worked out where that decides."""
    weigh: Callable[[], Mapping[Edge, float]] = field(default=dict)
    """What the likelihood loses without the direction of an arrow that the class has: that takes
    as long as the search for the class, and only the answer is asked for it."""

    @property
    def merit(self) -> float:
        """What speaks for it: its score, and the weight of its noise entropies."""
        return self.score + self.evenness

    @property
    def n_edges(self) -> int:
        """The number of edges of its DAG."""
        return sum(map(len, self.parents.values()))

    def beats(self, other: Tried, *, clearly: bool, by: float = 0.0) -> bool:
        """Whether it is better; clearly so, if it is whichever way parent sets are priced."""
        if self.merit <= other.merit + by or not clearly:
            return self.merit > other.merit + by
        return self.occurring() + self.evenness > other.occurring() + other.evenness + by


def try_searches(
    information: Source, settings: Settings, progress: Progress | None = None
) -> list[Tried]:
    """Run the searches; the best comes first. Where the class is looked for by likelihood, only the
    first: others may confirm it (``with_refinement``)."""
    if settings.refine and information.scale_free() is None:
        return [_first(information, settings, progress)]
    first = _searched(information, settings, TRIED[0], progress)
    return _best_first([first, *(_searched(information, settings, one) for one in TRIED[1:])])


def _first(information: Source, settings: Settings, progress: Progress | None) -> Tried:
    """What "sequential" finds, by the loops of the order search, which goes on from there; how it
    came about is told by the search itself, if it turns out to be the answer."""
    if settings.boundary != "pps" or settings.backward == "together":
        return _searched(information, settings, TRIED[0], progress)
    selector = ParentSelector(Selector.of(information, settings))
    varying = [k for k in range(information.n_variables) if information.varies(k)]
    order, by_set, rounds = by_entropy(selector, varying, told_of(information, varying, progress))
    found = Ordering.along(selector, order)
    before = dict(zip(order, accumulate((1 << k for k in order), or_, initial=0), strict=False))
    boundaries = selector.selector.boundaries([(k, before[k]) for k in by_set]) if by_set else []

    def tell() -> Outcome:
        if rounds is not None and selector.counts_at_once:
            # Those who look ahead have been chosen anew since.
            return told_in_rounds(Selector.of(information, settings), settings, found, rounds)
        return run(information, settings.filled_in(search=TRIED[0]))

    return replace(
        _weighed(information, _tried(information, TRIED[0], found)),
        order=order,
        together=_together(boundaries),
        tell=tell,
        selector=selector,
    )


def _best_first(tried: Sequence[Tried]) -> list[Tried]:
    """What searches have found, the best first."""
    best = tried[0]
    for one in tried[1:]:
        if one.beats(best, clearly=True):
            best = one
    best = _credited(tried, best)
    return [best, *sorted((one for one in tried if one is not best), key=lambda one: -one.score)]


def _searched(
    information: Source, settings: Settings, search: Search, progress: Progress | None = None
) -> Tried:
    """What one search finds."""
    outcome = run(information, settings.filled_in(search=search), progress)
    return _of_outcome(information, search, outcome)


def _of_outcome(information: Source, search: Search, outcome: Outcome) -> Tried:
    """What a search has found, which is told as it is."""
    found = outcome.boundaries
    parents = {k: frozenset(found[k].members) for k in range(information.n_variables)}
    return replace(
        _weighed(information, Tried(search, parents, score_of(information, parents))),
        order=_order(information, outcome),
        together=_together(found.values()),
        tell=lambda: outcome,
    )


def _weighed(information: Source, one: Tried) -> Tried:
    """A DAG with what its noise entropies say, and its other price."""
    return replace(
        one,
        evenness=evenness(information, one.parents),
        occurring=partial(_occurring_score, information, one.parents),
    )


def _credited(tried: Sequence[Tried], best: Tried) -> Tried:
    """Where several searches found the best DAG, the one that finds layers, the paper's first.

    Of different DAGs that fit alike, "sequential" was right more often than masking.
    """
    same = [one for one in tried if one.parents == best.parents]
    return max(same, key=lambda one: TRIED.index(one.search))


def with_refinement(
    information: Source, settings: Settings, tried: Sequence[Tried], *, same_units: bool
) -> list[Tried]:
    """Look for the class that fits best, and for the likeliest DAG in it; the answer comes first.

    Entropies of numbers are compared between classes only where their units are said to be the
    same, or where classes fit alike.
    """
    selector = tried[0].selector or ParentSelector(Selector.of(information, settings))
    selector.look_ahead_at(_ahead(tried))
    free = information.scale_free()
    if free is None or same_units:
        confirm = cache(partial(_with_confirming, information, settings, tried))
        if _is_near_the_top(selector, tried[0]):
            tried = confirm()
        starts = [one.order for one in tried]
        found = best_ordering(selector, starts, first_may_do=_found_twice(tried))
        refined = _likeliest(information, settings, _tried(information, REFINED, found))
        tried, chosen = _better(information, settings, refined, tried, confirm)
    else:
        found = _free_ordering(free, selector, settings)
        refined = _likeliest(information, settings, _tried(information, REFINED, found))
        chosen = _of_alike(information, settings, refined, tried)
    answer = _told(information, selector, _ordering_of(selector, found, chosen), tried, chosen)
    rest = [one for one in (*tried, refined) if one.search != answer.search]
    return [answer, *sorted(rest, key=lambda one: -one.score)]


def _is_near_the_top(selector: ParentSelector, first: Tried) -> bool:
    """Whether moves from the order of a search lead hardly higher."""
    selector.allow(2)
    found = Ordering.along(selector, first.order)
    before = found.score
    climb(selector, [found])
    return found.score <= before + constants.clear_rise


def _better(
    information: Source,
    settings: Settings,
    refined: Tried,
    tried: Sequence[Tried],
    confirm: Callable[[], Sequence[Tried]],
) -> tuple[Sequence[Tried], Tried]:
    """The refined DAG or that of the best search, and the searches, with one that confirms it if
    that mattered.

    If the noise of the search's DAG is clearly more even, as the paper's conditions would have it,
    and another search finds it too, the refined one must be better whichever way parent sets are
    priced.
    """
    first = tried[0]
    by = information.score_noise * math.log(turns_of(first)) + (
        constants.alike if settings.units == "same" else 0.0
    )
    # However even its noise may be, a search that is far behind is not looked at again.
    is_behind = refined.merit > first.score + most_even(information) + by
    if is_behind and _is_clear(refined, first, by):
        return tried, refined
    best = _likeliest(information, settings, first)
    if not refined.beats(best, clearly=False, by=by):
        return tried, best
    if _is_clear(refined, best, by):
        return tried, refined
    tried = confirm()
    return tried, best if _found_twice(tried) else refined


def _is_clear(refined: Tried, best: Tried, by: float) -> bool:
    """Whether the refined DAG is better even if another search has found that of the best one."""
    is_as_even = best.evenness <= refined.evenness + constants.alike
    return is_as_even or refined.beats(best, clearly=True, by=by)


def _with_confirming(
    information: Source, settings: Settings, tried: Sequence[Tried]
) -> Sequence[Tried]:
    """The searches, with another that finds the DAG of the first, if one does; the paper's own is
    asked first."""
    for search in reversed(TRIED[1:] if len(tried) == 1 else ()):
        same = _confirmed(information, settings, search, tried[0].parents)
        if same is not None:
            return _best_first([*tried, same])
    return tried


def _confirmed(
    information: Source, settings: Settings, search: Search, parents: Mapping[int, frozenset[int]]
) -> Tried | None:
    """What a search finds, if it is this DAG."""
    outcome = run(information, settings.filled_in(search=search), expected=parents)
    found = {k: frozenset(one.members) for k, one in outcome.boundaries.items()}
    return _of_outcome(information, search, outcome) if found == parents else None


def _free_ordering(free: Source, selector: ParentSelector, settings: Settings) -> Ordering:
    """The order of the class that fits best, whatever the units: the searches run on columns
    brought to one scale."""
    outcomes = [run(free, settings.filled_in(search=search)) for search in TRIED]
    return best_ordering(selector, [_order(free, one) for one in outcomes], first_may_do=False)


def _of_alike(
    information: Source, settings: Settings, refined: Tried, tried: Sequence[Tried]
) -> Tried:
    """The class that fits best; or that of a search, if it fits alike with as many edges because
    effects cancel in it, and its noise is clearly spread more evenly, in units that can be
    compared.

    That is the paper's app. C.7. Other near ties are left to the likelihood, which has no units.
    """
    chosen = refined
    for one in tried:
        alike = one.score >= refined.score - constants.alike and one.n_edges == refined.n_edges
        if alike and _cancels(information, settings, one):
            other = _likeliest(information, settings, one)
            comparable = unit_probability(information, other.parents) > 0.5
            if comparable and other.evenness > chosen.evenness + constants.more_even:
                chosen = other
    return chosen


def _cancels(information: Source, settings: Settings, one: Tried) -> bool:
    """Whether some arrow joins two columns that look independent by themselves."""
    queries = [
        Query(k, (), np.array(sorted(members), dtype=np.int64))
        for k, members in one.parents.items()
        if members
    ]
    if not queries:
        return False
    strengths = settings.boundary_rule.strengths(information.tests(queries))
    return bool(strengths.min() < -math.log(constants.independent))


def _tried(information: Source, search: str, found: Ordering) -> Tried:
    """The DAG of an order, with the columns that never vary, which have no parents."""
    empty = {k: frozenset[int]() for k in range(information.n_variables)}
    constant = {k: empty[k] for k in empty if not information.varies(k)}
    scores = [*found.scores, score_of(information, constant)] if constant else found.scores
    return Tried(search, {**empty, **found.parents}, math.fsum(scores))


def _found_twice(tried: Sequence[Tried]) -> bool:
    """Whether another search has found the DAG of the best one."""
    return sum(one.parents == tried[0].parents for one in tried) > 1


def score_of(information: Source, parents: Mapping[int, frozenset[int]]) -> float:
    """The penalised likelihood of a DAG."""
    return math.fsum(information.penalised_likelihoods(_contexts(parents)).tolist())


def _occurring_score(information: Source, parents: Mapping[int, frozenset[int]]) -> float:
    """The likelihood of a DAG, with parent sets priced by the states that occur."""
    return math.fsum(information.occurring_likelihoods(_contexts(parents)).tolist())


def turns_of(one: Tried) -> int:
    """Every edge can be turned, and its end can go to any place: about 2 d ways each."""
    return 2 * max(one.n_edges, 1) * len(one.parents)


def probability_of(loss: float) -> float:
    """How likely a direction is that the class has, by what the likelihood loses without it."""
    return 1 / (1 + math.exp(-loss / constants.nats_per_doubt))


def _contexts(parents: Mapping[int, frozenset[int]]) -> list[Context]:
    return [Context(k, tuple(sorted(members))) for k, members in parents.items()]


def _likeliest(information: Source, settings: Settings, one: Tried) -> Tried:
    """The likeliest member of the class."""
    found = directions(
        information, one.parents, settings.constraints, same_units=settings.units == "same"
    )
    return _weighed(information, replace(one, parents=found.parents, directions=found))


def _order(information: Source, outcome: Outcome) -> list[int]:
    """The order in which a search has admitted what varies."""
    return [k for layer in outcome.layers for k in layer if information.varies(k)]


def _ordering_of(selector: ParentSelector, found: Ordering, chosen: Tried) -> Ordering:
    """An order whose DAG belongs to the class that was chosen."""
    if not chosen.order:
        return found
    ordering = Ordering.along(selector, chosen.order)
    ordering.beside = [*found.beside, found.end]
    return ordering


def _told(
    information: Source,
    selector: ParentSelector,
    found: Ordering,
    tried: Sequence[Tried],
    chosen: Tried,
) -> Tried:
    """The answer with how it came about: credited to a search that has found it."""
    own = _credited(tried, chosen) if any(o.parents == chosen.parents for o in tried) else None
    if own is not None:
        answer = replace(chosen, search=own.search, tell=own.tell)
    else:
        tell = partial(_outcome, information, selector, found, chosen.parents)
        answer = replace(chosen, search=REFINED, tell=tell)
    return replace(answer, weigh=partial(_losses, information, selector, found, chosen))


def _losses(
    information: Source,
    selector: ParentSelector,
    found: Ordering,
    chosen: Tried,
) -> dict[Edge, float]:
    """What the likelihood loses without each direction that the class has; in dense graphs it is
    looked for while as many selections are made as new starts may take, and the rest of the
    directions, whose losses are only known to be no larger, stay below what is claimed. So do
    arrows from a number to a level: how the likelihood takes them hangs on the number's law. Orders
    that new starts have come to say the same of all directions at once."""
    compelled = chosen.directions.compelled if chosen.directions else set[Edge]()
    most = selector.n_made + selector.affordable
    selector.allow(2)
    unclaimed = constants.nats_per_doubt * math.log(NOT_CLAIMED / (1 - NOT_CLAIMED))
    kinds = information.entropy_kinds()
    edges = [(p, k) for p, k in sorted(compelled) if found.place(p) < found.place(k)]
    losses = dict(zip(edges, losses_beside(found, edges), strict=True))
    for start in range(0, len(edges), SIDE_BY_SIDE):
        some = edges[start : start + SIDE_BY_SIDE]
        within = selector.n_made <= most
        lost = losses_without(selector, found, some, climbs=within)
        is_known = within and not selector.is_spent
        for edge, own in zip(some, lost, strict=True):
            by_law = kinds[edge[0]] != LEVELS and kinds[edge[1]] == LEVELS
            loss = min(own, losses[edge])
            losses[edge] = loss if is_known and not by_law else min(loss, unclaimed)
    return losses


def _ahead(tried: Sequence[Tried]) -> frozenset[int]:
    """Where looking ahead has paid in one of the searches."""
    return frozenset().union(*(one.together for one in tried))


def _together(boundaries: Iterable[Boundary]) -> frozenset[int]:
    """Where several parents were taken at once. A parity may as well be turned around, so the
    parents are among them."""
    return frozenset(
        k
        for boundary in boundaries
        for step in boundary.taken
        if len(step.others) > 1
        for k in (step.target, *step.others)
    )


def _outcome(
    information: Source,
    selector: ParentSelector,
    found: Ordering,
    parents: Mapping[int, frozenset[int]],
) -> Outcome:
    """A DAG as a search leaves it behind: one node a layer, with its boundary."""
    constant = [k for k in parents if not information.varies(k)]
    place = {k: i for i, k in enumerate(found.order)}
    order = topological({k: parents[k] for k in found.order}, place.__getitem__)
    own = selector.selector

    def turned(k: int, selected: Sequence[int]) -> Boundary | None:
        """That of a node whose parents were not selected but follow from others' directions."""
        if parents[k] == set(selected):
            return None
        return own.boundary_of(k, order.index(k), sorted(parents[k], key=place.__getitem__))

    @cache
    def boundaries() -> dict[int, Boundary]:
        each = own.boundaries_along(order, constant).items()
        return {k: turned(k, one.members) or one for k, one in each}

    outcome = Outcome(
        [[k] for k in (*constant, *order)],
        tell_boundaries=boundaries,
        tell_rounds=lambda: _rounds_of(information, boundaries()),
    )
    # Of wide tables boundaries take so long that whoever fits waits for them, not whoever looks.
    if selector.counts_at_once and selector.n_variables <= WIDE:
        known = Ordering.along(selector, order).told(own, constant)
        each = ((k, turned(k, known[k].members)) for k in order)
        outcome.known = known | {k: Found(one.members, one.entropy) for k, one in each if one}
        if own.backward and not own.pps.required:
            outcome.tell_strengths = partial(own.strengths, order, outcome.known)
    return outcome


def _rounds_of(information: Source, boundaries: Mapping[int, Boundary]) -> Rounds:
    """H of each node and of its children given the node's parents; the others were not compared."""
    told = Rounds()
    families = {k: [k] for k in boundaries}
    for k, boundary in boundaries.items():
        for parent in boundary.members:
            families[parent].append(k)
    given = {k: tuple(sorted(one.members)) for k, one in boundaries.items()}
    entropies = iter(
        information.entropies(
            [Context(one, given[k]) for k, nodes in families.items() for one in nodes]
        ).tolist()
    )
    for number, (k, nodes) in enumerate(families.items()):
        found = np.full(information.n_variables, np.inf, dtype=np.float32)
        found[nodes] = [next(entropies) for _ in nodes]
        told.uncertainties.append(found)
        told.admissions.append(Admission(k, number, boundaries[k].entropy, None, None, None))
    return told
