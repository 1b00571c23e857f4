"""The population gaps of the paper and the rows its theorems ask for.

The theorems give rates; their constants are taken to be 1 here, so the numbers are orders of
magnitude, and the bounds behind them (Chebyshev, a union over all tests) are far from tight: a
network is usually recovered with many fewer rows (`tamis check --simulate`).

Theorem thm:cts, for continuous variables, is printed as (n ln n)^(2s / (s + ln d)) "or" n at least
a bound B, with the sign for the larger of two. The squared error of the entropy estimator of Han et
al. (2020) is the sum of (n ln n)^(-2s / (s + M)) and 1/n, with M of the order of ln d, and both
must come below 1 / B. So the smaller of the two must reach B, and that is what is computed here
(docs/departures.md). As printed, n = B would do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

from scipy.special import wrightomega

from tamis.identifiability.conditions import TOLERANCE, UNDECIDABLE
from tamis.identifiability.known import Known
from tamis.identifiability.pps_condition import Selection, Unselected
from tamis.identifiability.unequal_entropy import Place

SMOOTHNESS = 2.0
"""s of thm:cts, the most it allows: normal densities have derivatives of every order. (That they do
not end at the walls of a cube, as the densities of Han et al. do, is passed over.)"""


@dataclass(frozen=True)
class Gaps:
    """The margins that set the sample size, in nats; None where one was not computed, and
    infinite where there is nothing to compare.

    ``Delta`` and ``eta`` use, for each node and layer, the important ancestor whose weaker side
    is the strongest: the paper leaves open which one.
    """

    Delta: float | None
    """The smallest lead in uncertainty of an important ancestor."""
    eta: float | None
    """The smallest gain of an important ancestor."""
    Delta_tilde: float | None
    """The smallest difference in gain between boundary members and outsiders (cond:pps)."""
    xi: float | None
    """Half the smallest gain of a missing boundary member, as printed."""
    xi_greedy: float | None
    """Half the smallest gain of the best missing boundary member: what the proof needs."""
    Delta_I: float | None
    """The smallest I(X_p ; X_k | A_j without p) over the edges p -> k."""

    def to_dict(self) -> dict[str, float | None]:
        """Convert it to what JSON can hold; what is infinite becomes None."""
        return {
            name: None if value is None or math.isinf(value) else value
            for name, value in asdict(self).items()
        }


def find_gaps(
    known: Known, places: Sequence[Place], selections: Sequence[Selection | Unselected]
) -> Gaps:
    """All of them."""
    best = [place.best() for place in places if place.ancestors is not None]
    all_places = len(best) == len(places)
    found = [one for one in selections if isinstance(one, Selection) and one.boundary]
    all_found = not any(isinstance(one, Unselected) for one in selections)
    return Gaps(
        Delta=_least((a.lead for a in best), all_places),
        eta=_least((a.gain for a in best), all_places),
        Delta_tilde=_least((one.lead for one in found), all_found),
        xi=_least((one.weakest for one in found), all_found),
        xi_greedy=_least((one.strongest for one in found), all_found),
        Delta_I=_delta_i(known),
    )


def _least(values: Iterable[float], complete: bool) -> float | None:
    return min(values, default=math.inf) if complete else None


def _delta_i(known: Known) -> float | None:
    least = math.inf
    try:
        for k, parents in enumerate(known.parents):
            A = known.canonical[known.layer_of[k]]
            for p in parents:
                least = min(least, known.information.gain(k, [p], A - {p}))
    except UNDECIDABLE:
        return None
    return least


@dataclass(frozen=True)
class RowsNeeded:
    """The rows a theorem asks for, with constant 1; None where it does not apply."""

    theorem: str
    magnitude: float | None
    """The logarithm of the number of rows to base 10."""
    why: str

    @property
    def rows(self) -> float | None:
        """The number itself; infinite where no float can hold it."""
        if self.magnitude is None:
            return None
        return 10.0**self.magnitude if self.magnitude < 300 else math.inf

    def to_dict(self) -> dict[str, object]:
        """Convert it to what JSON can hold."""
        return asdict(self)


class _Case(NamedTuple):
    """A theorem on one network."""

    theorem: str
    refused: str
    """Why it does not speak of this network, or nothing."""
    gaps: dict[str, float | None]
    formula: Callable[[float], float]
    """From the smallest of its gaps to the logarithm of the number of rows."""
    remark: str


def rows_needed(
    known: Known,
    gaps: Gaps,
    boundary_size: int | None,
    *,
    minimal: bool | None,
    masked: bool | None,
    epsilon: float,
) -> tuple[RowsNeeded, ...]:
    """Theorems thm:main (binary), thm:discrete, thm:cts (continuous) and thm:nopps (binary), for
    probability 1 - epsilon.

    omega is eta / 2, kappa is xi with PPS and Delta_I / 2 without, the largest they may be. The
    first three assume that the largest Markov boundary is of the order of ln d; its size is in the
    remark. They are silent where masking given the boundary misses what masking given the layers
    sees (``masked`` is False): their proof overlooks this. Rows are given by their logarithm,
    since 2^d of a large network is no float.
    """
    levels = max(len(one) for one in known.network.levels)
    d, r = max(known.n_variables, 2), len(known.layers)
    w = max(len(layer) for layer in known.layers)
    shared = {"Delta": gaps.Delta, "eta": gaps.eta}
    with_pps = {
        **shared,
        "Delta~": gaps.Delta_tilde,
        "2 xi": None if gaps.xi is None else 2 * gaps.xi,
    }
    without = {**shared, "Delta_I": gaps.Delta_I}
    size = "" if boundary_size is None else f"; the largest boundary has {boundary_size} nodes"
    smooth = f", for densities of smoothness {SMOOTHNESS:g}{size}"
    binary = "" if 0 < levels <= 2 else "it is stated for binary variables"
    discrete = "it is stated for discrete variables" if known.is_continuous else ""
    continuous = "" if known.is_continuous else "it is stated for continuous variables"
    cases = [
        _Case("thm:main", binary, with_pps, lambda gap: _main(d, r, gap, epsilon), size),
        _Case(
            "thm:discrete",
            discrete,
            with_pps,
            lambda gap: _discrete(d, r, levels, gap, epsilon),
            size,
        ),
        _Case("thm:cts", continuous, with_pps, lambda gap: _continuous(d, r, gap, epsilon), smooth),
        _Case("thm:nopps", binary, without, lambda gap: _no_pps(d, r, w, gap, epsilon), ""),
    ]
    return tuple(_rows(case, minimal, masked if case.gaps is with_pps else True) for case in cases)


def _rows(case: _Case, minimal: bool | None, masked: bool | None) -> RowsNeeded:
    known = {name: value for name, value in case.gaps.items() if value is not None}
    smallest = min(known, key=known.__getitem__, default=None)
    refused = case.refused
    if not refused and minimal is False:
        refused = "the graph is no minimal I-map"
    elif not refused and (smallest is None or len(known) < len(case.gaps)):
        refused = "a gap could not be computed"
    if refused or smallest is None:
        return RowsNeeded(case.theorem, None, refused)
    if known[smallest] <= TOLERANCE:
        return RowsNeeded(case.theorem, None, f"{smallest} is not positive")
    if math.isinf(known[smallest]):
        return RowsNeeded(case.theorem, None, "there is no edge to be found")
    if masked is False:
        return RowsNeeded(
            case.theorem,
            None,
            "its conditions hold, but not what the algorithm needs (docs/departures.md)",
        )
    half = known[smallest] / 2
    why = f"{smallest} / 2 is the smallest gap, {half:.3g} nats{case.remark}"
    return RowsNeeded(case.theorem, case.formula(half) / math.log(10), why)


def _main(d: int, r: int, gap: float, epsilon: float) -> float:
    return math.log(d * d * r * math.log(d) ** 3) - math.log(epsilon) - 2 * math.log(gap)


def _discrete(d: int, r: int, levels: int, gap: float, epsilon: float) -> float:
    log_n = math.log(max(levels, 2))
    first = _main(d, r, gap, epsilon) + 2 * math.log(log_n)
    second = (1 + log_n) * math.log(d) - math.log(gap * log_n)
    return max(first, second + 0.5 * (math.log(r / math.log(d)) - math.log(epsilon)))


def _no_pps(d: int, r: int, w: int, gap: float, epsilon: float) -> float:
    noise = -math.log(epsilon)
    first = d * math.log(2) + 0.5 * (math.log(w * r / d) + noise) - math.log(gap)
    return max(first, math.log(d**3 * w * r) + noise - 2 * math.log(gap))


def _continuous(
    d: int, r: int, gap: float, epsilon: float, smoothness: float = SMOOTHNESS
) -> float:
    """thm:cts with "and" in the place of its "or": the head of this file says why.

    n ln n is to reach a number C; with w = ln n that is w + ln w = ln C, whose solution is
    Wright's omega.
    """
    bound = math.log(d * d * r * math.log(d)) - math.log(epsilon) - 2 * math.log(gap)
    both = bound * (smoothness + math.log(d)) / (2 * smoothness)
    return max(bound, float(wrightomega(both)))
