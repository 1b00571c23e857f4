"""A run in a process of its own, which is ended when its time is over.

A fresh interpreter runs ``tamis.baselines.child``; it does not import the caller's main module, so
scripts need no ``if __name__ == "__main__"`` guard and notebooks work. Nothing is pickled: table
and outcome are files in a folder that is also the child's place for temporary files and goes
away with it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep

from tamis.baselines.interface import Baseline
from tamis.baselines.outcome import Outcome
from tamis.baselines.transfer import has_started, read_outcome, write_request
from tamis.tables import Table

STARTING = 120.0
"""Seconds a child may take to start and to import its libraries, which do not count as run."""
GRACE = 2.0
"""Seconds between asking a child to end and ending it."""

ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)
_LAST_LINES = 5


def attempt_within(
    time_limit: float, baseline: Baseline, table: Table, seed: int | None
) -> Outcome:
    """The outcome after at most ``time_limit`` seconds of learning."""
    with TemporaryDirectory(prefix="tamis-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        write_request(folder, baseline, table, seed)
        process = _start(folder)
        try:
            return _watch(process, folder, time_limit)
        finally:
            # Also when the caller interrupts.
            _end(process)


def _start(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", "-m", "tamis.baselines.child", str(folder)]
    with open(folder / "output.txt", "wb") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=_environment(folder),
            # A group of its own, so that whatever the library starts ends with it.
            start_new_session=True,
        )


def _environment(folder: Path) -> dict[str, str]:
    environment = dict(os.environ)
    environment |= dict.fromkeys(ONE_THREAD, "1")
    environment |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))
    environment["PYTHONPATH"] = os.pathsep.join(path or os.getcwd() for path in sys.path)
    return environment


def _watch(process: subprocess.Popen[bytes], folder: Path, time_limit: float) -> Outcome:
    if not _has_started_in_time(process, folder):
        return Outcome(None, 0.0, failure=f"the process did not start within {STARTING:g} s")
    start = monotonic()
    try:
        process.wait(time_limit)
    except subprocess.TimeoutExpired:
        # It may have finished and not yet ended.
        return read_outcome(folder) or Outcome(None, monotonic() - start, timed_out=True)
    found = read_outcome(folder)
    if found is None:
        return Outcome(None, monotonic() - start, failure=_how_it_ended(process, folder))
    return found


def _has_started_in_time(process: subprocess.Popen[bytes], folder: Path) -> bool:
    """Whether the clock can start; also for a process that has already ended."""
    until = monotonic() + STARTING
    while process.poll() is None and not has_started(folder):
        if monotonic() > until:
            return False
        sleep(0.01)
    return True


def _how_it_ended(process: subprocess.Popen[bytes], folder: Path) -> str:
    code = process.returncode
    how = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
    printed = (folder / "output.txt").read_text(encoding="utf-8", errors="replace")
    last = " | ".join(printed.strip().splitlines()[-_LAST_LINES:])
    return f"the process ended {how} and left no result; it last printed: {last or 'nothing'}"


def _end(process: subprocess.Popen[bytes]) -> None:
    """No process is left behind, neither running nor waiting to be collected."""
    if process.poll() is None:
        _signal_group(process, signal.SIGTERM)
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            _signal_group(process, signal.SIGKILL)
            process.wait()
    if process.stdin is not None:
        process.stdin.close()


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    if sys.platform == "win32":
        process.kill()
        return
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
