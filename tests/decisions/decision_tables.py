"""Evidence for the tests of decision rules: invented, or from many contingency tables at once."""

from __future__ import annotations

import numpy as np

from tamis.information.null_laws import CountTests

STATS = ("plugin", "df", "pearson", "null_mean", "null_variance")


def evidence(n_rows: float = 1000.0, **fields) -> CountTests:
    """Tests of counts with these fields, as arrays of one length; the fields not named are 0."""
    arrays = {name: np.atleast_1d(np.asarray(value, float)) for name, value in fields.items()}
    size = max((len(array) for array in arrays.values()), default=1)
    filled = [
        np.resize(arrays[name], size) if name in arrays else np.zeros(size)
        for name in ("cmi", *STATS)
    ]
    return CountTests(filled[0], stats=np.array(filled[1:]).T, n_rows=n_rows)


def tables_of_independent(rng: np.random.Generator, size: int, n_rows: int, z, x, y) -> np.ndarray:
    """Many tables (stratum, x, y) of n rows where x and y are independent in each stratum.

    ``z`` holds the probabilities of the strata, ``x`` and ``y`` those of their levels, one
    line a stratum or the same for all.
    """
    z = np.asarray(z, float)
    x, y = (np.broadcast_to(p, (len(z), np.shape(p)[-1])) for p in (x, y))
    p = z[:, None, None] * x[:, :, None] * y[:, None, :]
    return rng.multinomial(n_rows, p.ravel() / p.sum(), size=size).reshape(size, *p.shape)


def evidence_of(tables: np.ndarray) -> CountTests:
    """The evidence of many tests at once; ``tables[test, stratum, i, j]`` counts rows."""
    tables = tables.astype(float)
    a, b = tables.sum(axis=3), tables.sum(axis=2)
    N = a.sum(axis=2)
    r, s = (a > 0).sum(axis=2), (b > 0).sum(axis=2)
    expected = a[..., :, None] * b[..., None, :] / np.maximum(N, 1)[..., None, None]
    safe = np.maximum(expected, 1e-300)
    pearson = np.where(expected > 0, (tables - expected) ** 2 / safe, 0).sum(axis=(2, 3))
    log_ratio = np.log(np.maximum(tables, 1e-300) / safe)
    plugin = np.where(tables > 0, tables * log_ratio, 0).sum(axis=(1, 2, 3)) / N.sum(axis=1)
    mean, variance = _permutation_moments(a, b, N, r, s)
    varies = (mean > 0) & (variance > 1e-12 * mean)  # an exact 0 is lost to rounding
    stats = {
        "plugin": plugin,
        "df": ((r - 1) * (s - 1) * (N > 0)).sum(axis=1).astype(float),
        "pearson": np.where(varies, pearson, 0).sum(axis=1),
        "null_mean": np.where(varies, mean, 0).sum(axis=1),
        "null_variance": np.where(varies, variance, 0).sum(axis=1),
    }
    return evidence(float(N[0].sum()), cmi=plugin, **stats)


def _permutation_moments(a, b, N, r, s):
    mean = N * (r - 1) * (s - 1) / np.maximum(N - 1, 1)
    v_r, v_s = ((N - q) * (q - 1) / np.maximum(N - 1, 1) for q in (r, s))
    w_r, w_s = (
        (N * np.where(m > 0, 1 / np.maximum(m, 1), 0).sum(axis=2) - q**2) / np.maximum(N - 2, 1)
        for m, q in ((a, r), (b, s))
    )
    first = np.where(N > 3, 2 * N / np.maximum(N - 3, 1), 0) * (v_r - w_r) * (v_s - w_s)
    return mean, first + N**2 / np.maximum(N - 1, 1) * w_r * w_s
