"""The boundary of a node among candidates: PPS and the backward phase, with every decision.

Both are those of ``paper``. Beyond it a rule judges a candidate as the best of all that are left,
background knowledge holds, and boundaries may be limited in size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tamis.information.interface import Group, Source
from tamis.parameters import Backward
from tamis.search import paper
from tamis.search.outcome import Boundary, Decision
from tamis.search.remembered import Remembered


class Selection:
    """Selects members by the rule of a source that remembers.

    ``limit`` is the size of the largest boundary. ``inclusive`` lets a strength that equals the
    threshold pass in PPS, as it does in the authors' program.
    """

    def __init__(
        self,
        X: Remembered,
        *,
        limit: int | None = None,
        inclusive: bool = False,
        backward: Backward = "one",
    ) -> None:
        d = X.n_variables
        self._X, self._inclusive, self._backward = X, inclusive, backward
        self._limit = d if limit is None else limit
        thresholds = np.broadcast_to(X.rule.threshold_for(np.arange(d + 1)), d + 1)
        self._thresholds: list[float] = thresholds.tolist()
        """The strength that the best of so many candidates has to clear."""
        self._steps: list[Decision] = []

    def pps(self, k: int, candidates: Sequence[int]) -> tuple[float, paper.Nodes]:
        """The conditional entropy of a node and its boundary; of equal candidates the first comes
        first."""
        self._steps = []
        return paper.pps(self._X, k, candidates, self._taken)

    def boundary(self, k: int, candidates: Sequence[int]) -> Boundary:
        """What PPS finds, with its steps, and what the backward phase leaves of it."""
        h, found = self.pps(k, candidates)
        taken = tuple(one for one in self._steps if one.dependent)
        refused = next((one for one in self._steps if not one.dependent), None)
        members = tuple(p for p in self._X.required(k) if p in found)
        members += tuple(one.others[0] for one in taken)
        whole = Boundary(k, members, h, taken, refused)
        # What a single step has found has nothing superfluous.
        return self.pruned(whole, len(candidates), grown=True) if len(members) > 1 else whole

    def pruned(self, whole: Boundary, n_candidates: int, *, grown: bool) -> Boundary:
        """The backward phase: the superfluous members leave together, as in the paper, or the
        weakest until there is none.

        A member of a ``grown`` boundary is judged as it was by PPS, as the best of those that are
        not among the others; elsewhere all members are candidates, each one of them all.
        """
        required = self._X.required(whole.target)
        removed: list[Decision] = []
        retained: list[Decision] = []

        def kept(X: Source, asked: Sequence[Group], n: int) -> list[bool]:
            verdicts = self._decisions(asked, n_candidates - grown * (len(asked) - 1))
            retained[:] = [one for one in verdicts if one.dependent]
            own = [one for one in verdicts if one.others[0] not in required]
            leaving = [one for one in own if not one.dependent]
            if self._backward == "one":
                leaving = sorted(leaving, key=lambda one: (one.cmi, one.strength, one.others))[:1]
            removed.extend(leaving)
            return [one not in leaving for one in verdicts]

        left = set(whole.members)
        going = bool(left) and self._backward != "none"
        while going:
            before = left
            left = paper.iamb_backward(self._X, whole.target, before, kept)
            going = self._backward == "one" and 0 < len(left) < len(before)
        members = tuple(p for p in whole.members if p in left)
        return replace(whole, members=members, removed=tuple(removed), retained=tuple(retained))

    def _taken(self, X: Source, asked: Sequence[Group], n: int) -> list[bool]:
        """kappa: whether PPS takes a candidate, the best of n."""
        (one,) = asked
        if one.members[0] in self._X.required(one.target):
            return [True]
        if len(one.given) >= self._limit or one.members[0] in self._X.blocked(one.target):
            return [False]
        (found,) = self._decisions(asked, n)
        if found.strength == found.threshold:
            found = replace(found, dependent=self._inclusive)
        self._steps.append(found)
        return [found.dependent]

    def _decisions(self, asked: Sequence[Group], n: int) -> list[Decision]:
        """Tests of members, each the best of n; what equals the threshold counts as dependence."""
        threshold = self._thresholds[n]
        each = zip(asked, self._X.strengths(asked), strict=True)
        return [
            Decision(k, members, given, cmi, strength, threshold, strength >= threshold)
            for (k, given, members), (cmi, strength) in each
        ]
