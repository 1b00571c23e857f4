"""What the rules refuse: parameters without meaning, and data they cannot judge."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeGuard

import numpy as np

from tamis.errors import SettingError

LARGEST = 2**1000
"""Whole numbers not much larger do not fit a float; no parameter needs them."""


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a plain number, numpy's included; True and False are not."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def number(
    rule: str, parameter: str, value: object, allowed: str, fits: Callable[[float], bool]
) -> float:
    """The value as a float, if it is a number and fits."""
    too_large = isinstance(value, int) and abs(value) > LARGEST
    if is_number(value) and not too_large and fits(float(value)):
        return float(value)
    raise SettingError(f"{rule}: {parameter} must be {allowed}, not {value!r}")


def probability(rule: str, parameter: str, value: object) -> float:
    """The value, if it lies strictly between 0 and 1."""
    return number(rule, parameter, value, "a number between 0 and 1, ends excluded", _inside)


def threshold(rule: str, parameter: str, value: object) -> float:
    """The value, if it is finite and not negative."""
    return number(rule, parameter, value, "a finite number of nats, 0 or more", _not_negative)


def factor(rule: str, parameter: str, value: object) -> float:
    """The value, if it is finite and above 0."""
    return number(rule, parameter, value, "a finite number above 0", _positive)


def require_rows(rule: str, n_rows: float) -> None:
    """Refuse to weigh evidence against a sampling noise that is not there."""
    if math.isinf(n_rows):
        raise SettingError(
            f"{rule} weighs a gain against sampling noise, and exact information has no "
            "sampling noise: use Fixed(...), for example Fixed(1e-9)"
        )
    if not n_rows >= 1:
        raise SettingError(f"{rule}: n_rows must be 1 or more, not {n_rows!r}")


def _inside(value: float) -> bool:
    return 0.0 < value < 1.0


def _not_negative(value: float) -> bool:
    return 0.0 <= value < math.inf


def _positive(value: float) -> bool:
    return 0.0 < value < math.inf
