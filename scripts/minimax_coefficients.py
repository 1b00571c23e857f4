"""Make the coefficient file of the minimax entropy estimator.

    python scripts/minimax_coefficients.py

computes the best uniform approximation of -x ln x on [0, 1] by a polynomial of each degree
from 1 to 33, by the exchange algorithm of Remez in 160-digit arithmetic. A polynomial is kept
only if its error equioscillates: by Chebyshev's theorem that alone makes it the best one.
With ``--check`` the file is recomputed and compared instead of written.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import mpmath
from mpmath import mp, mpf

from tamis.information.estimators.minimax import FILE_NAME, LARGEST_DEGREE, checksum

WORKING_DIGITS = 160
LEVEL = mpf(10) ** -100
"""How far, relatively, the extremes of a finished error curve may differ in size."""
WRITTEN_DIGITS = 60
"""At degree 33 the terms of n g(j) reach 2e11 and cancel; 60 digits leave a wide margin."""
MOST_EXCHANGES = 40

TARGET = Path(__file__).parents[1] / "src" / "tamis" / "information" / "estimators" / FILE_NAME


class Fit(NamedTuple):
    """A best approximation: its coefficients, the points where the error peaks, its size."""

    coefficients: list[mpf]
    extremes: list[mpf]
    error: mpf


def minus_x_log_x(x: mpf) -> mpf:
    """The function to approximate, continuous at 0."""
    return -x * mp.log(x) if x else mpf(0)


def polynomial(coefficients: list[mpf], x: mpf) -> mpf:
    """The value at x of the polynomial with these coefficients of 1, x, x**2 and so on."""
    value = mpf(0)
    for coefficient in reversed(coefficients):
        value = value * x + coefficient
    return value


def derivative(coefficients: list[mpf]) -> list[mpf]:
    """The coefficients of the derivative of a polynomial."""
    return [m * a for m, a in enumerate(coefficients)][1:]


def sign_change(curve: Callable[[mpf], mpf], low: mpf, high: mpf, tolerance: mpf) -> mpf:
    """A sign change of the curve between two points, by the Illinois form of false position."""
    at_low, at_high = curve(low), curve(high)
    if mp.sign(at_low) == mp.sign(at_high):
        raise ArithmeticError(f"no sign change between {mp.nstr(low)} and {mp.nstr(high)}")
    while abs(high - low) > tolerance * abs(high):
        middle = high - at_high * (high - low) / (at_high - at_low)
        at_middle = curve(middle)
        if mp.sign(at_middle) != mp.sign(at_high):
            low, at_low = high, at_high
        else:
            at_low /= 2
        high, at_high = middle, at_middle
        if not at_middle:
            break
    return high


def levelled(points: list[mpf]) -> list[mpf]:
    """The polynomial whose errors at L+2 points have one size and alternating signs."""
    size = len(points)
    system = mp.matrix(size, size)
    for i, x in enumerate(points):
        for m in range(size - 1):
            system[i, m] = x**m
        system[i, size - 1] = (-1) ** i
    solution = mp.lu_solve(system, mp.matrix([minus_x_log_x(x) for x in points]))
    return list(solution)[:-1]


def extremes_of_error(coefficients: list[mpf], points: list[mpf]) -> list[mpf]:
    """Where the error of a levelled polynomial peaks: both ends and once between zeros.

    The derivative of order L+1 of -x ln x keeps its sign on (0, 1), so the error has exactly
    L+1 zeros, one between any two of the L+2 points, and its slope one zero between those.
    """
    slope_coefficients = derivative(coefficients)

    def error(x: mpf) -> mpf:
        return minus_x_log_x(x) - polynomial(coefficients, x)

    def slope(x: mpf) -> mpf:
        return -mp.log(x) - 1 - polynomial(slope_coefficients, x)

    rough, fine = mpf("1e-6"), mpf(10) ** (10 - mp.dps)
    zeros = [sign_change(error, low, high, rough) for low, high in pairwise(points)]
    peaks = [sign_change(slope, low, high, fine) for low, high in pairwise(zeros)]
    return [mpf(0), *peaks, mpf(1)]


def equioscillates(coefficients: list[mpf], extremes: list[mpf]) -> bool:
    """Whether the errors at L+2 rising points alternate in sign and agree in size."""
    errors = [minus_x_log_x(x) - polynomial(coefficients, x) for x in extremes]
    sizes = [abs(error) for error in errors]
    return (
        len(extremes) == len(coefficients) + 1
        and all(low < high for low, high in pairwise(extremes))
        and all(a * b < 0 for a, b in pairwise(errors))
        and max(sizes) - min(sizes) <= LEVEL * max(sizes)
    )


def remez(degree: int) -> Fit:
    """The best uniform approximation of -x ln x on [0, 1] by a polynomial of this degree."""
    steps = degree + 1
    points = [(1 - mp.cos(mp.pi * i / steps)) / 2 for i in range(steps + 1)]
    for _ in range(MOST_EXCHANGES):
        coefficients = levelled(points)
        points = extremes_of_error(coefficients, points)
        if equioscillates(coefficients, points):
            return Fit(coefficients, points, abs(coefficients[0]))
    raise ArithmeticError(f"degree {degree}: no equioscillation in {MOST_EXCHANGES} exchanges")


def written(value: mpf) -> str:
    """A number as the file holds it: 60 significant digits; what is but noise is 0."""
    if abs(value) < LEVEL:
        return "0"
    return str(mp.nstr(value, WRITTEN_DIGITS, min_fixed=0, max_fixed=0, strip_zeros=False))


def document(coefficients: dict[int, list[str]], errors: dict[int, str]) -> str:
    """The text of the coefficient file."""
    content = {
        "what": "best uniform approximations of -x ln x on [0, 1], by degree; "
        "each row holds the coefficients of 1, x, x^2 and so on",
        "command": "python scripts/minimax_coefficients.py",
        "made_with": f"mpmath {mpmath.__version__}, {WORKING_DIGITS} digits",
        "sha256_of": "the lines '<degree> <coefficients, separated by one space>\\n' in ascending "
        "degree",
        "sha256": checksum(coefficients),
        "errors": errors,
        "coefficients": coefficients,
    }
    return json.dumps(content, indent=1) + "\n"


def main() -> None:
    """Compute all degrees, then write the file or compare with it."""
    parser = argparse.ArgumentParser(description="Make the minimax coefficient file.")
    parser.add_argument("--check", action="store_true", help="compare, do not write")
    check = parser.parse_args().check
    mp.dps = WORKING_DIGITS
    coefficients: dict[int, list[str]] = {}
    errors: dict[int, str] = {}
    for degree in range(1, LARGEST_DEGREE + 1):
        fit = remez(degree)
        coefficients[degree] = [written(value) for value in fit.coefficients]
        errors[degree] = written(fit.error)
        print(f"degree {degree:2}: error {mp.nstr(fit.error, 12)}", flush=True)
    if not check:
        TARGET.write_text(document(coefficients, errors), encoding="ascii")
        print(f"wrote {TARGET}")
    elif json.loads(TARGET.read_text(encoding="ascii"))["sha256"] != checksum(coefficients):
        sys.exit(f"{TARGET} differs from what this script computes")


if __name__ == "__main__":
    main()
