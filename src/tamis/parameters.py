"""What each public parameter may be, stated once, and what each search uses by default.

A value of the wrong type is refused by the parameter's name, in one sentence. What goes together
with what is for the room that knows it. Defaults were chosen for version
0.2 on the paper's models; see study/results/README.md.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from tamis.constants import constants
from tamis.decisions.p_values import ChiSquared, FTest, LocalPermutation, Permutation, PValue
from tamis.decisions.rule import Fixed, Rule, Score
from tamis.errors import SettingError
from tamis.information.estimators import AnyEstimator, as_estimator
from tamis.information.interface import Ability, Source
from tamis.information.lipschitz import MOST_DIMENSIONS
from tamis.plugins import is_number, is_whole, qualified_name, shortened
from tamis.tables.assemble import MISSING

Search = Literal["auto", "sequential", "node", "layer", "reference", "paper"]
KindName = Literal[
    "counts", "gaussian", "copula", "neighbours", "mixed", "conditional-gaussian", "lipschitz"
]
Boundary = Literal["pps", "none"]
Backward = Literal["one", "together", "none"]
Units = Literal["unknown", "same"]

SEARCHES: tuple[Search, ...] = get_args(Search)
BOUNDARY: tuple[Boundary, ...] = get_args(Boundary)
BACKWARD: tuple[Backward, ...] = get_args(Backward)
UNITS: tuple[Units, ...] = get_args(Units)


@dataclass(frozen=True)
class Defaults:
    """What a search uses where the user has left the choice open."""

    entropy: str | None
    boundary_rule: Rule | None
    masking_rule: Rule | None
    """None where nothing but the user can know a threshold."""
    backward: Backward = "one"

    @property
    def estimator(self) -> AnyEstimator | None:
        """The estimator of entropies from counts; other information has none."""
        return None if self.entropy is None else as_estimator(self.entropy)


def _tested(
    test: type[PValue], entropy: str | None = None, *, scored: bool = True
) -> dict[Search, Defaults]:
    """The defaults of each search with this test; where there is a score, it finds parents for the
    searches that do not mask."""
    calibrated = Defaults(entropy, test(0.001), test(0.01))
    by_score = Defaults(entropy, Score(), Score()) if scored else calibrated
    return {"auto": by_score, "sequential": by_score, "node": calibrated, "layer": calibrated}


_COUNTED: dict[Search, Defaults] = {
    **_tested(Permutation, "grassberger"),
    "reference": Defaults("minimax", Fixed(0.005), Fixed(0.001), "none"),
    "paper": Defaults("minimax", Fixed(0.005), Fixed(0.001), "none"),
}
# Not "layer", which judges a node with a whole layer at once: too many columns to smooth.
_SMOOTHED: dict[Search, Defaults] = dict.fromkeys(
    ("auto", "node", "sequential"), Defaults(None, Fixed(0.04), Fixed(0.04))
)


@dataclass(frozen=True)
class Kind:
    """A kind of information about a table, and its defaults by search."""

    searches: Mapping[Search, Defaults]
    auto: Search = "auto"
    """What search="auto" runs. It compares graphs by their likelihood; where there is none, it is
    the search that was right most often."""
    tested: bool = True
    """Whether it has a test, which gives every edge a p-value."""
    largest_boundary: int | None = None
    """The most parents a node may have, where the source can judge no more."""


KINDS: dict[KindName, Kind] = {
    "counts": Kind(_COUNTED),
    "gaussian": Kind(_tested(FTest)),
    "copula": Kind(_tested(FTest)),
    "neighbours": Kind(_tested(LocalPermutation, scored=False), auto="sequential"),
    "mixed": Kind(_tested(LocalPermutation, scored=False), auto="sequential"),
    "conditional-gaussian": Kind(_tested(ChiSquared)),
    "lipschitz": Kind(
        _SMOOTHED, auto="sequential", tested=False, largest_boundary=MOST_DIMENSIONS - 2
    ),
}
"""What can be known about a table: counts of levels, the moments of numbers or of their ranks,
their nearest neighbours, their smoothed densities, or normal laws given levels."""

OF_A_TABLE = Kind(_tested(PValue))
"""A source that a function makes of a table, until it is made: most likely it has a test."""

EXACTLY_NOTHING = 1e-9
"""Information below this many nats is none, where the law is known."""


def kind_of(source: Source) -> Kind:
    """A source from outside: by its own test, by the paper's thresholds where the law is known, or
    by thresholds that the user must give."""
    auto: Search = "auto" if Ability.LIKELIHOOD in source.abilities else "sequential"
    if source.test_names:
        return Kind(_tested(PValue, scored=auto == "auto"), auto=auto)
    rule = Fixed(EXACTLY_NOTHING) if math.isinf(source.n_rows) else None
    searches = dict.fromkeys(OF_A_TABLE.searches, Defaults(None, rule, rule))
    if auto == "auto":
        searches |= dict.fromkeys(("auto", "sequential"), Defaults(None, Score(), Score()))
    return Kind(searches, auto=auto, tested=False)


MOST_REPEATS = 10**6
"""Resamples or simulated tables beyond this would take years."""
SCHEMES = ("half", "rows")
CONDITIONS = ("quick", "all")


class Parameter(NamedTuple):
    """What a parameter must be, in words, and whether a value is that."""

    wanted: str
    fits: Callable[[object], bool]


def require(**given: object) -> None:
    """Refuse values that their parameters cannot have; the first is told."""
    for name, value in given.items():
        parameter = PARAMETERS[name]
        if not parameter.fits(value):
            told = f"not {shortened(value)}"
            if isinstance(value, type):
                told = f"and {qualified_name(value)} is a class: pass what it makes"
            raise SettingError(f"{name} must be {parameter.wanted}, {told}")


def _word(choices: tuple[str, ...], otherwise: str = "") -> Parameter:
    """One of these words."""
    listed = ", ".join(map(repr, choices))
    return Parameter(
        f"one of {listed}{otherwise}", lambda value: isinstance(value, str) and value in choices
    )


def _whole(least: int, most: int | None = None) -> Parameter:
    upto = "on" if most is None else f"to {most:,}"
    return Parameter(
        f"a whole number from {least} {upto}",
        lambda value: is_whole(value) and least <= value and (most is None or value <= most),
    )


def _or(first: Parameter, wanted: str, fits: Callable[[object], bool]) -> Parameter:
    return Parameter(f"{first.wanted}{wanted}", lambda value: first.fits(value) or fits(value))


def _none_or(parameter: Parameter) -> Parameter:
    return Parameter(
        f"None or {parameter.wanted}", lambda value: value is None or parameter.fits(value)
    )


def _made_by(maker: str, module: str, name: str) -> Parameter:
    """An object of this class, which nobody has if its module was never loaded."""

    def fits(value: object) -> bool:
        kind = getattr(sys.modules.get(module), name, None)
        return kind is not None and isinstance(value, kind)

    return Parameter(maker, fits)


def _is_network(value: object) -> bool:
    from tamis.network import BayesianNetwork, GaussianNetwork  # networkx takes long to import

    return isinstance(value, BayesianNetwork | GaussianNetwork)


def _is_called(value: object) -> bool:
    return callable(value) and not isinstance(value, type)


_FUNCTION = Parameter("a function", callable)
_FLAG = Parameter("True or False", lambda value: isinstance(value, bool))
_TEXT = Parameter("a string", lambda value: isinstance(value, str))
_PATH = Parameter("the path of a file", lambda value: isinstance(value, str | os.PathLike))

PARAMETERS = {
    # Settings of a run; what is not here is checked by the room that reads it.
    "search": _word(SEARCHES),
    "boundary": _or(
        _word(BOUNDARY), ", or a function f(source, target, candidates) -> members", _is_called
    ),
    "information": _or(
        _word(("auto", *KINDS)),
        ", or a tamis.Source, or a function of a table that gives one",
        lambda value: isinstance(value, Source) or _is_called(value),
    ),
    "backward": _word(BACKWARD),
    "missing": _word(MISSING),
    "units": _word(UNITS),
    "edge_price": Parameter("a number from 0 on", lambda value: is_number(value, 0)),
    "max_boundary": _none_or(_whole(0, 2**63 - 1)),
    "look_ahead": Parameter(
        "1 (single candidates) or the size of the largest sets tried where no single one passes, "
        f"up to {constants.largest_set}",
        lambda value: value is None or (is_whole(value) and 1 <= value <= constants.largest_set),
    ),
    # Parameters of methods.
    "n": _whole(1, MOST_REPEATS),
    "n_simulations": _whole(1, MOST_REPEATS),
    "seed": _whole(0),
    "most": _whole(0, 2**63 - 1),
    "threshold": Parameter(
        "a share above 0 and up to 1", lambda value: is_number(value, 0, 1) and value > 0
    ),
    "equivalent_sample_size": Parameter(
        "a number from 0 on", lambda value: is_number(value, 0)
    ),
    "scheme": Parameter(
        "'half' (of the rows, none twice) or 'rows' (as many as there are, with replacement)",
        lambda value: isinstance(value, str) and value in SCHEMES,
    ),
    "conditions": Parameter(
        "'quick', 'all' or False",
        lambda value: isinstance(value, bool) or (isinstance(value, str) and value in CONDITIONS),
    ),
    "path": _PATH,
    "progress": _none_or(_FUNCTION),
    "quick": _FLAG,
    "fitted": _FLAG,
    "command": _none_or(_TEXT),
    "ax": _none_or(_made_by("matplotlib axes", "matplotlib.axes", "Axes")),
    "result": _made_by("a result, such as TAM.result_", "tamis.result.model", "Result"),
    "network": _none_or(
        Parameter(
            "a fitted network, such as TAM.network_",
            _is_network,
        )
    ),
    "recovery": _none_or(
        _made_by(
            "what recovery_check() returns", "tamis.identifiability.recovery", "RecoveryCheck"
        )
    ),
}  # fmt: skip
"""The parameters by name: one name means one thing wherever it is public."""
