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
    if hasattr(session.config, "workerinput"):
        compile_one_at_a_time()


def compile_one_at_a_time():
    """Of several processes one compiles a loop, and the others wait and load what it kept.

    numba lets all of them compile, and where two write the list of the versions of a loop at the
    same time, one version is lost, or taken for the other.
    """
    try:
        import fcntl
    except ImportError:  # not on Windows
        return
    from numba.core.dispatcher import Dispatcher

    compile_now = Dispatcher.compile

    def compile_in_turn(self, signature):
        if self._cache.cache_path is None:
            return compile_now(self, signature)
        folder = Path(self._cache.cache_path)
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / f"{self.py_func.__qualname__}.lock", "w") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)
            return compile_now(self, signature)

    Dispatcher.compile = compile_in_turn
