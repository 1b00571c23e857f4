"""Settings as users write them: what has no meaning is refused, what is left open filled in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tamis.blocks.limits import bytes_of
from tamis.constants import constants
from tamis.counts.sharing import usable_jobs
from tamis.decisions.p_values import PValue
from tamis.decisions.rule import Fixed, Rule
from tamis.decisions.specification import as_rule
from tamis.defaults import (
    BACKWARD,
    BOUNDARY,
    KINDS,
    OF_A_TABLE,
    SEARCHES,
    UNITS,
    Backward,
    Defaults,
    Kind,
    Search,
    kind_of,
)
from tamis.errors import SettingError
from tamis.information.catalogue import source_settings
from tamis.information.checked import checked
from tamis.information.estimators import AnyEstimator, as_estimator
from tamis.information.interface import Source
from tamis.knowledge import Knowledge
from tamis.plugins import qualified_name
from tamis.tables.kinds import checked_types
from tamis.tables.reading import require_missing
from tamis.tables.view import TableView

SourceOfTable = Callable[[TableView], Source]
"""A function that makes a source of a table."""
BoundarySearch = Callable[[Source, int, tuple[int, ...]], Collection[int]]
"""f(source, target, candidates) -> members: any search for a Markov boundary, by position."""
Given = Mapping[str, Any]
"""Settings by name as they were given, None where they were left open."""

EXAMPLES = {
    "information": "a tamis.Source, or a function of a table that gives one",
    "boundary": "a function f(source, target, candidates) -> members",
}
"""What may stand in place of a word."""


NOT_ASKED = Fixed(0.0)
"""The rule of boundaries that a function finds: nothing is decided by it."""


def filled(given: Given, made: Kind | None) -> dict[str, Any]:
    """What takes the place of settings that were left open or written in short.

    ``made`` is the kind of the source that a function has made of a table.
    """
    _require_choices(given)
    information = named(given["information"])
    kind = made or _kind(given["information"])
    _require_searched(given, information, kind)
    # "auto" selects parents itself: boundaries from outside run in the paper's own search.
    own = given["search"] == "auto" and callable(given["boundary"])
    asked: Search = "node" if own else given["search"]
    defaults = _at_level(given, information, kind.searches[asked])
    backward = _backward(given, defaults)
    _require_together(given, information, kind, backward)
    search = kind.auto if asked == "auto" else asked
    limit = given["max_boundary"]
    boundary_rule = _rule("boundary_rule", given, defaults.boundary_rule, information)
    return {
        "search": search,
        "entropy": _estimator(given, information, defaults),
        "boundary_rule": boundary_rule,
        # "sequential" has no use for it.
        "masking_rule": (
            boundary_rule
            if search == "sequential" and defaults.masking_rule is None
            else _rule("masking_rule", given, defaults.masking_rule, information)
        ),
        "backward": backward,
        "max_boundary": kind.largest_boundary if limit is None else int(limit),
        "look_ahead": _look_ahead(given, search),
        "source": source_settings(information, given["source"]),
        "knowledge": _knowledge(given),
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


def _require_choices(given: Given) -> None:
    _require_choice("search", given["search"], SEARCHES)
    _require_choice("boundary", given["boundary"], BOUNDARY)
    _require_choice("information", given["information"], ("auto", *KINDS))
    require_missing(given["missing"])
    _require_choice("units", given["units"], UNITS)
    if not isinstance(given["refine"], bool):
        raise SettingError(f"refine must be True or False, not {given['refine']!r}")
    require_size("max_boundary", given["max_boundary"])
    _require_look_ahead(given)
    bytes_of(given["memory"])
    usable_jobs(given["n_jobs"])


def _require_choice(parameter: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse what is none of these words, nor something from outside where that may stand."""
    if isinstance(value, str) and value in choices:
        return
    listed = ", ".join(repr(choice) for choice in choices)
    if parameter not in EXAMPLES:
        raise SettingError(f"{parameter} must be one of {listed}, not {value!r}")
    if isinstance(value, type):
        raise SettingError(
            f"{parameter} must be {EXAMPLES[parameter]}, and {qualified_name(value)} is a class: "
            f"pass what it makes, such as {value.__name__}(...)"
        )
    is_source = parameter == "information" and isinstance(value, Source)
    if not (is_source or callable(value)):
        raise SettingError(
            f"{parameter} must be one of {listed}, or {EXAMPLES[parameter]}, not {value!r}"
        )


def require_size(parameter: str, value: object) -> None:
    """Refuse what is neither None nor a number of things."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value < 2**63:
        raise SettingError(
            f"{parameter} must be None or a whole number from 0 to 2**63 - 1, not {value!r}"
        )


def _require_look_ahead(given: Given) -> None:
    asked = given["look_ahead"]
    if asked is None:
        return
    whole = isinstance(asked, int | np.integer) and not isinstance(asked, bool)
    if not whole or asked not in range(1, constants.largest_set + 1):
        raise SettingError(
            "look_ahead must be 1 (single candidates) or the size of the largest sets tried where "
            f"no single one passes, up to {constants.largest_set}; not {asked!r}"
        )
    if asked > 1 and given["search"] == "reference":
        raise SettingError("search='reference' looks at single candidates only: use look_ahead=1")
    if asked > 1 and given["boundary"] != "pps":
        raise SettingError(f"look_ahead belongs to PPS; {_boundary(given)} runs without it")


def _boundary(given: Given) -> str:
    """The choice of boundaries, in a message."""
    boundary = given["boundary"]
    return f"boundary={qualified_name(boundary) if callable(boundary) else repr(boundary)}"


def _require_searched(given: Given, information: str, kind: Kind) -> None:
    if isinstance(given["source"], Mapping) and given["source"] and given["information"] == "auto":
        raise SettingError(
            "source has the settings of one kind of information: name it, as in "
            "information='neighbours'"
        )
    if given["search"] not in kind.searches:
        raise SettingError(
            f"search={given['search']!r} does not go with information={information!r}: use "
            f"{', '.join(map(repr, kind.searches))}"
        )


def _at_level(given: Given, information: str, defaults: Defaults) -> Defaults:
    """The defaults with ``alpha``, if it is given, as the level of their tests."""
    if given["alpha"] is None:
        return defaults
    own_test = callable(given["boundary_rule"])
    if given["boundary_rule"] is not None and not own_test:
        raise SettingError("alpha sets the level of the rules: give alpha or boundary_rule")
    rule = PValue() if own_test else defaults.boundary_rule
    if not isinstance(rule, PValue):
        by = (
            f"search={given['search']!r}"
            if given["search"] == "reference"
            else f"information={information!r}"
        )
        raise SettingError(
            f"alpha is the level of tests, and {by} compares gains with fixed "
            "thresholds: use boundary_rule and masking_rule"
        )
    test = type(rule)
    return replace(
        defaults,
        boundary_rule=test(given["alpha"], whole_graph=True),
        masking_rule=test(given["alpha"]),
    )


def _backward(given: Given, defaults: Defaults) -> Backward:
    if given["backward"] is not None:
        return as_backward(given["backward"])
    if callable(given["boundary"]):
        return "none"
    return "one" if given["boundary"] == "none" else defaults.backward


def as_backward(value: str | bool) -> Backward:
    """How to remove members of a boundary; True and False are the usual way and none."""
    if isinstance(value, bool):
        return "one" if value else "none"
    _require_choice("backward", value, BACKWARD)
    return next(known for known in BACKWARD if known == value)


def _require_together(given: Given, information: str, kind: Kind, backward: Backward) -> None:
    """Refuse choices that do not go together."""
    _require_small(given, information, kind.largest_boundary)
    if given["boundary"] != "pps":
        _require_without_pps(given)
    if callable(given["boundary"]):
        _require_for_function(given, backward)
    elif given["boundary"] == "none" and backward == "none":
        raise SettingError(
            "with boundary='none' the parents are found by the backward phase; "
            "choose backward='one' or 'together'"
        )
    if given["search"] == "reference" and backward != "none":
        raise SettingError(
            "search='reference' has no backward phase, as the authors' program has none; "
            "leave backward out or use another search"
        )
    if given["search"] == "auto":
        _require_for_auto(given, backward)


def _require_small(given: Given, information: str, largest: int | None) -> None:
    """Refuse boundaries that the source cannot judge."""
    if largest is None:
        return
    if given["boundary"] == "none":
        raise SettingError(
            f"boundary='none' conditions on all nodes before, and information={information!r} on "
            f"{largest} at most: use boundary='pps'"
        )
    if given["max_boundary"] is not None and given["max_boundary"] > largest:
        raise SettingError(
            f"max_boundary must be at most {largest} with information={information!r}, not "
            f"{given['max_boundary']!r}"
        )


def _require_for_auto(given: Given, backward: Backward) -> None:
    if given["boundary"] == "none":
        raise SettingError("search='auto' always selects boundaries; use another search")
    if backward == "together":
        raise SettingError("search='auto' removes parents one at a time; use another search")


def _require_without_pps(given: Given) -> None:
    if given["search"] == "reference":
        raise SettingError("search='reference' always selects boundaries; use search='layer'")
    if given["max_boundary"] is not None:
        raise SettingError(f"max_boundary limits PPS; {_boundary(given)} runs without it")


def _require_for_function(given: Given, backward: Backward) -> None:
    """Refuse what would change a boundary that a function has found."""
    rule = given["boundary_rule"]
    if rule is not None and not (isinstance(rule, Fixed) and rule == NOT_ASKED):
        raise SettingError(
            f"boundary_rule decides who becomes a parent, and so does {_boundary(given)}: leave "
            "one of them out"
        )
    if backward != "none":
        raise SettingError(
            f"{_boundary(given)} says who the parents are, and none is removed again: leave "
            "backward out"
        )


def _estimator(given: Given, information: str, defaults: Defaults) -> AnyEstimator | None:
    asked = given["entropy"]
    if defaults.entropy is not None:
        return as_estimator(defaults.entropy if asked is None else asked)
    if asked is not None:
        raise SettingError(
            f"entropy= chooses how counts are turned into entropies; "
            f"information={information!r} has no such choice"
        )
    return None


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


def _look_ahead(given: Given, search: Search) -> int | None:
    """As asked for; left open, the searches of the paper look at single candidates."""
    if given["look_ahead"] is not None:
        return int(given["look_ahead"])
    return None if search == "auto" else 1


def _knowledge(given: Given) -> Knowledge:
    knowledge = Knowledge.of(given["knowledge"])
    if knowledge and given["search"] == "reference":
        raise SettingError(
            "search='reference' does what the authors' program does, which takes no knowledge; "
            "use another search"
        )
    return knowledge
