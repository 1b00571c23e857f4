"""The default: the equivalence class that fits best, and in it the DAG whose noise is most even.

    first   = the DAG of "least conditional entropy next", the paper's cond:uneq1
    best    = the DAG of the best order that climbs and new starts find from there
    member  = of a class, the DAG whose noise entropies are most even (directions.py)
    answer  = the better of best and first, by score and evenness

Orders are searched in C++ (core/orders.hpp) by what a judge says of families: counts in a two-part
code, moments, or a source's own likelihood, less the logarithm of the number of columns for every
edge. "sequential" is the first DAG alone. Beyond the paper.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import groupby

import numpy as np

from tamis.constants import constants
from tamis.core import Dag, Judge, OrderSearch, Table
from tamis.decisions.p_values import PValue
from tamis.information.interface import LEVELS, Ability, Context, Query, Source
from tamis.search.directions import Directions, directions
from tamis.search.layered import run
from tamis.search.members import NOT_CLAIMED, Edge, topological
from tamis.search.noise import evenness, most_even, unit_probability
from tamis.search.outcome import Admission, Boundary, Decision, Found, Outcome, Rounds
from tamis.settings import Settings

FIRST, ORDERS = "sequential", "orders"
RESTS_ON = {
    "node": "Condition 1 and the PPS condition",
    "layer": "the general version and the PPS condition",
    "reference": "the general version and the PPS condition",
    "paper": "Condition 1 and the PPS condition",
    FIRST: "the least uncertain node always being due, and the PPS condition on its way",
    ORDERS: "the likelihood, which gives the class, and exchangeable noise entropies within it",
}
"""What must hold for each search to find the DAG, in words."""
ENOUGH = 1e-6
"""A difference of scores below this is rounding."""


@dataclass(frozen=True)
class Candidate:
    """A DAG that was found: by which search, along which order, and its score; once its class was
    looked at, the directions in that and how even its noise entropies are."""

    search: str
    order: tuple[int, ...]
    parents: Mapping[int, frozenset[int]]
    score: float
    directions: Directions | None = None
    evenness: float = 0.0

    @property
    def merit(self) -> float:
        """What speaks for it: its score, and the weight of its noise entropies."""
        return self.score + self.evenness

    @property
    def n_edges(self) -> int:
        """The number of edges."""
        return sum(map(len, self.parents.values()))


class DefaultSearch:
    """One run of the default on a source, or of "sequential"."""

    def __init__(self, source: Source, settings: Settings) -> None:
        self.source, self.settings = source, settings
        varying = [k for k in range(source.n_variables) if source.varies(k)]
        self.constant = [k for k in range(source.n_variables) if not source.varies(k)]
        self._judge_of = partial(judge_of, source, settings)
        self.nodes, seed = self._in_order_of_data(varying)
        self.judge = self._judge_of(self.nodes)
        required, forbidden = self._knowledge()
        self._place = {k: i for i, k in enumerate(self.nodes)}
        self._search = OrderSearch(
            self.judge,
            required,
            forbidden,
            self._sets(),
            seed,
            settings.max_boundary,
        )

    def _sets(self) -> Sequence[Sequence[Sequence[int]]]:
        """Of each node, the sets that speak of it only together, where they are counted."""
        if self.settings.look_ahead == 1:
            return ()
        if isinstance(self.judge, Table):
            return self.judge.interactions()
        if Ability.LOOK_AHEAD not in self.source.abilities:
            return ()
        found = self.source.interactions(self.source.worthwhile_look_ahead())
        place = {k: i for i, k in enumerate(self.nodes)}
        return [[sorted(place[p] for p in one.members) for one in found[k]] for k in self.nodes]

    def _in_order_of_data(self, nodes: Sequence[int]) -> tuple[list[int], int]:
        """The nodes in an order that hangs on what the data say of them, by name only where they
        say the same, and a seed from it: neither names nor places are to decide anything."""
        judge, names = self._judge_of(nodes), self.source.names
        alone = [_digits(judge.family(i, ())) for i in range(len(nodes))]
        found: list[int] = []
        for _, tied in groupby(sorted(range(len(nodes)), key=alone.__getitem__), alone.__getitem__):
            same = list(tied)
            if len(same) > 1:
                pairs = {i: _pairs(judge, i, len(nodes)) for i in same}
                same.sort(key=lambda i: (pairs[i], names[nodes[i]]))
            found += same
        seed = zlib.crc32(repr(sorted(alone)).encode())
        return [nodes[i] for i in found], seed

    def _knowledge(self) -> tuple[list[list[int]], list[list[int]]]:
        """Required parents and forbidden ones, by place among the nodes."""
        known = self.settings.constraints
        if known is None:
            return [], []
        place = {k: i for i, k in enumerate(self.nodes)}
        required = [sorted(place[p] for p in self._required(k)) for k in self.nodes]
        forbidden = [[known.blocked[k] >> p & 1 for p in self.nodes] for k in self.nodes]
        return required, forbidden

    # --- what is found ----------------------------------------------------------------------------

    @cached_property
    def first(self) -> Candidate:
        """The DAG of "least conditional entropy next"."""
        return self._candidate(FIRST, self._search.first())

    @cached_property
    def best(self) -> Candidate:
        """The DAG of the best order, most even in its class."""
        return self._most_even(self._candidate(ORDERS, self._search.best()))

    @cached_property
    def candidates(self) -> list[Candidate]:
        """The answer, and what else was found."""
        best = self.best
        if self.source.scale_free() is None or self.settings.units == "same":
            others = [self.first]
            found = [self._most_even(one) for one in others if not self._cannot_win(one, best)]
            better = [one for one in found if one.merit > best.merit + ENOUGH]
        else:
            others = self._alike(best)
            better = [one for one in others if one.evenness > best.evenness + constants.more_even]
        rest = [one for one in (best, *others) if not better or one.search != better[0].search]
        return [*better[:1], *rest]

    def _cannot_win(self, first: Candidate, best: Candidate) -> bool:
        """Whether no evenness makes up for what the first DAG scores less."""
        return first.score + most_even(self.source) <= best.merit

    def _alike(self, best: Candidate) -> list[Candidate]:
        """Of numbers in units that the table shows to be comparable: what the paper's Algorithm 3
        finds, if it fits alike because effects cancel in it, as in app. C.7."""
        if unit_probability(self.source, best.parents) <= 0.5:
            return []
        test = {"boundary_rule": PValue(0.001), "masking_rule": PValue(0.01)}
        settings = self.settings.filled_in(search="node", look_ahead=1, **test)
        outcome = run(self.source, settings)
        parents = {k: frozenset(one.members) for k, one in outcome.found.items()}
        order = tuple(k for layer in outcome.layers for k in layer if k in self._place)
        one = Candidate("node", order, parents, self._score(parents))
        fits = one.score >= best.score - constants.alike and one.n_edges == best.n_edges
        if not fits or not self._cancels(one):
            return []
        even = self._most_even(one)
        return [even] if unit_probability(self.source, even.parents) > 0.5 else []

    def _score(self, parents: Mapping[int, frozenset[int]]) -> float:
        return math.fsum(self._family(k, parents[k])[0] for k in self.nodes)

    def _cancels(self, one: Candidate) -> bool:
        """Whether some arrow joins two columns that look independent by themselves."""
        queries = [Query(k, (), np.array(sorted(own))) for k, own in one.parents.items() if own]
        log_p = self.source.tests(queries).log_p if queries else None
        return log_p is not None and float(log_p.max()) > math.log(constants.independent)

    def _candidate(self, search: str, dag: Dag) -> Candidate:
        nodes = self.nodes
        parents = {k: frozenset[int]() for k in self.constant}
        parents |= {k: frozenset(nodes[p] for p in dag.parents[i]) for i, k in enumerate(nodes)}
        order = tuple(nodes[i] for i in dag.order)
        return Candidate(search, order, parents, math.fsum(dag.scores))

    def _most_even(self, one: Candidate) -> Candidate:
        """The likeliest member of its class."""
        found = directions(
            self.source,
            one.parents,
            self.settings.constraints,
            same_units=self.settings.units == "same",
        )
        place = {k: i for i, k in enumerate(one.order)}
        order = topological({k: found.parents[k] for k in one.order}, place.__getitem__)
        return replace(
            one,
            order=tuple(order),
            parents=found.parents,
            directions=found,
            evenness=evenness(self.source, found.parents),
        )

    def losses(self, one: Candidate) -> dict[Edge, float]:
        """What the score loses without each direction that the whole class has.

        An arrow from a number to a level stays below what is claimed: how the likelihood takes it
        hangs on the law of the number.
        """
        place = self._place
        kinds = self.source.entropy_kinds()
        unclaimed = constants.nats_per_doubt * math.log(NOT_CLAIMED / (1 - NOT_CLAIMED))
        losses = {}
        for p, k in sorted(one.directions.compelled if one.directions else ()):
            lost = self._search.loss_without(place[p], place[k])
            by_law = kinds[p] != LEVELS and kinds[k] == LEVELS
            losses[p, k] = min(lost, unclaimed) if by_law else lost
        return losses

    # --- how it came about ------------------------------------------------------------------------

    def outcome(self, one: Candidate) -> Outcome:
        """The DAG as searches leave it behind, one node a layer; the steps by which each node chose
        its parents are worked out when they are asked for."""
        order = [*self.constant, *one.order]
        given = [Context(k, tuple(sorted(one.parents[k]))) for k in order]
        entropies = dict(zip(order, self.source.entropies(given).tolist(), strict=True))
        known = {k: Found(tuple(sorted(one.parents[k])), entropies[k]) for k in order}
        outcome = Outcome([[k] for k in order], known=known)
        outcome.tell_boundaries = lambda: {
            k: self._story(k, order[:i], known[k]) for i, k in enumerate(order)
        }
        outcome.tell_rounds = lambda: self._rounds(order, known)
        return outcome

    def _story(self, k: int, before: Sequence[int], found: Found) -> Boundary:
        """The parents of a node after those that knowledge requires, in the order in which each
        adds most, the best of the others, and what each is worth beside all others."""
        required = self._required(k)
        taken: list[Decision] = []
        given = list(required)
        while left := [p for p in found.members if p not in given]:
            step = max((self._step(k, given, (p,)) for p in left), key=lambda one: one.strength)
            # Where none adds anything alone, the rest speaks only together.
            taken.append(step if step.dependent else self._step(k, given, tuple(left)))
            given += taken[-1].others
        if not all(step.dependent for step in taken):
            taken = []  # they came with the directions that were chosen
        others = [p for p in before if p not in given and self._may_be_parent(p, k)]
        best = [self._step(k, given, (self._best(k, given, others),))] if others else []
        beside = [
            self._step(k, [q for q in given if q != p], (p,))
            for p in found.members
            if p not in required
        ]
        return Boundary(
            k,
            *found,
            taken=tuple(taken),
            # It may add something where there is room for no more parents.
            refused=next((step for step in best if not step.dependent), None),
            retained=tuple(step for step in beside if step.dependent),
        )

    def _required(self, k: int) -> tuple[int, ...]:
        known = self.settings.constraints
        return () if known is None else tuple(sorted(known.required.get(k, ())))

    def _may_be_parent(self, parent: int, child: int) -> bool:
        known = self.settings.constraints
        return parent in self._place and not (known and known.blocked[child] >> parent & 1)

    def _best(self, k: int, given: Sequence[int], candidates: Sequence[int]) -> int:
        place = self._place
        scores = self.judge.scores_with(
            place[k], [place[p] for p in given], [place[p] for p in candidates]
        )
        return candidates[int(scores.argmax())]

    def _step(self, k: int, given: Sequence[int], others: tuple[int, ...]) -> Decision:
        """What some columns add to the score of a node given others, and to its information."""
        before, after = self._family(k, given), self._family(k, (*given, *others))
        cmi, rise = before[1] - after[1], after[0] - before[0]
        return Decision(k, others, tuple(sorted(given)), cmi, rise, 0.0, rise > ENOUGH)

    def _family(self, k: int, given: Collection[int]) -> tuple[float, float]:
        place = self._place
        return self.judge.family(place[k], [place[p] for p in given])

    def _rounds(self, order: Sequence[int], known: Mapping[int, Found]) -> Rounds:
        """H of each node and of its children given the node's parents; the others were not
        compared."""
        told = Rounds()
        families = {k: [k] for k in order}
        for k in order:
            for parent in known[k].members:
                families[parent].append(k)
        asked = [Context(one, known[k].members) for k in order for one in families[k]]
        entropies = iter(self.source.entropies(asked).tolist())
        for number, k in enumerate(order):
            found = np.full(self.source.n_variables, np.inf, dtype=np.float32)
            found[families[k]] = [next(entropies) for _ in families[k]]
            told.uncertainties.append(found)
            told.admissions.append(Admission(k, number, known[k].entropy, None, None, None))
        return told


def judge_of(source: Source, settings: Settings, nodes: Sequence[int]) -> Judge:
    """What says how good families are, of nodes that vary.

    "sequential" compares entropies of numbers as they are, which the paper does; the default's
    class must not hang on units.
    """
    price = settings.edge_price * math.log(max(len(nodes), 1))
    same_units = settings.units == "same" or settings.search == FIRST
    return source.judge(nodes, edge_price=price, same_units=same_units)


def score_of(source: Source, parents: Mapping[int, frozenset[int]]) -> float:
    """The penalised likelihood of a DAG, by the source itself: what readings are compared by."""
    contexts = [Context(k, tuple(sorted(own))) for k, own in parents.items()]
    return math.fsum(source.penalised_likelihoods(contexts).tolist())


def probability_of(loss: float) -> float:
    """How likely a direction is that the class has, by what the score loses without it."""
    return 1 / (1 + math.exp(-min(loss / constants.nats_per_doubt, 700.0)))


def _digits(family: tuple[float, float]) -> tuple[float, float]:
    """As many digits as do not hang on the order in which numbers were added up."""
    score, noise = family
    return float(f"{score:.7g}"), float(f"{noise:.7g}")


def _pairs(judge: Judge, target: int, n_nodes: int) -> list[float]:
    """What the others say of a node, each alone, in no order."""
    others = [k for k in range(n_nodes) if k != target]
    return sorted(float(f"{one:.9g}") for one in judge.scores_with(target, (), others))
