"""Which law a rule may assume: evidence shows what kind of source it comes from."""

from __future__ import annotations

import math

from tamis.errors import SettingError
from tamis.information.interface import Tests

BY_DEGREES = ("ChiSquared", "BIC")
"""The rules that need no more than a statistic and its degrees of freedom."""


def refuse_shuffled(rule: str, evidence: Tests) -> None:
    """Refuse gains whose law only shuffles know, and those without any."""
    if _without_law(evidence):
        if _has_degrees(evidence):
            _refuse_degrees(rule)
            return
        _refuse_unknown(rule, evidence)
        raise SettingError(
            f"{rule} does not know the law of gains from nearest neighbours: choose "
            "LocalPermutation, which judges them by shuffles"
        )


def refuse_smoothed(rule: str, evidence: Tests) -> None:
    """Refuse gains from smoothed densities: their law is not known to anybody."""
    if _without_law(evidence):
        if _has_degrees(evidence):
            _refuse_degrees(rule)
        _refuse_unknown(rule, evidence)


def _refuse_degrees(rule: str) -> None:
    if rule not in BY_DEGREES:
        raise SettingError(
            f"{rule} does not know the law of gains from conditional Gaussians, which are "
            "compared with chi-squared: choose ChiSquared or BIC"
        )


def _has_degrees(evidence: Tests) -> bool:
    """Whether this is evidence of conditional Gaussians: a null mean, the degrees of freedom,
    without a variance of its own; shuffles have both, smoothed densities neither."""
    return math.isnan(evidence.null_variance[0]) and not math.isnan(evidence.null_mean[0])


def _refuse_unknown(rule: str, evidence: Tests) -> None:
    if math.isnan(evidence.null_mean[0]):
        raise SettingError(
            f"{rule} compares a gain with its law under independence, and gains from smoothed "
            "densities have none: choose Fixed, for example Fixed(0.04)"
        )


def _without_law(evidence: Tests) -> bool:
    """Whether this is evidence of neither counts nor moments alone.

    One entry stands for all, because evidence comes from one source; rules are asked millions of
    times.
    """
    return (
        evidence.residual is None
        and len(evidence.pearson) > 0
        and math.isnan(evidence.pearson[0])
        and not math.isinf(evidence.n_rows)
    )
