"""The moments of numbers in rows with survey weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis.errors import SettingError
from tamis.information.gaussian import GaussianInformation
from tamis.information.interface import Floats
from tamis.tables.moments import Moments
from tamis.tables.table import Table
from tamis.tables.weights import effective_rows


def open_weighted(
    information: str, table: Table, weights: Floats, settings: dict[str, Any]
) -> GaussianInformation:
    """Gaussian information of weighted rows."""
    require_weighted(information, settings)
    return weighted_gaussian(table, weights, **settings)


def require_weighted(information: str, settings: dict[str, Any]) -> None:
    """Refuse sources of numbers that know no weights."""
    if information != "gaussian":
        raise SettingError(
            f"information={information!r} takes every row as one, and these have survey weights: "
            "use information='counts' or 'gaussian', or whole weights, which repeat rows"
        )
    if settings.get("shrinkage") == "auto":
        raise SettingError(
            "source: shrinkage='auto' goes by the spread of equal rows: with survey weights give "
            "a number from 0 to 1"
        )


def weighted_gaussian(
    table: Table, weights: Floats, *, shrinkage: float = 0.0
) -> GaussianInformation:
    """Weighted means and covariances, as those of so many rows as the table is worth (Kish, 1965).

    The F test is then right to first order if the weights do not depend on the errors of the
    regressions, and their squares not on the candidates.
    """
    # Asked for what they refuse, and for columns that vary by rounding only.
    plain = Moments.of_table(table)
    share = weights / weights.sum()
    distances = np.array([table.numbers(k) for k in range(table.n_variables)])
    distances -= plain.mean[:, None]
    distances -= (distances @ share)[:, None]
    covariance = (distances * share) @ distances.T
    kept = plain.varies
    covariance = np.where(np.outer(kept, kept), (covariance + covariance.T) / 2, 0.0)
    return GaussianInformation(
        table.names, covariance, effective_rows(weights), shrinkage=shrinkage
    )
