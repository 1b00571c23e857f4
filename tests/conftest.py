"""Results that are learned once, and how the tests run.

Compiled loops are kept apart from those of an install, and no test is against the clock. Set
before anything imports numpy or numba, which is why the fixtures import what they need.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "sprinkler.csv"

os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".pytest_cache" / "loops"))

# There is a test process for every core: more threads would wait for each other.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
os.environ.setdefault("POLARS_MAX_THREADS", "1")

# How long an example takes says how busy the machine is; the first one may also have to compile.
AT_LEISURE = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("tamis", max_examples=20, **AT_LEISURE)
settings.register_profile("thorough", max_examples=200, **AT_LEISURE)  # --hypothesis-profile
settings.load_profile("tamis")


def pytest_sessionstart(session):
    from tamis.counting.compiled import Uncompiled

    # Else it would depend on the tests before which loops a test sees.
    Uncompiled.before_loading = Uncompiled.before_compiling = -1.0


# Models for whatever shows, writes or explains a result: nobody fits them again.


@pytest.fixture(scope="session")
def sprinkler():
    """The example of the README: seven columns of levels, read from a file."""
    import tamis

    return tamis.TAM(n_jobs=1).fit(EXAMPLE)


@pytest.fixture(scope="session")
def numbers():
    """A chain of measurements, and one that hangs on nothing."""
    import numpy as np

    import tamis

    rng = np.random.default_rng(7)
    x, u = rng.normal(size=(2, 300))
    y = x + rng.normal(size=300)
    return tamis.TAM(n_jobs=1).fit({"x": x, "y": y, "z": y + rng.normal(size=300), "u": u})


@pytest.fixture(scope="session")
def mixed():
    """Levels, an ordered column and a measurement."""
    import numpy as np
    import pandas as pd

    import tamis

    rng = np.random.default_rng(7)
    mass = rng.normal(size=300)
    size = pd.Categorical(np.where(mass > 0, "big", "small"), ["small", "big"], ordered=True)
    sex = np.where(mass + rng.normal(size=300) > 0, "f", "m")
    length = mass + rng.normal(size=300)
    return tamis.TAM(n_jobs=1).fit(pd.DataFrame({"size": size, "sex": sex, "length": length}))


@pytest.fixture(scope="session")
def survey():
    """Levels with missing values, learned in pairs, and with knowledge of what comes first."""
    import numpy as np

    import tamis

    rng = np.random.default_rng(7)
    a, b = rng.integers(0, 2, (2, 400))
    c = np.where(rng.random(400) < 0.15, rng.integers(0, 2, 400), a | b)
    d = np.where(rng.random(400) < 0.2, rng.integers(0, 2, 400), c)
    columns = {
        name: [None if rng.random() < 0.04 else f"v{value}" for value in values]
        for name, values in {"a": a, "b": b, "c": c, "d": d}.items()
    }
    told = {"tiers": [["d"], ["c"], ["a", "b"]]}
    return tamis.TAM(missing="pairwise", knowledge=told, n_jobs=1).fit(columns)
