"""Boundaries by a search from outside, in the place where the paper's TAM runs PPS."""

from __future__ import annotations

from collections.abc import Callable, Collection

from tamis.choices import BoundarySearch
from tamis.information.interface import Source
from tamis.knowledge import Constraints
from tamis.plugins import answer_of, is_number, printed, qualified_name, refusal

Given = tuple[int, ...]
BoundaryOf = Callable[[int, Given], Given]
"""The boundary of a node in an ancestral set."""


def own_search(
    search: BoundarySearch, source: Source, constraints: Constraints | None
) -> BoundaryOf:
    """The search in the place of PPS (section 5.1: PPS "can be replaced with any Markov boundary
    recovery algorithm").

    It is asked about the candidates that knowledge allows; required parents are members anyway.
    """
    blocked = (0,) * source.n_variables if constraints is None else constraints.blocked
    required = {} if constraints is None else constraints.required

    def boundary_of(target: int, ancestors: Given) -> Given:
        candidates = tuple(k for k in ancestors if not blocked[target] >> k & 1)
        found = members_of(search, source, target, candidates)
        known = (k for k in required.get(target, ()) if k in ancestors)
        return tuple(dict.fromkeys((*known, *found)))

    return boundary_of


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
