"""Compiled loops are kept apart from those of an install, and no test is against the clock.

Set before anything imports numba.
"""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parent.parent

os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".pytest_cache" / "loops"))

# There is a test process for every core: more threads would wait for each other.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
os.environ.setdefault("POLARS_MAX_THREADS", "1")

# How long an example takes says how busy the machine is; the first one may also have to compile.
settings.register_profile("tamis", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tamis")


def pytest_sessionstart(session):
    from tamis.counting.compiled import Uncompiled

    # Else it would depend on the tests before which loops a test sees.
    Uncompiled.before_loading = Uncompiled.before_compiling = -1.0
