"""Processes that run cases. One that crashes, or does not come back, costs its own case only."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import resource
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Self

# Imported before any case turns warnings into errors, which SWIG's modules do not survive.
import pgmpy.models  # noqa: F401
import pyagrum  # noqa: F401

from fuzz import cases

TOO_LONG = 120
"""Seconds after which a case is taken for one that never ends."""
MOST_MEMORY = 6 * 2**30
"""Bytes that a case may ask for: a small file that needs more is a failure."""
TURNS = 500
"""Cases after which a process makes room for a new one."""


class Pool:
    """So many processes at a time, each forked before anything has started a thread."""

    def __init__(self, seed: int, jobs: int) -> None:
        self._seed = seed
        self._jobs = jobs
        self._place = Path(tempfile.mkdtemp(prefix="tamis-fuzz-"))
        self._made = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._place)

    def run(self, numbers: Iterable[int], goes_on: Callable[[], bool]) -> Iterator[cases.Outcome]:
        """Run cases while it goes on."""
        left = iter(numbers)
        workers: dict[Connection, _Worker] = {}
        while True:
            while (
                len(workers) < self._jobs and goes_on() and (first := next(left, None)) is not None
            ):
                worker = self._start()
                worker.take(first)
                workers[worker.pipe] = worker
            if not workers:
                return
            for pipe in wait(list(workers)):
                worker = workers[pipe]  # type: ignore[index]
                yield worker.outcome()
                more = next(left, None) if worker.is_fresh and goes_on() else None
                if more is None:
                    worker.end()
                    del workers[worker.pipe]
                else:
                    worker.take(more)

    def _start(self) -> _Worker:
        self._made += 1
        return _Worker(self._seed, self._place / str(self._made))


class _Worker:
    """One process, seen from outside."""

    def __init__(self, seed: int, place: Path) -> None:
        place.mkdir()
        self._place = place
        self.pipe, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.get_context("fork").Process(
            target=_work, args=(seed, place, theirs, self.pipe), daemon=False
        )
        self._process.start()
        theirs.close()
        self._case, self._turns, self._died = 0, 0, False

    @property
    def is_fresh(self) -> bool:
        return not self._died and self._turns < TURNS

    def take(self, number: int) -> None:
        self._case, self._turns = number, self._turns + 1
        self.pipe.send(number)

    def outcome(self) -> cases.Outcome:
        """What the process says of its case, or how it ended."""
        try:
            found: cases.Outcome = self.pipe.recv()
        except EOFError:
            self._died = True
            self._process.join()
            told = f"the process ended with {self._process.exitcode}\n{self._log()}"
            kind = cases.kind_of(self._case)
            return cases.Outcome(self._case, kind, cases.FAILED, told, 0.0)
        return found

    def _log(self) -> str:
        return (
            (self._place / "log")
            .read_text(errors="backslashreplace")
            .split("Extension modules")[0][-4000:]
        )

    def end(self) -> None:
        if not self._died:
            self.pipe.send(None)
        self._process.join()
        self.pipe.close()
        shutil.rmtree(self._place)


def _work(seed: int, place: Path, pipe: Connection, other_end: Connection) -> None:
    """Run the cases that come, with limits; whatever is printed goes to a file."""
    # Else it would wait for ever should nobody be there any more to ask.
    other_end.close()
    log = os.open(place / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.environ["MPLBACKEND"] = "agg"
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    cases.prepare(place)
    with open(place / "log", "a") as file:
        faulthandler.enable(file)
        while (number := pipe.recv()) is not None:
            file.write(f"case {number}\n")
            file.flush()
            faulthandler.dump_traceback_later(TOO_LONG, exit=True, file=file)
            outcome = cases.run(seed, number)
            faulthandler.cancel_dump_traceback_later()
            pipe.send(outcome)
