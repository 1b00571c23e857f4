"""Work shared among threads: the loops run without the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

from tamis.errors import SettingError
from tamis.plugins import is_whole

THREAD_WORDS = 2**22
"""Work that reads fewer words than this is not worth handing to threads."""


def share(
    n_jobs: int,
    n_items: int,
    work: int,
    part: Callable[[int, int], None],
    *,
    power: float = 1.0,
    falling: bool = False,
) -> None:
    """Do ``part`` on all items: at once, or, if the work is worth it, in ``n_jobs`` threads.

    The first i of n items are a share (i / n)^(1 / power) of the work; ``falling``: the last.
    """
    shares = min(n_jobs, n_items) if work > THREAD_WORDS else 1
    if shares <= 1:
        part(0, n_items)
        return
    cuts = [round(n_items * (i / shares) ** power) for i in range(shares + 1)]
    if falling:
        cuts = [n_items - cut for cut in reversed(cuts)]
    with ThreadPoolExecutor(shares - 1) as pool:
        others = [pool.submit(part, start, stop) for start, stop in pairwise(cuts[1:])]
        part(cuts[0], cuts[1])
        for done in others:
            done.result()


def usable_jobs(n_jobs: int | None, name: str = "n_jobs") -> int:
    """The number of threads or processes: None is all cores, -1 too, -2 all but one."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cores = cores or 1
    if n_jobs is None:
        return cores
    if not is_whole(n_jobs) or n_jobs == 0:
        raise SettingError(f"{name} must be None or a whole number other than 0, got {n_jobs!r}")
    return max(1, cores + 1 + int(n_jobs)) if n_jobs < 0 else int(n_jobs)
