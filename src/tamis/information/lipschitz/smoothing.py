"""How far a density is smoothed before its entropy is taken, and how that is computed."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Literal, get_args

from tamis.errors import SettingError

Boundary = Literal["cut", "open"]
Bandwidth = Literal["shared", "own"]

MOST_SHIFTS = 4096
"""More shifts than this change nothing that rows could show."""


@dataclass(frozen=True)
class Smoothing:
    """The settings of the estimator; what each follows is said in ``lipschitz.source``.

    Parameters
    ----------
    smoothness
        s in (0, 2], the smoothness that the densities are taken to have. 2 is the most that the
        theory can use; a smaller s makes the bandwidth smaller.
    constant
        c in h = c (n ln n)^(-1/(s+d)), in units of a column's range. The theory leaves it open.
    boundary
        What happens at the walls of the cube that the rows span. "cut": cells end there.
        "open": the density goes on as 0 outside, and smoothing may spill over.
    bandwidth
        "shared": all entropies of one difference are smoothed alike, with the h of the largest
        set in it. "own": each set by its own dimension, as the paper has it.
    split
        Whether one half of the rows chooses between the regimes for the other, as in the article.
    shifts
        How many shifted grids the integral over the cube is averaged over.
    seed
        Of the halves and of the shifts.
    """

    smoothness: float = 2.0
    constant: float = 0.7
    boundary: Boundary = "cut"
    bandwidth: Bandwidth = "shared"
    split: bool = False
    shifts: int = 16
    seed: int = 0

    def __post_init__(self) -> None:
        _require_between("smoothness", self.smoothness, 2.0)
        _require_between("constant", self.constant, math.inf)
        _require_choice("boundary", self.boundary, get_args(Boundary))
        _require_choice("bandwidth", self.bandwidth, get_args(Bandwidth))
        _require_choice("split", self.split, (True, False))
        _require_whole("shifts", self.shifts, 1, MOST_SHIFTS)
        _require_whole("seed", self.seed, 0, None)

    def width(self, n_rows: int, dimension: int) -> float:
        """h for a number of rows and of dimensions; never more than the whole cube."""
        exponent = -1.0 / (self.smoothness + dimension)
        return min(self.constant * math.pow(n_rows * math.log(n_rows), exponent), 1.0)

    def to_dict(self) -> dict[str, float | int | str | bool]:
        """What JSON can hold, enough to estimate the same again."""
        return asdict(self)


def _require_between(name: str, value: float, most: float) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 < value <= most or math.isinf(value):
        upper = "" if math.isinf(most) else f" and at most {most:g}"
        raise SettingError(f"{name} must be a number above 0{upper}, not {value!r}")


def _require_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    # By identity of type too: 1 is not True here.
    if not any(value == choice and type(value) is type(choice) for choice in choices):
        raise SettingError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}")


def _require_whole(name: str, value: int, least: int, most: int | None) -> None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):
        upper = " on" if most is None else f" to {most}"
        raise SettingError(f"{name} must be a whole number from {least}{upper}, not {value!r}")
