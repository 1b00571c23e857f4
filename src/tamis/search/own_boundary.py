"""Boundaries by a search from outside, in the place where the paper's TAM runs PPS."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from tamis.choices import BoundarySearch
from tamis.information.interface import Context, Source
from tamis.knowledge import Constraints
from tamis.plugins import answer_of, is_number, printed, qualified_name, refusal
from tamis.search.boundaries import Boundaries
from tamis.search.cmi_rows import Given
from tamis.search.outcome import Boundary


class OwnBoundaries(Boundaries):
    """What a function finds, from nothing for every remaining node after every layer (section 5.1:
    PPS "can be replaced with any Markov boundary recovery algorithm").

    It is asked about the candidates that knowledge allows; required parents are members anyway.
    """

    def __init__(
        self, source: Source, search: BoundarySearch, constraints: Constraints | None = None
    ) -> None:
        super().__init__(source)
        d = source.n_variables
        self._search = search
        self._blocked = (0,) * d if constraints is None else constraints.blocked
        self._required = {} if constraints is None else constraints.required
        self._ancestors: tuple[int, ...] = ()
        self._members: dict[int, tuple[int, ...]] = dict.fromkeys(range(d), ())
        self.entropies = np.full(d, np.inf)
        self._condition()

    def given(self, target: int) -> Given:
        """What was found last, sorted."""
        return tuple(sorted(self._members[target]))

    def offer(self, newcomers: Sequence[int]) -> None:
        """Search anew, with the newcomers among the candidates."""
        self._ancestors = tuple(sorted((*self._ancestors, *newcomers)))
        for k in self._members:
            required = tuple(p for p in self._required.get(k, ()) if p in self._ancestors)
            candidates = tuple(c for c in self._ancestors if not self._blocked[k] >> c & 1)
            found = members_of(self._search, self._information, k, candidates)
            self._members[k] = tuple(dict.fromkeys((*required, *found)))
        self._condition()

    def close(self, targets: Sequence[int]) -> list[Boundary]:
        """The members as they were found; a function gives no reasons."""
        found = []
        for k in targets:
            found.append(Boundary(k, self._members.pop(k), float(self.entropies[k])))
            self.entropies[k] = np.inf
        return found

    def _condition(self) -> None:
        nodes = list(self._members)
        if nodes:
            contexts = [Context(k, self.given(k)) for k in nodes]
            self.entropies[nodes] = self._information.entropies(contexts)


def members_of(
    search: BoundarySearch, source: Source, target: int, candidates: tuple[int, ...]
) -> tuple[int, ...]:
    """The boundary of a target among candidates by a search from outside, if that is what it
    returned; without candidates nothing is asked."""
    if not candidates:
        return ()
    what = f"{qualified_name(search)}, asked for the boundary of {source.names[target]!r},"
    found: object = answer_of(what, lambda: search(source, target, candidates))
    if not isinstance(found, Collection) or isinstance(found, str | bytes):
        wanted = f"it must return a collection of some of the candidates {candidates}"
        raise refusal(what, found, wanted)
    members = answer_of(what, lambda: list(found))
    wrong = [one for one in members if not is_number(one) or one not in candidates]
    if any(is_number(one) and one == target for one in wrong):
        raise refusal(what, found, f"the target {target} itself is in it")
    if wrong:
        raise refusal(what, found, f"{printed(wrong[0])} is not among the candidates {candidates}")
    if len(set(members)) < len(members):
        raise refusal(what, found, "it has a member twice")
    return tuple(int(one) for one in members)
