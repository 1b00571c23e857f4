"""The population gaps of the paper and the rows its theorems ask for.

The theorems give rates; their constants are taken to be 1 here, so the numbers are orders of
magnitude, and the bounds behind them (Chebyshev, a union over all tests) are far from tight: a
network is usually recovered with many fewer rows (`tamis check --simulate`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass

from tamis.identifiability.known import Known
from tamis.identifiability.main_condition import Place
from tamis.identifiability.pps_condition import Selection, Unselected
from tamis.identifiability.verdicts import TOLERANCE, UNDECIDABLE


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
    """The smallest lead of boundary members over outsiders (cond:pps)."""
    xi: float | None
    """Half the smallest gain of a missing boundary member, as printed."""
    xi_greedy: float | None
    """The same, of the best missing member: what the proof needs."""
    Delta_I: float | None
    """The smallest I(X_p ; X_k | A_j without p) over the edges p -> k."""

    def to_dict(self) -> dict[str, float | None]:
        """The same for JSON; what is infinite there is None."""
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
    rows: float | None
    why: str

    def to_dict(self) -> dict[str, object]:
        """The same for JSON."""
        return asdict(self)


def rows_needed(known: Known, gaps: Gaps, epsilon: float) -> tuple[RowsNeeded, ...]:
    """Theorems thm:main (binary), thm:discrete and thm:nopps, for probability 1 - epsilon.

    omega is eta / 2, kappa is xi with PPS and Delta_I / 2 without, the largest they may be.
    """
    levels = max(len(one) for one in known.network.levels)
    d, r = max(known.n_variables, 2), len(known.layers)
    w = max(len(layer) for layer in known.layers)
    with_pps = _smallest(gaps.Delta, gaps.eta, gaps.Delta_tilde, _double(gaps.xi))
    without = _smallest(gaps.Delta, gaps.eta, gaps.Delta_I)
    return (
        _rows("thm:main", with_pps, lambda gap: _main(d, r, gap, epsilon), levels <= 2),
        _rows("thm:discrete", with_pps, lambda gap: _discrete(d, r, levels, gap, epsilon), True),
        _rows("thm:nopps", without, lambda gap: _no_pps(d, r, w, gap, epsilon), levels <= 2),
    )


def _double(value: float | None) -> float | None:
    return None if value is None else 2 * value


def _smallest(*gaps: float | None) -> float | None:
    """Half the smallest gap: the paper's Delta*."""
    if any(gap is None for gap in gaps):
        return None
    return min(gap for gap in gaps if gap is not None) / 2


def _rows(
    theorem: str, gap: float | None, formula: Callable[[float], float], applies: bool
) -> RowsNeeded:
    if not applies:
        return RowsNeeded(theorem, None, "it is stated for binary variables")
    if gap is None:
        return RowsNeeded(theorem, None, "a gap could not be computed")
    if gap <= TOLERANCE:
        return RowsNeeded(theorem, None, "a gap is zero or negative, so a condition fails")
    if math.isinf(gap):
        return RowsNeeded(theorem, None, "there is no edge to be found")
    return RowsNeeded(theorem, formula(gap), f"with the smallest gap {gap:.3g} nats")


def _main(d: int, r: int, gap: float, epsilon: float) -> float:
    return float(d * d * r * math.log(d) ** 3 / (gap * gap * epsilon))


def _discrete(d: int, r: int, levels: int, gap: float, epsilon: float) -> float:
    log_n = math.log(levels)
    first = _main(d, r, gap, epsilon) * log_n**2
    second = math.pow(d, 1 + log_n) / (gap * log_n) * math.sqrt(r / (epsilon * math.log(d)))
    return max(first, second)


def _no_pps(d: int, r: int, w: int, gap: float, epsilon: float) -> float:
    # 2^d of a large network is no float; the order of magnitude is then all there is to say.
    first: float = math.ldexp(math.sqrt(w * r / d), min(d, 900)) / (gap * math.sqrt(epsilon))
    return max(first, d**3 * w * r / (gap**2 * epsilon))
