"""A process that runs what it is told to: ``python -m tamis.experiments.worker``.

A line of JSON on standard input asks for runs on one table; lines of JSON on what was standard
output say what comes of them. Workers live on from table to table, so that libraries are
imported and loops compiled once, and are ended by the pool when a run exceeds its time.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
import warnings
from collections.abc import Iterable
from queue import SimpleQueue
from threading import Thread
from typing import TextIO

from tamis.experiments.attempts import Report, attempts
from tamis.experiments.cells import Draw

GRACE = 30.0
"""Seconds past its limit after which a run ends its process by itself, should nobody else."""


def main() -> None:
    """Run until there is nothing more to hear."""
    told = _private_output()
    requests: SimpleQueue[str] = SimpleQueue()
    Thread(target=_listen, args=(requests,), daemon=True).start()
    warnings.simplefilter("ignore")
    _tell(told, what="ready")
    while True:
        request = json.loads(requests.get())
        limit = request["time_limit"]
        reports = attempts(Draw.from_dict(request["draw"]), request["methods"], limit)
        _pass_on(told, reports, limit)
        _tell(told, what="done")


def _pass_on(told: TextIO, reports: Iterable[Report], limit: float | None) -> None:
    for report in reports:
        # This watch needs no interpreter: it also ends a library that keeps Python's lock.
        faulthandler.cancel_dump_traceback_later()
        if report.begins and limit is not None:
            faulthandler.dump_traceback_later(limit + GRACE, exit=True)
        _tell(told, what="begins" if report.begins else "row", row=vars(report.row))


def _tell(told: TextIO, **message: object) -> None:
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
    os._exit(0)


if __name__ == "__main__":
    main()
