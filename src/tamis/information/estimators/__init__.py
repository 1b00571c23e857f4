"""Estimators of the entropy of a discrete table, by name and in files."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Literal, final, get_args

from tamis.errors import SettingError
from tamis.information.estimators.estimator import (
    EntropyEstimator,
    EntropyFunction,
    Grassberger,
    Jackknife,
    MillerMadow,
    Plugin,
)
from tamis.information.estimators.minimax import Minimax
from tamis.plugins import Plain, Recorded, beside, is_qualified, plain, qualified_name, truth_of

EstimatorName = Literal["plugin", "miller-madow", "jackknife", "grassberger", "minimax"]

ESTIMATORS: dict[str, type[EntropyEstimator]] = dict(
    zip(
        get_args(EstimatorName),
        (Plugin, MillerMadow, Jackknife, Grassberger, Minimax),
        strict=True,
    )
)
"""Every estimator that can be asked for by name."""

AnyEstimator = EntropyEstimator | EntropyFunction
"""A sum over cells, which is quick, or any function of the counts of a table."""

__all__ = [
    "ESTIMATORS",
    "AnyEstimator",
    "EntropyEstimator",
    "EntropyFunction",
    "EstimatorName",
    "Grassberger",
    "Jackknife",
    "MillerMadow",
    "Minimax",
    "Plugin",
    "RecordedEstimator",
    "as_additive",
    "as_estimator",
    "estimator_from_dict",
    "estimator_to_dict",
]


@final
class RecordedEstimator(Recorded, EntropyEstimator):
    """An entropy estimator from outside as a file tells of it."""

    terms = Recorded.__call__  # type: ignore[assignment]


def as_estimator(spec: str | AnyEstimator | Callable[..., float]) -> AnyEstimator:
    """The estimator of this name with its default settings; an estimator is returned as it is, and
    a function f(counts) -> nats becomes one."""
    if isinstance(spec, EntropyEstimator | EntropyFunction):
        estimator_to_dict(spec)  # refuses what no file could tell of
        return spec
    if callable(spec) and not isinstance(spec, type):
        return EntropyFunction(spec)
    if not isinstance(spec, str) or spec not in ESTIMATORS:
        choices = ", ".join(map(repr, ESTIMATORS))
        raise SettingError(
            f"there is no entropy estimator {spec!r}; choose one of {choices}, or pass an "
            "EntropyEstimator object or a function of the counts of a table."
        )
    return ESTIMATORS[spec]()


def as_additive(spec: str | AnyEstimator, needed_by: str) -> EntropyEstimator:
    """The estimator, if it is a sum over cells."""
    found = as_estimator(spec)
    if isinstance(found, EntropyFunction):
        raise SettingError(
            f"entropy={found.name} is a function of whole tables, and {needed_by} needs a sum over "
            f"cells: use one of {', '.join(map(repr, ESTIMATORS))}"
        )
    return found


def estimator_to_dict(estimator: AnyEstimator) -> dict[str, Plain]:
    """The estimator in a form that JSON can hold; one from outside by its qualified name."""
    if isinstance(estimator, RecordedEstimator):
        return estimator.to_dict("estimator")
    own = type(estimator) in (*ESTIMATORS.values(), EntropyFunction)
    name = estimator.name if own else qualified_name(estimator)
    for flag in () if own else ("uses_support", "observed_support", "clips"):
        truth_of(f"{name}.{flag}", getattr(estimator, flag))
    return beside(plain(estimator.parameters()), {"estimator": name})


def estimator_from_dict(written: object) -> EntropyEstimator:
    """What ``estimator_to_dict`` wrote; of one from outside only the record, imported from
    nowhere."""
    given = dict(written) if isinstance(written, dict) else {}
    name = given.pop("estimator", None)
    if is_qualified(name):
        return RecordedEstimator.from_dict("estimator", {**given, "estimator": name})
    if name not in ESTIMATORS:
        raise SettingError(f"{written!r} is not an entropy estimator")
    kind = ESTIMATORS[name]
    if not given.keys() <= signature(kind).parameters.keys():
        raise SettingError(f"the entropy estimator {name!r} has no parameters {list(given)}")
    return kind(**given)
