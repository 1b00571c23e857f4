"""The record of a search."""

from __future__ import annotations

import numpy as np

from tamis.search.outcome import Uncertainties


def test_rounds_are_kept_by_what_changed():
    rng = np.random.default_rng(0)
    now, kept, every = rng.random(20), Uncertainties(), []
    for k in range(20):
        now[rng.integers(0, 20, 2)] = rng.random(2)
        now[k] = np.inf
        every.append(now.astype(np.float32))
        kept.append(now)
    for comp, ref in zip(kept, every, strict=True):
        np.testing.assert_array_equal(comp, ref)
