"""The mean log-likelihood of rows that a network has not seen; always finite, or refused."""

from __future__ import annotations

import math
import warnings

from tamis.errors import DataError, TamisWarning
from tamis.network.interface import Network
from tamis.network.rows import Rows, rows_of
from tamis.tables.refusals import listed, shown


def mean_log_likelihood(
    network: Network, data: object, *, n_learned: int, drop_missing: bool
) -> float:
    """The log-likelihood a row, in nats.

    A label that is no level is one more level of its column: one row, spread evenly over all
    levels, beside the ``n_learned`` rows of the others. What is left out or new is said in a
    warning.
    """
    rows = rows_of(network.names, network.levels, data, drop_missing=drop_missing)
    _warn(rows)
    total = network.log_likelihood_of(rows, 1.0 / (n_learned + 1))
    if not math.isfinite(total):
        raise DataError(
            "A row is impossible under the fitted network, so the mean log-likelihood is minus "
            "infinity. Fit with an equivalent_sample_size above 0, and leave out rows with numbers "
            "that are too far from the others for a float to hold their density."
        )
    return total / rows.n


def _warn(rows: Rows) -> None:
    if rows.n_dropped:
        _say(f"missing='drop' left out {rows.n_dropped} of {rows.n + rows.n_dropped} rows.")
    if rows.unseen:
        seen = [
            f"{shown(one.name)} has {listed(map(shown, one.labels))} in {one.n_rows} of {rows.n} "
            "rows"
            for one in rows.unseen
        ]
        _say(
            f"Labels that were never seen while learning: {listed(seen, separator='; ')}. Each "
            "counts as one more level, as probable as a prior of one row makes it."
        )


def _say(note: str) -> None:
    # The caller of TAM.score.
    warnings.warn(TamisWarning(note), stacklevel=5)
