"""Compiled loops are kept apart for each state of their sources, and no test is against the clock.

numba notices a change in the file of a loop, not in the files of the loops it calls; a stale
combination would be tested otherwise. Set before anything imports numba.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parent.parent
LOOPS = sorted([*(ROOT / "src/tamis/counts").glob("*.py"), ROOT / "src/tamis/search/scan.py"])

if "NUMBA_CACHE_DIR" not in os.environ:
    state = hashlib.sha256(b"".join(path.read_bytes() for path in LOOPS)).hexdigest()[:16]
    os.environ["NUMBA_CACHE_DIR"] = str(ROOT / ".pytest_cache" / f"loops-{state}")

# How long an example takes says how busy the machine is; the first one may also have to compile.
settings.register_profile("tamis", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tamis")
