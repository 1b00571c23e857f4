"""Work shared among threads: the loops run without the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise


def share(
    shares: int,
    n_items: int,
    part: Callable[[int, int], None],
    *,
    power: float = 1.0,
    falling: bool = False,
) -> None:
    """Do ``part`` on all items: at once, or in one thread for each share.

    The first i of n items are a share (i / n)^(1 / power) of the work; ``falling``: the last.
    """
    shares = min(shares, n_items)
    if shares <= 1:
        part(0, n_items)
        return
    cuts = [round(n_items * (i / shares) ** power) for i in range(shares + 1)]
    if falling:
        cuts = [n_items - cut for cut in reversed(cuts)]
    with ThreadPoolExecutor(shares) as pool:
        for done in [pool.submit(part, start, stop) for start, stop in pairwise(cuts)]:
            done.result()
