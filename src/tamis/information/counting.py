"""The counts of a table of levels, by the source that its rows need."""

from __future__ import annotations

from tamis.counting.elsewhere import BlockTable
from tamis.information.counted import CountedInformation
from tamis.information.estimators import AnyEstimator, EntropyFunction
from tamis.information.interface import Source
from tamis.tables.table import Table, in_memory


def open_counts(table: Table | BlockTable, estimator: AnyEstimator, n_jobs: int | None) -> Source:
    """Plain rows go to the bit planes; missing values and survey weights make real counts."""
    if in_memory(table) and (table.weights is not None or table.missing):
        from tamis.information.real_counts import RealCountInformation

        return RealCountInformation(table, estimator)
    if isinstance(estimator, EntropyFunction):
        return by_function(CountedInformation(table, n_jobs=n_jobs), estimator)
    return CountedInformation(table, estimator, n_jobs=n_jobs)


def by_function(counted: CountedInformation, function: EntropyFunction) -> Source:
    """Counts with entropies by a function of whole tables."""
    from tamis.information.whole_tables import WholeTables

    return WholeTables(counted, function)
