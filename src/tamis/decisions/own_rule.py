"""Rules from outside: what their methods return is looked at, and what makes no sense is named."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from tamis.errors import PluginError
from tamis.information.interface import Floats
from tamis.plugins import answer_of, qualified_name

Method = Callable[..., Any]


def check_answers(rule: type) -> None:
    """Have the methods that a class defines itself checked, if it is not of tamis."""
    if rule.__module__.split(".")[0] == "tamis":
        return
    for name, check in _CHECKS.items():
        if name in vars(rule):
            setattr(rule, name, _checked(name, vars(rule)[name], check))


def _checked(name: str, method: Method, check: Callable[[str, object, Any], object]) -> Method:
    @wraps(method)
    def answer(self: object, asked: object) -> object:
        what = f"{qualified_name(self)}.{name}"
        return check(what, asked, answer_of(what, lambda: method(self, asked)))

    return answer


def _scores(what: str, tests: object, found: object) -> Floats:
    """One finite number for each test."""
    number = len(tests)  # type: ignore[arg-type]
    scores = _numbers(what, found)
    if scores.shape != (number,):
        raise PluginError(f"{what} returned {found!r}; it must be {number} numbers, one a test")
    return scores


def _bar(what: str, n_tests: object, found: object) -> Floats:
    """A finite number for each number of tests, which never falls as they grow."""
    wanted = np.asarray(n_tests)
    bar = _numbers(what, found)
    if bar.shape not in ((), wanted.shape):
        raise PluginError(f"{what} of {n_tests!r} returned {found!r}; it must be of that shape")
    bar = np.broadcast_to(bar, wanted.shape)
    if (np.diff(bar.ravel()[np.argsort(wanted, axis=None, kind="stable")]) < 0).any():
        raise PluginError(
            f"{what} of {n_tests!r} returned {found!r}; it must not fall as tests grow in number"
        )
    return bar


def _natural(what: str, score: object, found: object) -> float:
    number = _numbers(what, found)
    if number.shape != ():
        raise PluginError(f"{what} of {score!r} returned {found!r}; it must be one number")
    return float(number)


def _numbers(what: str, found: object) -> Floats:
    array = answer_of(what, lambda: np.asarray(found))
    if array.dtype.kind not in "fiu":
        raise PluginError(f"{what} returned {found!r}; it must be numbers")
    if not np.isfinite(array).all():
        raise PluginError(f"{what} returned {found!r}; all of it must be finite")
    return array.astype(np.float64)


_CHECKS: dict[str, Callable[[str, object, Any], object]] = {
    "scores": _scores,
    "ceilings": _scores,
    "bar": _bar,
    "natural": _natural,
}
