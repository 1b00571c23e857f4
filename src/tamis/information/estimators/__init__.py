"""Estimators of the entropy of a discrete table, one published method a file."""

from __future__ import annotations

from tamis.errors import SettingError
from tamis.information.estimators.estimator import EntropyEstimator
from tamis.information.estimators.grassberger import Grassberger
from tamis.information.estimators.jackknife import Jackknife
from tamis.information.estimators.miller_madow import MillerMadow
from tamis.information.estimators.minimax import Minimax
from tamis.information.estimators.plugin import Plugin

ESTIMATORS: dict[str, type[EntropyEstimator]] = {
    estimator.name: estimator
    for estimator in (Plugin, MillerMadow, Jackknife, Grassberger, Minimax)
}
"""Every estimator that can be asked for by name."""

__all__ = [
    "ESTIMATORS",
    "EntropyEstimator",
    "Grassberger",
    "Jackknife",
    "MillerMadow",
    "Minimax",
    "Plugin",
    "as_estimator",
]


def as_estimator(spec: str | EntropyEstimator) -> EntropyEstimator:
    """The estimator of this name with its default settings; an estimator is returned as it is."""
    if isinstance(spec, EntropyEstimator):
        return spec
    if not isinstance(spec, str) or spec not in ESTIMATORS:
        choices = ", ".join(map(repr, ESTIMATORS))
        raise SettingError(
            f"there is no entropy estimator {spec!r}; choose one of {choices}, or pass an "
            "EntropyEstimator object."
        )
    return ESTIMATORS[spec]()
