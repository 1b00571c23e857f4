"""A process that does what it is told to: ``python -m tamis.baselines.worker``.

A line of JSON on standard input names a job, which is a generator in some module, and its
arguments. What the generator yields goes back, one line of JSON each, on what was standard output.
A message ``{"begins": ...}`` starts the clock of the job, the next message stops it. Workers live
on from job to job, so that libraries are imported and loops compiled once.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import warnings
from importlib import import_module
from queue import SimpleQueue
from threading import Thread
from typing import TextIO


def main() -> None:
    """Work until there is nothing more to hear."""
    told = _private_output()
    requests: SimpleQueue[str] = SimpleQueue()
    Thread(target=_listen, args=(requests,), daemon=True).start()
    warnings.simplefilter("ignore")
    _tell(told, {"ready": True})
    while True:
        request = json.loads(requests.get())
        module, _, function = request["job"].partition(":")
        for message in getattr(import_module(module), function)(**request["arguments"]):
            _limit_cpu(request["cpu_limit"] if "begins" in message else 0.0)
            _tell(told, message)
        _tell(told, {"done": True})


def _limit_cpu(seconds: float | None) -> None:
    """End this process after so much CPU time; 0 or None is no limit.

    The kernel does it, by a signal that nobody handles: also a library that keeps Python's lock is
    ended. Where there is no such timer, the clock of whoever waits is all there is.
    """
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds or 0.0)


def _tell(told: TextIO, message: object) -> None:
    told.write(json.dumps(message) + "\n")
    told.flush()


def _private_output() -> TextIO:
    """Standard output for us alone; what libraries print goes to standard error."""
    told = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    return told


def _listen(requests: SimpleQueue[str]) -> None:
    """Hear requests; when the other end is gone, so are we, in the middle of whatever it is."""
    for line in sys.stdin:
        requests.put(line)
    os._exit(1)


if __name__ == "__main__":
    main()
