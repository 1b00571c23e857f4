"""The processes that do the work, seen from the one that hands it out.

Workers are fresh interpreters, not forks: scripts need no ``if __name__ == "__main__"`` guard,
notebooks work, and a crash, a time-out or a library without manners ends one worker and nothing
else. Nothing is pickled.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import IO, Any, Self, cast

from tamis.errors import TamisError

Message = dict[str, Any]

ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)
_LAST_LINES = 5
_PATIENCE = 2.0


class Worker:
    """One process, the job it is doing, and until when it may."""

    def __init__(self, scratch: Path, heard: SimpleQueue[tuple[Worker, Message | None]]) -> None:
        self.job: Any = None
        """Whatever the caller wants to find again; None if there is nothing to do."""
        self.deadline = math.inf
        self._limit = math.inf
        self._is_ready = False
        self._scratch = scratch
        scratch.mkdir(parents=True)
        with open(scratch / "output.txt", "wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "tamis.baselines.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                env=_environment(scratch),
                # A group of its own: Ctrl-C is for us, and what a library starts ends with it.
                start_new_session=True,
            )
        self._stdin = cast("IO[bytes]", self._process.stdin)
        self._listener = Thread(target=self._listen, args=(heard,), daemon=True)
        self._listener.start()

    def hand(
        self,
        function: str,
        arguments: Mapping[str, object],
        job: object,
        *,
        limit: float = math.inf,
        cpu_limit: float | None = None,
        starting: float = math.inf,
    ) -> None:
        """Have a generator run, ``module:function``. From the moment it begins it has ``limit``
        seconds by the clock and ``cpu_limit`` seconds of CPU, and ``starting`` to come to that."""
        self.job, self._limit, self.deadline = job, limit, monotonic() + starting
        request = {"job": function, "arguments": arguments, "cpu_limit": cpu_limit}
        # If it has just ended, that will be heard.
        with suppress(OSError):
            self._stdin.write(json.dumps(request).encode() + b"\n")
            self._stdin.flush()

    def hear(self, message: Message) -> None:
        """Keep the time."""
        if "ready" in message:
            self._is_ready = True
            return
        self.deadline = monotonic() + self._limit if "begins" in message else math.inf
        if "done" in message:
            self.job = None

    def end(self) -> None:
        """End the process and whatever it started, and leave nothing behind."""
        if sys.platform == "win32":
            self._process.kill()
        else:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        with suppress(OSError):
            self._stdin.close()
        # It hears the end of the pipe, unless something that got away still holds the other end.
        self._listener.join(_PATIENCE)
        shutil.rmtree(self._scratch, ignore_errors=True)

    def last_words(self) -> str | None:
        """How a process ended that was not told to; None if by its limit of CPU time."""
        code = self._process.wait()
        if hasattr(signal, "SIGPROF") and code == -signal.SIGPROF:
            return None
        how = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        printed = (self._scratch / "output.txt").read_text(encoding="utf-8", errors="replace")
        last = " | ".join(printed.strip().splitlines()[-_LAST_LINES:])
        words = f"the process ended {how}; it last printed: {last or 'nothing'}"
        if not self._is_ready:
            # It will never work.
            raise TamisError(f"a worker could not be started: {words}")
        return words

    def _listen(self, heard: SimpleQueue[tuple[Worker, Message | None]]) -> None:
        with cast("IO[bytes]", self._process.stdout) as lines:
            for line in lines:
                with suppress(ValueError):  # a line torn by the end of the process
                    heard.put((self, json.loads(line)))
        heard.put((self, None))


class WorkerPool:
    """As many workers as there is work for, at most ``size`` at a time."""

    def __init__(self, size: int, scratch: Path) -> None:
        self.size = size
        self._scratch = scratch
        self._heard: SimpleQueue[tuple[Worker, Message | None]] = SimpleQueue()
        self._workers: list[Worker] = []
        self._started = 0
        # What a killed run has left.
        shutil.rmtree(scratch, ignore_errors=True)

    @property
    def busy(self) -> int:
        """How many have a job."""
        return sum(worker.job is not None for worker in self._workers)

    def idle_worker(self) -> Worker:
        """One without a job, started if there is none."""
        for worker in self._workers:
            if worker.job is None:
                return worker
        self._started += 1
        worker = Worker(self._scratch / f"worker-{self._started}", self._heard)
        self._workers.append(worker)
        return worker

    def listen(self) -> tuple[Worker, Message]:
        """The next message. ``{"ended": ...}`` is about a worker that is no more, with its last
        words, or None if its time was over."""
        while True:
            first = min((worker.deadline for worker in self._workers), default=math.inf)
            try:
                seconds = None if first == math.inf else max(first - monotonic(), 0.0)
                worker, message = self._heard.get(timeout=seconds)
            except Empty:
                worker = next(one for one in self._workers if one.deadline <= first)
                return worker, self._dismiss(worker, None)
            # What is still heard of those that were dismissed comes too late.
            if worker in self._workers:
                if message is None:
                    return worker, self._dismiss(worker, worker.last_words())
                worker.hear(message)
                return worker, message

    def _dismiss(self, worker: Worker, words: str | None) -> Message:
        """End a worker; another will take its place when there is work."""
        self._workers.remove(worker)
        worker.end()
        return {"ended": words}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End all of them."""
        for worker in list(self._workers):
            self._dismiss(worker, None)
        shutil.rmtree(self._scratch, ignore_errors=True)


def _environment(scratch: Path) -> dict[str, str]:
    """One thread, our own path, and a place for temporary files that goes with the worker."""
    environment = dict(os.environ) | dict.fromkeys(ONE_THREAD, "1")
    environment |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch))
    environment["PYTHONPATH"] = os.pathsep.join(path or os.getcwd() for path in sys.path)
    return environment
