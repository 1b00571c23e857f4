"""The processes that do the work, seen from the one that hands it out.

Workers are fresh interpreters, not forks: scripts need no ``if __name__ == "__main__"`` guard, and
a crash, a time-out or a library without manners ends one worker and nothing else.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import IO, Any, cast

from tamis.baselines.limited import ONE_THREAD
from tamis.errors import TamisError
from tamis.experiments.rows import Row
from tamis.experiments.schedule import Task

Message = dict[str, Any]

_LAST_LINES = 5
_PATIENCE = 2.0


class Worker:
    """One process, what it is doing, and until when it may."""

    def __init__(self, scratch: Path, heard: SimpleQueue[tuple[Worker, Message | None]]) -> None:
        self.task: Task | None = None
        self.begun: Row | None = None
        self.deadline = math.inf
        self.is_ready = False
        self._scratch = scratch
        scratch.mkdir(parents=True)
        with open(scratch / "output.txt", "wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "tamis.experiments.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                env=_environment(scratch),
                # A group of its own: Ctrl-C is for us, and what a library starts ends with it.
                start_new_session=True,
            )
        self._listener = Thread(target=self._listen, args=(heard,), daemon=True)
        self._listener.start()

    def hand(self, task: Task, time_limit: float | None) -> None:
        """Ask for all runs of a task."""
        self.task = task
        request = {
            "draw": task.draw.to_dict(),
            "methods": list(task.methods),
            "time_limit": time_limit,
        }
        # If it has just ended, that will be heard.
        with suppress(OSError):
            self._stdin.write(json.dumps(request).encode() + b"\n")
            self._stdin.flush()

    def begin(self, row: Row) -> None:
        """A run has begun, and with it its time."""
        self.begun = row
        self.deadline = monotonic() + (math.inf if row.time_limit is None else row.time_limit)

    def rest(self) -> None:
        """A run has ended."""
        self.begun, self.deadline = None, math.inf

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

    def last_words(self) -> str:
        """How a process ended that was not told to."""
        code = self._process.wait()
        how = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        printed = (self._scratch / "output.txt").read_text(encoding="utf-8", errors="replace")
        last = " | ".join(printed.strip().splitlines()[-_LAST_LINES:])
        return f"the process ended {how}; it last printed: {last or 'nothing'}"

    @property
    def _stdin(self) -> IO[bytes]:
        return cast("IO[bytes]", self._process.stdin)  # a pipe, since it was asked for

    @property
    def _stdout(self) -> IO[bytes]:
        return cast("IO[bytes]", self._process.stdout)

    def _listen(self, heard: SimpleQueue[tuple[Worker, Message | None]]) -> None:
        with self._stdout as lines:
            for line in lines:
                with suppress(ValueError):  # a line torn by the end of the process
                    heard.put((self, json.loads(line)))
        heard.put((self, None))


class WorkerPool:
    """As many workers as there is work for, at most ``size`` at a time."""

    def __init__(self, size: int, scratch: Path) -> None:
        self._size = size
        self._scratch = scratch
        self._heard: SimpleQueue[tuple[Worker, Message | None]] = SimpleQueue()
        self._workers: list[Worker] = []
        self._started = 0
        # What a killed run has left.
        shutil.rmtree(scratch, ignore_errors=True)

    @property
    def busy(self) -> Iterator[Worker]:
        """Those with a task."""
        return (worker for worker in self._workers if worker.task is not None)

    @property
    def has_room(self) -> bool:
        """Whether another task can be handed out."""
        return sum(1 for _ in self.busy) < self._size

    def idle_worker(self) -> Worker:
        """One without a task, started if there is none."""
        for worker in self._workers:
            if worker.task is None:
                return worker
        self._started += 1
        worker = Worker(self._scratch / f"worker-{self._started}", self._heard)
        self._workers.append(worker)
        return worker

    def listen(self) -> tuple[Worker, Message | None] | None:
        """The next message, or None when somebody's time is over; no message is the end."""
        first = min((worker.deadline for worker in self._workers), default=math.inf)
        seconds = None if first == math.inf else max(first - monotonic(), 0.0)
        try:
            worker, message = self._heard.get(timeout=seconds)
        except Empty:
            return None
        # What is still heard of those that were dismissed comes too late.
        return (worker, message) if worker in self._workers else None

    def overdue(self) -> list[Worker]:
        """Those whose time is over."""
        now = monotonic()
        return [worker for worker in self._workers if worker.deadline <= now]

    def dismiss(self, worker: Worker) -> None:
        """End a worker; another will take its place when there is work."""
        self._workers.remove(worker)
        worker.end()

    def close(self) -> None:
        """End all of them."""
        for worker in list(self._workers):
            self.dismiss(worker)
        shutil.rmtree(self._scratch, ignore_errors=True)

    def refuse_early_end(self, worker: Worker) -> None:
        """A worker that ends before it has even started will never work."""
        if not worker.is_ready:
            raise TamisError(f"a worker could not be started: {worker.last_words()}")


def _environment(scratch: Path) -> dict[str, str]:
    """One thread, our own path, and a place for temporary files that goes with the worker."""
    environment = dict(os.environ) | dict.fromkeys(ONE_THREAD, "1")
    environment |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch))
    environment["PYTHONPATH"] = os.pathsep.join(path or os.getcwd() for path in sys.path)
    return environment
