"""What the user asked for, and the same with nothing left open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import version
from os import PathLike
from typing import Any

import numpy as np

from tamis.constants import constants
from tamis.data.reading import require_missing
from tamis.decisions.p_values import ChiSquared, FTest, LocalPermutation, Permutation, PValue
from tamis.decisions.rule import Fixed, Rule
from tamis.decisions.specification import as_rule, rule_to_dict
from tamis.errors import SettingError
from tamis.information.catalogue import source_settings
from tamis.information.estimators import AnyEstimator, as_estimator, estimator_to_dict
from tamis.information.lipschitz.source import MOST_DIMENSIONS
from tamis.information.own_test import PairTest
from tamis.knowledge import Knowledge


@dataclass(frozen=True)
class Defaults:
    """What a search uses where the user has left the choice open."""

    entropy: str | None
    boundary_rule: Rule
    masking_rule: Rule
    backward: str


_CALIBRATED = Defaults("grassberger", Permutation(0.001), Permutation(0.01), "one")
_SIEVE = Defaults("grassberger", Permutation(0.001), Permutation(0.05), "one")

ALPHA = 0.02
"""The level of "auto" for the whole graph, shared out among its nodes."""

SEARCHES: dict[str, Defaults] = {
    "auto": Defaults(
        "grassberger", Permutation(ALPHA, whole_graph=True), Permutation(ALPHA), "one"
    ),
    "node": _CALIBRATED,
    "layer": _CALIBRATED,
    "sieve": _SIEVE,
    "sequential": _CALIBRATED,
    "reference": Defaults("minimax", Fixed(0.005), Fixed(0.001), "none"),
}
"""The searches by name, with their defaults, chosen by `python -m benchmarks.choose_defaults`;
docs/defaults.md gives the figures."""


def _tested(test: type[PValue]) -> dict[str, Defaults]:
    """The levels that serve counts, with another test."""
    calibrated = Defaults(None, test(0.001), test(0.01), "one")
    return {
        "auto": Defaults(None, test(ALPHA, whole_graph=True), test(ALPHA), "one"),
        "node": calibrated,
        "layer": calibrated,
        "sieve": Defaults(None, test(0.001), test(0.05), "one"),
        "sequential": calibrated,
    }


_SMOOTHED = Defaults(None, Fixed(0.04), Fixed(0.04), "one")


@dataclass(frozen=True)
class Source:
    """A kind of information about a table, and its defaults by search."""

    searches: Mapping[str, Defaults]
    auto: str = "auto"
    """What search="auto" runs. It compares graphs by their likelihood; where there is none, it is
    the search that was right most often."""
    tested: bool = True
    """Whether it has a test, which gives every edge a p-value."""
    largest_boundary: int | None = None
    """The most parents a node may have, where the source can judge no more."""


SOURCES: dict[str, Source] = {
    "counts": Source(SEARCHES),
    "gaussian": Source(_tested(FTest)),
    "copula": Source(_tested(FTest)),
    "neighbours": Source(_tested(LocalPermutation), auto="sequential"),
    "mixed": Source(_tested(LocalPermutation), auto="sequential"),
    "conditional-gaussian": Source(_tested(ChiSquared)),
    # Not "layer", which judges a node with a whole layer at once: too many columns to smooth.
    "lipschitz": Source(
        dict.fromkeys(("auto", "node", "sieve", "sequential"), _SMOOTHED),
        tested=False,
        auto="sequential",
        largest_boundary=MOST_DIMENSIONS - 2,
    ),
}
"""What can be known about a table: counts of levels, the moments of numbers or of their ranks,
their nearest neighbours, their smoothed densities, or normal laws given levels."""

BACKWARD = ("one", "together", "none")
BOUNDARY = ("pps", "none")
UNITS = ("unknown", "same")


@dataclass(frozen=True)
class Request:
    """What the user asked for; None leaves the choice to the search."""

    search: str = "auto"
    entropy: str | AnyEstimator | Callable[..., float] | None = None
    boundary_rule: float | Rule | PairTest | None = None
    masking_rule: float | Rule | PairTest | None = None
    boundary: str = "pps"
    backward: str | bool | None = None
    max_boundary: int | None = None
    look_ahead: int | None = None
    information: str = "auto"
    n_jobs: int | None = None
    alpha: float | None = None
    source: Mapping[str, Any] | None = None
    knowledge: Knowledge | Mapping[str, Any] | str | PathLike[str] | None = None
    missing: str = "error"
    refine: bool = True
    units: str = "unknown"


@dataclass(frozen=True)
class Plan:
    """The request with nothing left open."""

    search: str
    information: str
    entropy: AnyEstimator | None
    """How entropies are estimated from counts; other information has no such choice."""
    boundary_rule: Rule
    masking_rule: Rule
    boundary: str
    backward: str
    max_boundary: int | None
    look_ahead: int | None
    """The largest sets tried where no single candidate passes; None is as large as the budget
    allows, which only the data can say."""
    source: dict[str, Any] | None = None
    """The settings of the source, if it has any."""
    knowledge: Knowledge = field(default_factory=Knowledge)
    missing: str = "error"
    """What was done about missing values, had there been any."""
    refine: bool = True
    """Whether "auto" looks for the class by likelihood, or keeps the best of the searches."""
    units: str = "unknown"
    """Whether numbers are said to have the same unit, so that their entropies can be compared."""

    def to_dict(self) -> dict[str, object]:
        """What JSON can hold, enough to run the same again."""
        return {
            "search": self.search,
            "information": self.information,
            "entropy": (None if self.entropy is None else estimator_to_dict(self.entropy)),
            "boundary_rule": rule_to_dict(self.boundary_rule),
            "masking_rule": (
                None if self.search == "sequential" else rule_to_dict(self.masking_rule)
            ),
            "boundary": self.boundary,
            "backward": self.backward,
            "max_boundary": self.max_boundary,
            "look_ahead": self.look_ahead,
            "source": None if self.source is None else dict(self.source),
            "knowledge": self.knowledge.to_dict() or None,
            "missing": self.missing,
            "refine": self.refine,
            "units": self.units,
            "tamis": _version(),
        }


@cache
def _version() -> str:
    return version("tamis")


def make_plan(request: Request, information: str | None = None) -> Plan:
    """Fill in the defaults and refuse what has no meaning.

    ``information`` is the reading that information="auto" has chosen; before that is known, counts.
    """
    _require_choices(request)
    if information is None:
        information = "counts" if request.information == "auto" else request.information
    kind = SOURCES[information]
    _require_searched(request, information, kind)
    defaults = _at_level(request, information, kind.searches[request.search])
    if request.backward is None:
        backward = "one" if request.boundary == "none" else defaults.backward
    else:
        backward = as_backward(request.backward)
    _require_together(request, information, kind, backward)
    search = kind.auto if request.search == "auto" else request.search
    plan = Plan(
        search=search,
        information=information,
        entropy=_estimator(request, information, defaults),
        boundary_rule=_rule("boundary_rule", request.boundary_rule, defaults.boundary_rule),
        masking_rule=_rule("masking_rule", request.masking_rule, defaults.masking_rule),
        boundary=request.boundary,
        backward=backward,
        max_boundary=(
            kind.largest_boundary if request.max_boundary is None else request.max_boundary
        ),
        look_ahead=_look_ahead(request, search),
        source=source_settings(information, request.source),
        knowledge=_knowledge(request),
        missing=request.missing,
        refine=request.refine,
        units=request.units,
    )
    return plan


def _require_choices(request: Request) -> None:
    _require_choice("search", request.search, tuple(SEARCHES))
    _require_choice("boundary", request.boundary, BOUNDARY)
    _require_choice("information", request.information, ("auto", *SOURCES))
    require_missing(request.missing)
    _require_choice("units", request.units, UNITS)
    if not isinstance(request.refine, bool):
        raise SettingError(f"refine must be True or False, not {request.refine!r}")
    require_size("max_boundary", request.max_boundary)
    _require_look_ahead(request)


def _require_searched(request: Request, information: str, kind: Source) -> None:
    if request.source and request.information == "auto":
        raise SettingError(
            "source has the settings of one kind of information: name it, as in "
            "information='neighbours'"
        )
    if request.search not in kind.searches:
        raise SettingError(
            f"search={request.search!r} does not go with information={information!r}: use "
            f"{', '.join(map(repr, kind.searches))}"
        )


def _require_together(request: Request, information: str, kind: Source, backward: str) -> None:
    """Refuse choices that do not go together."""
    _require_small(request, information, kind.largest_boundary)
    if request.boundary == "none":
        _require_without_pps(request, backward)
    if request.search == "reference" and backward != "none":
        raise SettingError(
            "search='reference' has no backward phase, as the authors' program has none; "
            "leave backward out or use another search"
        )
    if request.search == "auto":
        _require_for_auto(request, backward)


def _knowledge(request: Request) -> Knowledge:
    knowledge = Knowledge.of(request.knowledge)
    if knowledge and request.search == "reference":
        raise SettingError(
            "search='reference' does what the authors' program does, which takes no knowledge; "
            "use another search"
        )
    return knowledge


def as_backward(value: str | bool) -> str:
    """How to remove members of a boundary; True and False are the usual way and none."""
    if isinstance(value, bool):
        return "one" if value else "none"
    _require_choice("backward", value, BACKWARD)
    return value


def _require_choice(parameter: str, value: object, choices: Sequence[str]) -> None:
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise SettingError(f"{parameter} must be one of {listed}, not {value!r}")


def require_size(parameter: str, value: object) -> None:
    """Refuse what is neither None nor a number of things."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise SettingError(f"{parameter} must be None or a whole number >= 0, not {value!r}")


def _at_level(request: Request, information: str, defaults: Defaults) -> Defaults:
    """The defaults with ``alpha``, if it is given, as the level of their tests."""
    if request.alpha is None:
        return defaults
    if request.boundary_rule is not None:
        raise SettingError("alpha sets the level of the rules: give alpha or boundary_rule")
    if not isinstance(defaults.boundary_rule, PValue):
        by = (
            f"search={request.search!r}"
            if request.search == "reference"
            else f"information={information!r}"
        )
        raise SettingError(
            f"alpha is the level of tests, and {by} compares gains with fixed "
            "thresholds: use boundary_rule and masking_rule"
        )
    level = type(defaults.boundary_rule)
    return replace(
        defaults,
        boundary_rule=level(request.alpha, whole_graph=True),
        masking_rule=level(request.alpha),
    )


def _require_small(request: Request, information: str, largest: int | None) -> None:
    """Refuse boundaries that the source cannot judge."""
    if largest is None:
        return
    if request.boundary == "none":
        raise SettingError(
            f"boundary='none' conditions on all nodes before, and information={information!r} on "
            f"{largest} at most: use boundary='pps'"
        )
    if request.max_boundary is not None and request.max_boundary > largest:
        raise SettingError(
            f"max_boundary must be at most {largest} with information={information!r}, not "
            f"{request.max_boundary!r}"
        )


def _look_ahead(request: Request, search: str) -> int | None:
    """As asked for; left open, the searches of the paper look at single candidates."""
    if request.look_ahead is None:
        return None if search == "auto" else 1
    return request.look_ahead


def _require_look_ahead(request: Request) -> None:
    asked = request.look_ahead
    if asked is None:
        return
    whole = isinstance(asked, int | np.integer) and not isinstance(asked, bool)
    if not whole or asked not in range(1, constants.largest_set + 1):
        raise SettingError(
            "look_ahead must be 1 (single candidates) or the size of the largest sets tried where "
            f"no single one passes, up to {constants.largest_set}; not {asked!r}"
        )
    if asked > 1 and request.search == "reference":
        raise SettingError("search='reference' looks at single candidates only: use look_ahead=1")
    if asked > 1 and request.boundary == "none":
        raise SettingError("look_ahead belongs to PPS; boundary='none' runs without it")


def _require_for_auto(request: Request, backward: str) -> None:
    if request.boundary == "none":
        raise SettingError("search='auto' always selects boundaries; use another search")
    if backward == "together":
        raise SettingError("search='auto' removes parents one at a time; use another search")


def _require_without_pps(request: Request, backward: str) -> None:
    if request.search == "reference":
        raise SettingError("search='reference' always selects boundaries; use search='layer'")
    if request.max_boundary is not None:
        raise SettingError("max_boundary limits PPS; boundary='none' runs without it")
    if backward == "none":
        raise SettingError(
            "with boundary='none' the parents are found by the backward phase; "
            "choose backward='one' or 'together'"
        )


def _estimator(request: Request, information: str, defaults: Defaults) -> AnyEstimator | None:
    if defaults.entropy is not None:
        return as_estimator(defaults.entropy if request.entropy is None else request.entropy)
    if request.entropy is not None:
        raise SettingError(
            f"entropy= chooses how counts are turned into entropies; "
            f"information={information!r} has no such choice"
        )
    return None


def _rule(parameter: str, given: float | Rule | PairTest | None, default: Rule) -> Rule:
    if given is None:
        return default
    try:
        return as_rule(given, default)
    except SettingError as error:
        raise SettingError(f"{parameter}: {error}") from None
