"""TAM on a table: the algorithms of ``paper`` themselves, with a rule where they have a threshold.

``paper.tam`` is "node" and "paper", ``paper.tam_general`` is "layer" and "reference". They start
over after every layer, which costs little where a source remembers its answers. Beyond the paper
are background knowledge, rules corrected for the number of candidates, a backward phase after PPS,
and the record of every decision.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

import numpy as np

from tamis.errors import SettingError
from tamis.information.interface import Group, Source
from tamis.search import paper
from tamis.search.boundary import Selection
from tamis.search.outcome import Admission, Boundary, Decision, Masking, Outcome
from tamis.search.own_boundary import own_search
from tamis.search.remembered import Remembered
from tamis.settings import Settings

Progress = Callable[[int, int], None]
"""Called with the number of nodes admitted so far and the number of all nodes."""


def run(source: Source, settings: Settings, progress: Progress | None = None) -> Outcome:
    """Learn the DAG: layers and, for each node, the boundary that is its set of parents."""
    X = Remembered(source, settings.boundary_rule, settings.constraints)
    search = Search(X, settings, progress)
    if settings.search in ("node", "paper"):
        # PPS is in what takes its place, and so is kappa.
        paper.tam(X, search.masked, 0.0, search.members, search.waiting)
    elif settings.search in ("layer", "reference"):
        # Columns that were cut at quantiles all tie: on a table a tie says nothing.
        paper.tam_general(X, search.masked, search.members, search.waiting, ties=False)
    elif settings.search == "sequential":
        sequential(X, search.members, search.waiting)
    else:
        raise SettingError(f"search={settings.search!r} does not go by layers")
    return search.told()


def sequential(
    X: Source, MB: paper.MarkovBoundary, waiting: Callable[[paper.Nodes], paper.Nodes]
) -> None:
    """Theorem `thm:ident:unequal1`: the node of least conditional entropy comes next."""
    V = set(range(X.n_variables))
    A = {k for k in V if not X.varies(k)}
    while left := V - A:
        h = {k: paper.H(X, k, MB(X, k, A)) for k in left}
        A = A | {min(left - waiting(left), key=lambda k: (h[k], k))}


class Search:
    """What the algorithms of the paper ask in the course of a run, and the record of the answers.

    Columns that never vary enter the first layer; they are nobody's candidates and mask nobody.
    """

    def __init__(self, X: Remembered, settings: Settings, progress: Progress | None) -> None:
        self._X, self._settings, self._progress = X, settings, progress
        self._constant = {k for k in range(X.n_variables) if not X.varies(k)}
        self._selection = Selection(
            X,
            limit=settings.max_boundary,
            inclusive=settings.is_reference,
            backward=settings.backward,
        )
        self._outcome = Outcome()
        self._A: paper.Nodes | None = None
        self._candidates: list[int] = []
        """The ancestral set without the constant columns: by position, or as they came."""
        self._waiting: paper.Nodes = set()
        self._entropies: dict[int, float] = {}
        self._members: dict[int, Sequence[int]] = {}
        self._masking: dict[int, Decision] = {}
        self._closest: dict[int, Decision] = {}

    # What the paper's algorithms are given.

    def members(self, X: Source, k: int, A: Collection[int]) -> Sequence[int]:
        """MB: the boundary of a node in the ancestral set, by PPS or what takes its place."""
        if self._A is None or len(A) > len(self._A):
            self._begin(set(A))
        boundary = self._settings.boundary
        found = tuple(self._candidates)
        if k in self._constant:
            found = ()
        elif boundary == "pps":
            found = tuple(self._selection.pps(k, self._candidates)[1])
        elif callable(boundary):
            found = own_search(boundary, self._X.source, self._settings.constraints)(k, found)
        self._entropies[k], self._members[k] = paper.H(X, k, found), found
        return found

    def waiting(self, left: paper.Nodes) -> paper.Nodes:
        """The nodes that must come after others of those left, as far as is known."""
        constraints, varying = self._settings.constraints, left - self._constant
        self._waiting = set() if constraints is None else varying - {*constraints.free(varying)}
        return set(self._waiting)

    def masked(self, X: Source, asked: Sequence[Group], n: int) -> list[bool]:
        """omega: whether nodes that are tested with some of the layer are masked."""
        rule, constant = self._settings.masking_rule, self._constant
        groups = [
            Group(k, given, tuple(p for p in members if p not in constant))
            for k, given, members in asked
            if k not in constant
        ]
        groups = [one for one in groups if one.members]
        if groups:
            tests = self._X.tests_of(groups)
            strengths, threshold = rule.strengths(tests), float(rule.threshold_for(n))
            dependent = rule.accepts(strengths, n, inclusive=not self._settings.is_reference)
            each = zip(groups, tests.cmi.tolist(), strengths.tolist(), dependent, strict=True)
            for (k, given, members), cmi, strength, yes in each:
                known = self._closest.get(k)
                if yes or known is None or strength > known.strength:
                    kept = self._masking if yes else self._closest
                    kept[k] = Decision(k, members, given, cmi, strength, threshold, bool(yes))
        return [one.target in self._masking for one in asked]

    # What is made of it.

    def told(self) -> Outcome:
        """The record of the run that has ended."""
        self._begin(set(range(self._X.n_variables)))
        outcome, constant = self._outcome, sorted(self._constant)
        if constant:
            outcome.layers[:1] = [[*constant, *(outcome.layers[0] if outcome.layers else ())]]
            outcome.boundaries |= {k: Boundary(k, (), 0.0) for k in constant}
            still = [Admission(k, 0, 0.0, None, None, None) for k in constant]
            outcome.rounds.admissions[:0] = still
        return outcome

    def _begin(self, A: paper.Nodes) -> None:
        """The ancestral set has grown: record the layer, and let PPS begin."""
        if self._A is not None:
            newcomers = A - self._A - self._constant
            layer = sorted(newcomers, key=lambda k: (self._entropies[k], k))
            if layer:
                self._record(layer)
            self._candidates += layer
            if not self._settings.is_reference:
                self._candidates.sort()
        self._A = A
        left = [k for k in range(self._X.n_variables) if k not in A | self._constant]
        self._X.forget({k: self._members.get(k, ()) for k in left})
        if self._progress is not None and A:
            self._progress(len(A), self._X.n_variables)
        if self._settings.boundary == "pps":
            pps, candidates = self._selection.pps, self._candidates
            self._X.answer_ahead([partial(pps, k, candidates) for k in left])

    def _record(self, layer: Sequence[int]) -> None:
        """Keep why each node entered this layer or not."""
        outcome, h = self._outcome, self._entropies
        number = len(outcome.layers)
        every = np.full(self._X.n_variables, np.inf)
        every[list(h)] = list(h.values())
        every[list(self._constant)] = np.inf
        outcome.rounds.uncertainties.append(every)
        tau = sorted(h.keys() - self._waiting - self._constant, key=lambda k: (h[k], k))
        after = dict(zip(tau, [*tau[1:], None], strict=True))
        for k in layer:
            second = after[k]
            entropy = None if second is None else h[second]
            closest = self._closest.get(k)
            outcome.rounds.admissions.append(Admission(k, number, h[k], second, entropy, closest))
        outcome.maskings += [Masking(k, number, h[k], one) for k, one in self._masking.items()]
        outcome.layers.append(list(layer))
        for k in layer:
            outcome.boundaries[k] = self._boundary(k)
            del h[k]
        self._masking, self._closest = {}, {}

    def _boundary(self, k: int) -> Boundary:
        """The boundary of a node as it enters."""
        if self._settings.boundary == "pps":
            return self._selection.boundary(k, self._candidates)
        blocked = self._X.blocked(k)
        members = tuple(p for p in self._members[k] if p not in blocked)
        whole = Boundary(k, members, self._entropies[k])
        return self._selection.pruned(whole, len(self._candidates), grown=False)
