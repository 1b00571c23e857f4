"""Information from the moments of a table whose rows are not in memory."""

from __future__ import annotations

from typing import Any

from tamis.counting.elsewhere import MomentTable
from tamis.errors import SettingError
from tamis.information.gaussian import GaussianInformation, correlation_of
from tamis.information.shrinkage import checked_or_auto, suggested
from tamis.tables.growing import changed
from tamis.tables.moments import refuse_extremes


def open_moments(
    table: MomentTable, information: str, settings: dict[str, Any] | None
) -> GaussianInformation:
    """What the moments tell; other information would need the rows."""
    if information != "gaussian":
        raise SettingError(
            f"information={information!r} needs the rows in memory, and of numbers in blocks only "
            "the moments are taken: use information='gaussian', or read the table itself, or a "
            "sample of its rows"
        )
    moments = table.moments
    for name, size in zip(table.names, moments.size.tolist(), strict=True):
        refuse_extremes(name, size)
    wanted = checked_or_auto((settings or {}).get("shrinkage", 0.0))
    if isinstance(wanted, str):
        if table.again is None:
            raise SettingError(
                "shrinkage='auto' needs another pass over the rows, which are not at hand any "
                "more: give a number from 0 to 1"
            )
        n_rows, of_products = table.again(table.names, moments)
        if n_rows != moments.count:
            raise changed()
        wanted = suggested(n_rows, of_products, correlation_of(moments.covariance))
    return GaussianInformation.from_moments(table.names, moments, shrinkage=wanted)
