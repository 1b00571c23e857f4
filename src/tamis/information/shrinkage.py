"""How far to pull correlations towards 0: a number, or the choice that the rows suggest."""

from __future__ import annotations

from collections.abc import Iterable

from tamis.errors import SettingError
from tamis.information.interface import Floats
from tamis.plugins import is_number
from tamis.tables.moments import spread_of_products

AUTO = "auto"


def checked(shrinkage: object) -> float:
    """The value, if it is a number from 0 to 1."""
    if not is_number(shrinkage, 0, 1):
        raise SettingError(f"shrinkage must be a number from 0 to 1, not {shrinkage!r}")
    return float(shrinkage)


def checked_or_auto(shrinkage: object) -> float | str:
    """The value, if it is a number from 0 to 1 or leaves the choice to the rows."""
    if isinstance(shrinkage, str) and shrinkage == AUTO:
        return AUTO
    try:
        return checked(shrinkage)
    except SettingError as error:
        raise SettingError(f"{error}; {AUTO!r} leaves it to the rows") from None


def analytic(blocks: Iterable[Floats], correlation: Floats) -> float:
    """The shrinkage of least expected squared error (Schäfer and Strimmer, 2005).

    It is the summed variance of the correlations over the sum of their squares, neither on the
    diagonal. ``blocks`` are the rows a block at a time, a column in each line, every column with
    mean 0 and variance 1, or all 0 if it is constant; ``correlation`` is theirs.
    """
    return suggested(*spread_of_products(blocks), correlation)


def suggested(n_rows: int, of_products: float, correlation: Floats) -> float:
    """The shrinkage of least expected squared error, from sums over the rows."""
    squares = float((correlation**2).sum() - (correlation.diagonal() ** 2).sum())
    if not squares > 0 or n_rows < 2:
        return 0.0
    found = (of_products - n_rows * squares) / (n_rows * (n_rows - 1) * squares)
    return min(max(found, 0.0), 1.0)
