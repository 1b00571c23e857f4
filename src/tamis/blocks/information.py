"""Information from the counts of a table in blocks, number for number that of a table in memory."""

from __future__ import annotations

from tamis.blocks.counting import BlockCounts
from tamis.blocks.folding import BlockLookup
from tamis.blocks.packed import BlockTable
from tamis.errors import SettingError
from tamis.information.counted import CountedInformation
from tamis.information.counting import by_function
from tamis.information.estimators import AnyEstimator, EntropyFunction
from tamis.information.interface import Source

WHOLE_ROWS = 1024
"""Larger than in memory: there asking again is cheap, here it takes another round."""


class BlockInformation(CountedInformation):
    """H and I of a table in blocks; every number is the one that the table in memory gives."""

    whole_rows = WHOLE_ROWS
    _engine = BlockCounts
    _reads = BlockLookup


def open_packed(
    table: BlockTable, information: str, estimator: AnyEstimator | None, n_jobs: int | None
) -> Source:
    """The counts of a packed table; other information would need its rows."""
    if estimator is None:
        raise SettingError(
            f"information={information!r} needs the rows in memory, and a table in blocks is "
            "counted only: use information='counts', or read the table itself"
        )
    return open_blocks(table, estimator, n_jobs)


def open_blocks(table: BlockTable, estimator: AnyEstimator, n_jobs: int | None) -> Source:
    """The counts of a table in blocks, by whichever estimator."""
    if isinstance(estimator, EntropyFunction):
        return by_function(BlockInformation(table, n_jobs=n_jobs), estimator)
    return BlockInformation(table, estimator, n_jobs=n_jobs)
