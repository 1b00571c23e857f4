"""What the rules refuse: parameters without meaning, data they cannot judge, and, of rules from
outside, answers without meaning."""

from __future__ import annotations

import math
import sys

import numpy as np

from tamis.errors import SettingError
from tamis.information.interface import Floats, Tests
from tamis.plugins import check_answers, is_number, number_of, numbers_of, refusal

SMALLEST = math.ulp(0.0)
"""The least number above 0."""


def probability(rule: str, parameter: str, value: object) -> float:
    """The value, if it lies strictly between 0 and 1."""
    allowed = "a number between 0 and 1, ends excluded"
    return _number(rule, parameter, value, allowed, SMALLEST, math.nextafter(1.0, 0.0))


def threshold(rule: str, parameter: str, value: object) -> float:
    """The value, if it is finite and not negative."""
    return _number(rule, parameter, value, "a finite number of nats, 0 or more", 0.0)


def factor(rule: str, parameter: str, value: object) -> float:
    """The value, if it is finite and above 0."""
    return _number(rule, parameter, value, "a finite number above 0", SMALLEST)


def require_rows(rule: str, n_rows: float) -> None:
    """Refuse to weigh evidence against a sampling noise that is not there."""
    if math.isinf(n_rows):
        raise SettingError(
            f"{rule} weighs a gain against sampling noise, and exact information has no "
            "sampling noise: use Fixed(...), for example Fixed(1e-9)"
        )
    if not n_rows >= 1:
        raise SettingError(f"{rule}: n_rows must be 1 or more, not {n_rows!r}")


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


def _number(
    rule: str,
    parameter: str,
    value: object,
    allowed: str,
    least: float,
    most: float = sys.float_info.max,
) -> float:
    if is_number(value, least, most):
        return float(value)
    raise SettingError(f"{rule}: {parameter} must be {allowed}, not {value!r}")


def _strengths(what: str, _: object, tests: Tests, found: object) -> Floats:
    """One finite number for each test."""
    return numbers_of(what, found, (len(tests),))


def _threshold(what: str, _: object, n_tests: object, found: object) -> Floats:
    """A finite number for each number of tests, which never falls as they grow."""
    wanted = np.asarray(n_tests)
    threshold = numbers_of(what, found)
    if threshold.shape not in ((), wanted.shape):
        raise refusal(f"{what} of {n_tests!r}", found, "it must be of that shape")
    threshold = np.broadcast_to(threshold, wanted.shape)
    if (np.diff(threshold.ravel()[np.argsort(wanted, axis=None, kind="stable")]) < 0).any():
        raise refusal(f"{what} of {n_tests!r}", found, "it must not fall as tests grow in number")
    return threshold


def _natural(what: str, rule: object, strength: object, found: object) -> float:
    """One number; a probability, if that is the unit."""
    if getattr(rule, "unit", None) == "p":
        wanted = 'it must be one number from 0 to 1, as the unit is "p"'
        return number_of(f"{what} of {strength!r}", found, wanted, 0.0, 1.0)
    return number_of(f"{what} of {strength!r}", found, "it must be one number")
