"""Which entropy estimators can be carried over from all rows to some of them."""

from __future__ import annotations

import numpy as np

from tamis.errors import SettingError
from tamis.information.estimators import EntropyEstimator
from tamis.information.interface import Floats


def require_scaling(estimator: EntropyEstimator) -> None:
    """Refuse an estimator whose f for fewer rows does not follow from that for all of them."""
    follows = not (estimator.uses_support or estimator.clips)
    if follows:
        few, many = (counted_in(estimator, n) for n in (100, 1000))
        off = many - few - np.arange(1, 6) * (many[0] - few[0])
        follows = bool(np.abs(off).max() < 1e-9)
    if not follows:
        raise SettingError(
            f"entropy={estimator.name!r} depends on the rows in more than one way, and with "
            "missing='pairwise' they differ from test to test: use 'grassberger', 'plugin', "
            "'miller-madow' or 'jackknife', or missing='drop' or 'level'"
        )


def counted_in(estimator: EntropyEstimator, n_rows: int) -> Floats:
    """n f(j; n) for the first few j."""
    counts = np.arange(1, 6, dtype=np.int64)
    return np.asarray(n_rows * estimator.terms(counts, n_rows, 1), dtype=np.float64)
