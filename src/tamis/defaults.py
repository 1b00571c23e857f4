"""The kinds of information and the searches by name, and what each search uses by default.

Chosen by `python -m benchmarks.choose_defaults`; docs/defaults.md gives the figures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from tamis.decisions.p_values import ChiSquared, FTest, LocalPermutation, Permutation, PValue
from tamis.decisions.rule import Fixed, Rule
from tamis.information.estimators import AnyEstimator, as_estimator
from tamis.information.interface import Ability, Source
from tamis.information.lipschitz import MOST_DIMENSIONS

Search = Literal["auto", "sequential", "sieve", "node", "layer", "reference"]
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


ALPHA = 0.02
"""That of "auto" for the whole graph, shared out among its nodes."""


def _tested(test: type[PValue], entropy: str | None = None) -> dict[Search, Defaults]:
    """The defaults of each search with this test."""
    calibrated = Defaults(entropy, test(0.001), test(0.01))
    return {
        "auto": Defaults(entropy, test(ALPHA, whole_graph=True), test(ALPHA)),
        "node": calibrated,
        "layer": calibrated,
        "sieve": Defaults(entropy, test(0.001), test(0.05)),
        "sequential": calibrated,
    }


_COUNTED: dict[Search, Defaults] = {
    **_tested(Permutation, "grassberger"),
    "reference": Defaults("minimax", Fixed(0.005), Fixed(0.001), "none"),
}
# Not "layer", which judges a node with a whole layer at once: too many columns to smooth.
_SMOOTHED: dict[Search, Defaults] = dict.fromkeys(
    ("auto", "node", "sieve", "sequential"), Defaults(None, Fixed(0.04), Fixed(0.04))
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
    "neighbours": Kind(_tested(LocalPermutation), auto="sequential"),
    "mixed": Kind(_tested(LocalPermutation), auto="sequential"),
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
        return Kind(_tested(PValue), auto=auto)
    rule = Fixed(EXACTLY_NOTHING) if math.isinf(source.n_rows) else None
    searches = dict.fromkeys(OF_A_TABLE.searches, Defaults(None, rule, rule))
    return Kind(searches, auto=auto, tested=False)
