"""The polynomials behind the minimax estimator, read from the file that ships with tamis.

The file is made once by ``scripts/minimax_coefficients.py`` and carries a checksum, because
one wrong digit would bend every entropy without a sign of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import cache
from importlib import resources

from tamis.errors import FileFormatError

FILE_NAME = "minimax_coefficients.json"
LARGEST_DEGREE = 33
"""The degree of a support of 1e9 cells."""

Polynomial = tuple[Decimal, ...]
"""Coefficients of 1, x, x**2 and so on."""


def checksum(coefficients: Mapping[int, Sequence[str]]) -> str:
    """The SHA-256 of all coefficients as they are written, in order of degree."""
    lines = (f"{degree} {' '.join(coefficients[degree])}\n" for degree in sorted(coefficients))
    return hashlib.sha256("".join(lines).encode("ascii")).hexdigest()


def parse_coefficients(text: str) -> dict[int, Polynomial]:
    """The polynomials in the text of a coefficient file, by degree, if it is undamaged."""
    try:
        content = json.loads(text)
        written = {int(degree): list(row) for degree, row in content["coefficients"].items()}
        stated = content["sha256"]
        found = checksum(written)
        polynomials = {degree: tuple(map(Decimal, row)) for degree, row in written.items()}
    except (ValueError, KeyError, TypeError, AttributeError, InvalidOperation) as error:
        raise FileFormatError(_damaged(f"it cannot be read ({error!r})")) from error
    if found != stated:
        raise FileFormatError(_damaged(f"its checksum is {found}, not {stated}"))
    if [len(polynomials.get(degree, ())) - 1 for degree in _DEGREES] != list(_DEGREES):
        raise FileFormatError(_damaged(f"it lacks a degree from 1 to {LARGEST_DEGREE}"))
    return polynomials


@cache
def best_approximations() -> Mapping[int, Polynomial]:
    """Best uniform approximations of -x ln x on [0, 1], by degree from 1 to 33."""
    return parse_coefficients(
        resources.files(__package__).joinpath(FILE_NAME).read_text(encoding="ascii")
    )


_DEGREES = range(1, LARGEST_DEGREE + 1)


def _damaged(reason: str) -> str:
    return (
        f"{FILE_NAME} is damaged: {reason}. Reinstall tamis, or make the file anew with "
        "scripts/minimax_coefficients.py."
    )
