"""What a process of its own took, as the system says."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter


@dataclass(frozen=True)
class Cost:
    """Of one process: seconds on the clock, seconds of all its threads, and bytes at its peak."""

    wall: float
    cpu: float
    peak: int


def run(module: str, *arguments: str | Path) -> Cost:
    """Run a module in a process of its own."""
    return _waited([sys.executable, "-m", module, *map(str, arguments)])


def _waited(command: Sequence[str]) -> Cost:
    start = perf_counter()
    process = subprocess.Popen(command)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command[1:4])} failed")
    # Linux counts the peak in kibibytes, others in bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    return Cost(perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss * unit)


def megabytes(size: int) -> str:
    """A size in units of a million bytes."""
    return f"{size / 10**6:,.0f} MB"
