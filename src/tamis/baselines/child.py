"""The child process of a run with a time limit: ``python -m tamis.baselines.child FOLDER``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from threading import Thread

from tamis.baselines.outcome import attempt
from tamis.baselines.registry import prepare
from tamis.baselines.transfer import mark_started, read_request, write_outcome


def main() -> None:
    """Read the request, learn, write the outcome."""
    Thread(target=_end_with_parent, daemon=True).start()
    folder = Path(sys.argv[1])
    baseline, table, seed = read_request(folder)
    prepare(baseline, table)
    mark_started(folder)
    write_outcome(folder, attempt(baseline, table, seed))


def _end_with_parent() -> None:
    """The parent holds the other end of standard input: it closes when the parent is gone."""
    # Not sys.stdin, whose lock a thread that waits would still hold when the interpreter ends.
    os.read(0, 1)
    os._exit(1)


if __name__ == "__main__":
    main()
