"""Rules from outside: what their methods return is looked at, and what makes no sense is named."""

from __future__ import annotations

import numpy as np

from tamis.errors import PluginError
from tamis.information.interface import Floats
from tamis.plugins import check_answers, numbers_of


def check_rule(rule: type) -> None:
    """Have the answers of a rule checked, if it is not of tamis."""
    check_answers(
        rule,
        {
            "strengths": _strengths,
            "ceilings": _strengths,
            "threshold_for": _threshold,
            "natural": _natural,
        },
    )


def _strengths(what: str, tests: object, found: object) -> Floats:
    """One finite number for each test."""
    number = len(tests)  # type: ignore[arg-type]
    strengths = numbers_of(what, found)
    if strengths.shape != (number,):
        raise PluginError(f"{what} returned {found!r}; it must be {number} numbers, one a test")
    return strengths


def _threshold(what: str, n_tests: object, found: object) -> Floats:
    """A finite number for each number of tests, which never falls as they grow."""
    wanted = np.asarray(n_tests)
    threshold = numbers_of(what, found)
    if threshold.shape not in ((), wanted.shape):
        raise PluginError(f"{what} of {n_tests!r} returned {found!r}; it must be of that shape")
    threshold = np.broadcast_to(threshold, wanted.shape)
    if (np.diff(threshold.ravel()[np.argsort(wanted, axis=None, kind="stable")]) < 0).any():
        raise PluginError(
            f"{what} of {n_tests!r} returned {found!r}; it must not fall as tests grow in number"
        )
    return threshold


def _natural(what: str, strength: object, found: object) -> float:
    number = numbers_of(what, found)
    if number.shape != ():
        raise PluginError(f"{what} of {strength!r} returned {found!r}; it must be one number")
    return float(number)
