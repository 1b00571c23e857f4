"""The source of numbers, or of numbers and levels, for a table in which values are missing."""

from __future__ import annotations

from typing import Any

from tamis.information.catalogue import open_source
from tamis.information.interface import Source
from tamis.information.weighted_moments import require_weighted
from tamis.tables.table import Table


def open_incomplete(
    information: str, table: Table, settings: dict[str, Any] | None, n_jobs: int | None
) -> Source:
    """Gaussian columns by maximum likelihood, as far as they are seen often enough; all other
    sources, and those, by each test's own rows."""
    from tamis.information.incomplete_gaussian import IncompleteGaussian, enough_present
    from tamis.information.own_rows import OwnRows

    if table.weights is not None:
        require_weighted(information, settings or {})
    if information == "gaussian" and (table.weights is not None or enough_present(table)):
        return IncompleteGaussian.from_table(table, **(settings or {}))
    return OwnRows(table, lambda part: open_source(information, part, settings, n_jobs))
