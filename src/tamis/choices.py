"""Settings as users write them: what has no meaning is refused, what is left open filled in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from tamis.counting.elsewhere import bytes_of
from tamis.counting.sharing import usable_jobs
from tamis.decisions.p_values import PValue
from tamis.decisions.rule import Fixed, Rule, Score
from tamis.decisions.specification import as_rule
from tamis.errors import SettingError
from tamis.information.catalogue import source_settings
from tamis.information.estimators import as_estimator
from tamis.information.interface import Source
from tamis.information.outside import checked
from tamis.knowledge import Knowledge
from tamis.parameters import (
    BACKWARD,
    KINDS,
    OF_A_TABLE,
    Backward,
    Defaults,
    Kind,
    Search,
    kind_of,
    require,
)
from tamis.plugins import qualified_name
from tamis.tables.kinds import checked_types
from tamis.tables.table import TableView

SourceOfTable = Callable[[TableView], Source]
"""A function that makes a source of a table."""
BoundarySearch = Callable[[Source, int, tuple[int, ...]], Collection[int]]
"""f(source, target, candidates) -> members: any search for a Markov boundary, by position."""
Given = Mapping[str, Any]
"""Settings by name as they were given, None where they were left open."""

OF_TESTS = ("alpha", "boundary_rule", "masking_rule")
NOT_ASKED = Fixed(0.0)
"""The rule of boundaries that a function finds: nothing is decided by it."""


def filled(given: Given, made: Kind | None) -> dict[str, Any]:
    """What takes the place of settings that were left open or written in short.

    ``made`` is the kind of the source that a function has made of a table.
    """
    _require_choices(given)
    information, knowledge = named(given["information"]), Knowledge.of(given["knowledge"])
    kind = made or _kind(given["information"])
    _refuse(_of_kind(given, information, kind))
    # "auto" selects parents itself: boundaries from outside run in the paper's own search.
    own = given["search"] == "auto" and callable(given["boundary"])
    asked: Search = "node" if own else given["search"]
    # A function has yet to say what it makes of a table.
    scored = asked == kind.auto == "auto" and (made is not None or not _makes_source(given))
    defaults = _with_alpha(given, information, _defaults(given, kind.searches, asked))
    backward = _backward(given, defaults)
    _refuse(_of_boundaries(given, backward))
    _refuse(_of_search(given, backward, knowledge, defaults, scored=scored))
    search = kind.auto if asked == "auto" else asked
    limit, ahead, entropy = given["max_boundary"], given["look_ahead"], given["entropy"]
    boundary_rule = _rule("boundary_rule", given, defaults.boundary_rule, information)
    # "sequential" has no use for the other.
    unused = search == "sequential" and defaults.masking_rule is None
    return {
        "search": search,
        "entropy": as_estimator(entropy) if entropy is not None else defaults.estimator,
        "boundary_rule": boundary_rule,
        "masking_rule": (
            boundary_rule
            if unused
            else _rule("masking_rule", given, defaults.masking_rule, information)
        ),
        "backward": backward,
        "max_boundary": kind.largest_boundary if limit is None else int(limit),
        # Left open, the searches of the paper look at single candidates.
        "look_ahead": (None if search == "auto" else 1) if ahead is None else int(ahead),
        "source": source_settings(information, given["source"]),
        "knowledge": knowledge,
        "types": checked_types(given["types"]) or None,
    }


def named(information: object) -> str:
    """A kind of information by its name, "auto" being counts; what is from outside by its
    qualified name."""
    if isinstance(information, str):
        return "counts" if information == "auto" else information
    return qualified_name(information)


def _kind(information: object) -> Kind:
    if isinstance(information, Source):
        return kind_of(checked(information))
    return next((KINDS[one] for one in KINDS if one == named(information)), OF_A_TABLE)


# What each setting may be.


def _require_choices(given: Given) -> None:
    checked_here = ("search", "boundary", "information", "missing", "units", "edge_price")
    require(**{name: given[name] for name in (*checked_here, "max_boundary", "look_ahead")})
    bytes_of(given["memory"])
    usable_jobs(given["n_jobs"])


def as_backward(value: str | bool) -> Backward:
    """How to remove members of a boundary; True and False are the usual way and none."""
    if isinstance(value, bool):
        return "one" if value else "none"
    require(backward=value)
    return next(known for known in BACKWARD if known == value)


# What does not go together: each message, and whether it is called for.


def _refuse(messages: Mapping[str, bool]) -> None:
    for message, is_called_for in messages.items():
        if is_called_for:
            raise SettingError(message)


def _of_kind(given: Given, information: str, kind: Kind) -> dict[str, bool]:
    """What the kind of information has no room for."""
    source, limit, largest = given["source"], given["max_boundary"], kind.largest_boundary
    has_settings = isinstance(source, Mapping) and bool(source)
    counts = any(one.entropy is not None for one in kind.searches.values())
    return {
        "source has the settings of one kind of information: name it, as in "
        "information='neighbours'": has_settings and given["information"] == "auto",
        f"search={given['search']!r} does not go with information={information!r}: use "
        f"{', '.join(map(repr, kind.searches))}": given["search"] not in kind.searches,
        f"entropy= chooses how counts are turned into entropies; information={information!r} has "
        "no such choice": given["entropy"] is not None and not counts,
        f"boundary='none' conditions on all nodes before, and information={information!r} on "
        f"{largest} at most: use boundary='pps'": (
            largest is not None and given["boundary"] == "none"
        ),
        f"max_boundary must be at most {largest} with information={information!r}, not {limit!r}": (
            largest is not None and limit is not None and limit > largest
        ),
    }


def _of_boundaries(given: Given, backward: Backward) -> dict[str, bool]:
    """What the way in which boundaries are found has no room for."""
    boundary = given["boundary"]
    own = callable(boundary)
    chosen = f"boundary={qualified_name(boundary) if own else repr(boundary)}"
    return {
        f"look_ahead belongs to PPS; {chosen} runs without it": (
            boundary != "pps" and (given["look_ahead"] or 1) > 1
        ),
        f"max_boundary limits PPS; {chosen} runs without it": (
            boundary != "pps" and given["max_boundary"] is not None
        ),
        f"boundary_rule decides who becomes a parent, and so does {chosen}: leave one of them "
        "out": own and not _is_open(given["boundary_rule"]),
        f"{chosen} says who the parents are, and none is removed again: leave backward out": (
            own and backward != "none"
        ),
        "with boundary='none' the parents are found by the backward phase; choose backward='one' "
        "or 'together'": boundary == backward == "none",
    }


def _of_search(
    given: Given, backward: Backward, knowledge: Knowledge, defaults: Defaults, *, scored: bool
) -> dict[str, bool]:
    """What the search has no room for; ``scored`` is whether it is the default, which asks for
    scores."""
    reference = given["search"] == "reference"
    return {
        "search='reference' looks at single candidates only: use look_ahead=1": (
            reference and (given["look_ahead"] or 1) > 1
        ),
        "search='reference' always selects boundaries; use search='layer'": (
            reference and given["boundary"] != "pps"
        ),
        "search='reference' has no backward phase, as the authors' program has none; leave "
        "backward out or use another search": reference and backward != "none",
        "search='reference' does what the authors' program does, which takes no knowledge; use "
        "another search": reference and bool(knowledge),
        "search='auto' chooses parents by a score, without tests: use edge_price in place of alpha "
        "and rules, or another search": (
            scored and any(not isinstance(given[one], Score | None) for one in OF_TESTS)
        ),
        "edge_price belongs to the score of search='auto' and 'sequential'": (
            given["edge_price"] != 1.0 and not isinstance(defaults.boundary_rule, Score)
        ),
        "search='auto' always selects boundaries; use another search": (
            scored and given["boundary"] == "none"
        ),
        "search='auto' removes parents one at a time; leave backward out or use another search": (
            scored and backward != "one"
        ),
    }


# What is left open.


def _makes_source(given: Given) -> bool:
    """Whether the information is a function of a table."""
    return not isinstance(given["information"], Source | str)


def _defaults(given: Given, searches: Mapping[Search, Defaults], asked: Search) -> Defaults:
    """Those of the search; "sequential" goes by tests where alpha or a rule is given, or where it
    is not to choose parents itself."""
    has_rule = not isinstance(given["boundary_rule"], Score | None)
    tested = given["boundary"] != "pps" or given["alpha"] is not None or has_rule
    return searches["node" if asked == "sequential" and tested else asked]


def _with_alpha(given: Given, information: str, defaults: Defaults) -> Defaults:
    """The defaults, their tests at ``alpha`` if it is given."""
    if given["alpha"] is None:
        return defaults
    own_test = callable(given["boundary_rule"])
    if given["boundary_rule"] is not None and not own_test:
        raise SettingError("alpha is that of the rules: give alpha or boundary_rule")
    rule = PValue() if own_test else defaults.boundary_rule
    if isinstance(rule, Score):  # of "auto", which refuses alpha by itself
        return defaults
    if not isinstance(rule, PValue):
        reference = given["search"] == "reference"
        by = "search='reference'" if reference else f"information={information!r}"
        raise SettingError(
            f"alpha is that of tests, and {by} compares gains with fixed thresholds: use "
            "boundary_rule and masking_rule"
        )
    test, alpha = type(rule), given["alpha"]
    return replace(defaults, boundary_rule=test(alpha, whole_graph=True), masking_rule=test(alpha))


def _is_open(rule: object) -> bool:
    """Whether no rule was given; what was may compare in ways of its own."""
    return rule is None or (isinstance(rule, Fixed) and rule == NOT_ASKED)


def _backward(given: Given, defaults: Defaults) -> Backward:
    if given["backward"] is not None:
        return as_backward(given["backward"])
    if callable(given["boundary"]):
        return "none"
    return "one" if given["boundary"] == "none" else defaults.backward


def _rule(parameter: str, given: Given, default: Rule | None, information: str) -> Rule:
    if callable(given["boundary"]) and parameter == "boundary_rule":
        return NOT_ASKED
    if given[parameter] is None:
        if default is not None:
            return default
        raise SettingError(
            f"{parameter}: {information} has no test, and no threshold suits every source: give "
            f"one in nats, such as {parameter}=0.01"
        )
    try:
        return as_rule(given[parameter], default)
    except SettingError as error:
        raise type(error)(f"{parameter}: {error}") from None
