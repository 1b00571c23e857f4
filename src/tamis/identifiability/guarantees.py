"""Which searches recover a network for certain once information is exact.

Each search is followed as it would run, with PPS and thresholds below all gaps:

- "node" (Algorithm alg:uneq:withpps) needs Condition 1 and the PPS condition (Theorem thm:main);
- "layer" and "reference" (alg:uneq) need the general version and the PPS condition;
- "sequential" needs that the least uncertain node is always due, however ties are broken, and the
  PPS condition in each ancestral set on its way.

The paper's proof puts I(X_k ; X_i | m_jk), which the algorithm with PPS computes, for
I(X_k ; X_i | A_j), which the condition speaks of. The first can be 0 while the second is not, on
binary networks that satisfy all that thm:main asks for (docs/departures.md), so it is asked for
here.

Without PPS (``boundary="none"``, Theorem thm:nopps) every node is conditioned on the whole
ancestral set; in place of the PPS condition Delta_I > 0 lets the backward phase find the parents.

A guarantee is sufficient, not necessary. ``recovers`` says what a search really does with exact
information, backward phase included. The theorems speak of the algorithms as printed, without one
after PPS; so these are run as well (``tamis.search.paper``). Where nodes tie, which comes first is
chance: a graph counts as recovered only if it comes back with ties broken by name and the other way
round.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from tamis.decisions.rule import Fixed
from tamis.identifiability.conditions import TOLERANCE, UNDECIDABLE
from tamis.identifiability.known import Known
from tamis.identifiability.pps_condition import Selection, Unselected, select
from tamis.identifiability.unequal_entropy import Ancestor, Place, ancestral_sets_on_the_way
from tamis.information.interface import Source
from tamis.learning import search as run_search
from tamis.metrics import edge_distance
from tamis.parameters import Boundary, Search
from tamis.search import paper
from tamis.search.default import RESTS_ON
from tamis.settings import Settings

WITHOUT_PPS = {
    "node": "Condition 1, and parents that show given all others before (Delta_I > 0)",
    "layer": "the general version, and parents that show given all others before",
    "sequential": "the least uncertain node always being due, and parents that show then",
}
"""What must hold for the searches that condition on the whole ancestral set."""
PRINTED = {"alg:uneq:withpps": "pps", "alg:uneq:short": "none"}
"""The algorithms of the paper that return a graph, and how they find boundaries: by PPS, or by
IAMB's backward phase from the whole ancestral set. Their guarantees are those of "node"."""

WITH_PPS = ("node", "layer", "reference", "sequential")
"""The searches that select boundaries by PPS."""

Learner = Callable[[Source], Mapping[int, Collection[int]]]
"""From exact information to the parents of each node."""


@dataclass(frozen=True)
class SearchVerdict:
    """What one search does on one network."""

    search: str
    boundary: str
    """"pps", or "none" for the whole ancestral set."""
    guaranteed: bool | None
    """Whether the conditions it rests on all hold; None if that could not be decided."""
    recovers: bool | None
    """Whether it returns the network's graph from exact information; None if not run."""
    distance: int | None
    """The structural Hamming distance of what it returns from that graph."""

    @property
    def rests_on(self) -> str:
        """The conditions behind the guarantee, in words."""
        return RESTS_ON[self.search] if self.boundary == "pps" else WITHOUT_PPS[self.search]

    def to_dict(self) -> dict[str, object]:
        """Convert it to what JSON can hold."""
        return {
            "boundary": self.boundary,
            "guaranteed": self.guaranteed,
            "recovers": self.recovers,
            "distance": self.distance,
            "rests_on": self.rests_on,
        }


def guaranteed(
    known: Known, places: Sequence[Place], selections: Sequence[Selection | Unselected]
) -> dict[str, bool | None]:
    """The searches by name, each with its guarantee."""
    selected = _all_selected(known, selections)
    layer = _and(selected, _masked(known, places, selections, general=True))
    return {
        "node": _and(selected, _masked(known, places, selections, general=False)),
        "layer": layer,
        "reference": layer,
        "sequential": _sequential(known),
    }


def guaranteed_without_pps(known: Known, places: Sequence[Place]) -> dict[str, bool | None]:
    """The searches that need no PPS, each with its guarantee."""
    showing = _parents_show(known, known.canonical[:-1])
    return {
        "node": _and(showing, _all_places(places, lambda a: min(a.lead, a.gain))),
        "layer": _and(showing, _all_places(places, lambda a: min(a.lead, a.joint_gain))),
        "sequential": _sequential_without_pps(known),
    }


def _all_places(places: Sequence[Place], slack: Callable[[Ancestor], float]) -> bool | None:
    return _and(
        *(
            None if place.ancestors is None else max(map(slack, place.ancestors)) > TOLERANCE
            for place in places
        )
    )


def _parents_show(known: Known, sets: Iterable[frozenset[int]]) -> bool | None:
    """Whether each parent of a node that is due informs about it given all others before."""
    try:
        return all(
            known.information.gain(k, [p], A - {p}) > TOLERANCE
            for A in sets
            for k in known.sources(A)
            for p in known.parents[k]
        )
    except UNDECIDABLE:
        return None


def _sequential_without_pps(known: Known) -> bool | None:
    try:
        on_the_way = ancestral_sets_on_the_way(known)
    except UNDECIDABLE:
        return None
    return False if on_the_way is None else _parents_show(known, on_the_way)


def _and(*verdicts: bool | None) -> bool | None:
    if False in verdicts:
        return False
    return None if None in verdicts else True


def _all_selected(known: Known, selections: Sequence[Selection | Unselected]) -> bool | None:
    """Whether PPS finds every boundary, and the last one of each node is its parents."""
    verdicts = [
        None if isinstance(one, Unselected) else _selected(known, one) for one in selections
    ]
    return _and(*verdicts)


def _selected(known: Known, one: Selection) -> bool:
    due = one.j == known.layer_of[one.node]
    right = not due or set(one.boundary) == set(known.parents[one.node])
    return right and one.lead > TOLERANCE


def _masked(
    known: Known,
    places: Sequence[Place],
    selections: Sequence[Selection | Unselected],
    *,
    general: bool,
) -> bool | None:
    """Whether every node beyond a layer meets an ancestor in it that masks it, in time."""
    boundary = {(one.node, one.j): one.boundary for one in selections if isinstance(one, Selection)}
    boundary |= {(k, 0): () for k in range(known.n_variables)}
    verdicts: list[bool | None] = []
    for place in places:
        try:
            verdicts.append(_mask_of(known, place, boundary.get((place.node, place.j)), general))
        except UNDECIDABLE:
            verdicts.append(None)
    return _and(*verdicts)


def _mask_of(
    known: Known, place: Place, boundary: tuple[int, ...] | None, general: bool
) -> bool | None:
    if place.ancestors is None or boundary is None:
        return None
    for ancestor in place.ancestors:
        if ancestor.lead > TOLERANCE:
            with_it = ancestor.helpers if general else (ancestor.node,)
            if known.information.gain(place.node, with_it, boundary) > TOLERANCE:
                return True
    return False


def _sequential(known: Known) -> bool | None:
    try:
        on_the_way = ancestral_sets_on_the_way(known)
        if on_the_way is None:
            return False
        return _and(*(_pps_at(known, A) for A in on_the_way))
    except UNDECIDABLE:
        return None


def _pps_at(known: Known, A: frozenset[int]) -> bool:
    """Whether PPS is right for every node outside one ancestral set."""
    due = known.sources(A)
    for k in known.beyond(A):
        one = select(known, k, A)
        if one.boundary and one.lead <= TOLERANCE:
            return False
        if k in due and set(one.boundary) != set(known.parents[k]):
            return False
    return True


def searched(search: str, boundary: str) -> Learner:
    """A search of tamis."""
    rule = Fixed(TOLERANCE)
    settings = Settings(cast(Search, search), rule, rule, boundary=cast(Boundary, boundary))

    def learn(source: Source) -> Mapping[int, Collection[int]]:
        outcome = run_search(source, settings)
        return {k: boundary.members for k, boundary in outcome.found.items()}

    return learn


def as_printed(algorithm: str) -> Learner:
    """An algorithm of the paper to the letter."""

    def learn(source: Source) -> Mapping[int, Collection[int]]:
        if PRINTED[algorithm] == "pps":
            return paper.tam(source, TOLERANCE, TOLERANCE)[0]
        return paper.algorithm_1(source, TOLERANCE, _backward)[0]

    return learn


def _backward(X: Source, k: int, A: Collection[int]) -> Collection[int]:
    return paper.iamb_backward(X, k, A, TOLERANCE)


def recovered(known: Known, learn: Learner) -> tuple[bool | None, int | None]:
    """Learn from exact information; whether that returns the graph, and how far from it.

    A search that has gone astray asks about sets that no condition needs, and that can take
    hours; so it is followed only as far as small tables go.
    """
    distance = 0
    for source in (known.frugal, known.frugal_backwards):
        try:
            found = learn(source)
        except UNDECIDABLE:
            return None, None
        name = source.names
        learned = {(name[p], name[k]) for k, members in found.items() for p in members}
        distance = edge_distance(learned, set(known.network.graph.edges))
        if distance:
            break
    return distance == 0, distance
