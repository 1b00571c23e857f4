"""python -m fuzz: run cases until time is up, and say which failed.

python -m fuzz --seconds 60               a minute, from case 0 on
python -m fuzz --cases 100000 --jobs 2    so many cases, in two processes at a time
python -m fuzz --seed 1 --case 4711       one case again, with all that it tries
python -m fuzz --kind frame --kind call   only cases of these kinds
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from fuzz import cases
from fuzz.pool import Pool

SHOWN = 2
"""Failures at one place of which all is shown; more are counted."""


def main() -> int:
    """Run what the options ask for; the exit code is 1 if a case failed."""
    options = _options()
    if options.case is not None:
        return _one(options.seed, options.case)
    end = time.monotonic() + options.seconds
    failures, done, slowest = Counter[str](), Counter[tuple[str, str]](), (0.0, 0)
    numbers = cases.numbers(options.first, options.cases, options.kind)
    with Pool(options.seed, options.jobs) as pool:
        for outcome in pool.run(numbers, lambda: time.monotonic() < end):
            done[outcome.kind, outcome.ended] += 1
            slowest = max(slowest, (outcome.seconds, outcome.number))
            if outcome.ended == cases.FAILED:
                failures[outcome.place] += 1
                if failures[outcome.place] <= SHOWN:
                    _show(outcome, options.seed)
    _count(done, options.seed, slowest)
    for place, times in failures.most_common():
        print(f"{times:>6,} failed at {place}")
    return 1 if failures else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m fuzz", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, help="run this case alone")
    parser.add_argument("--first", type=int, default=0, help="the first case")
    parser.add_argument("--cases", type=int, default=10**9, help="how many cases at most")
    parser.add_argument("--seconds", type=float, default=10**9, help="how long at most")
    parser.add_argument("--kind", action="append", choices=list(cases.KINDS))
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    return parser.parse_args()


def _one(seed: int, number: int) -> int:
    with Pool(seed, 1) as pool:
        (outcome,) = pool.run([number], lambda: True)
    _show(outcome, seed)
    return 1 if outcome.ended == cases.FAILED else 0


def _show(outcome: cases.Outcome, seed: int) -> None:
    again = f"python -m fuzz --seed {seed} --case {outcome.number}"
    print(f"== {outcome.kind}, {outcome.ended}: {again}")
    print(outcome.told.encode("utf-8", "backslashreplace").decode(), flush=True)


def _count(done: Counter[tuple[str, str]], seed: int, slowest: tuple[float, int]) -> None:
    endings = (cases.ANSWERED, cases.REFUSED, cases.FAILED)
    print(f"{'kind':<12}" + "".join(f"{ending:>10}" for ending in endings))
    for kind in sorted({kind for kind, _ in done}):
        print(f"{kind:<12}" + "".join(f"{done[kind, ending]:>10,}" for ending in endings))
    took = f"the longest, {slowest[1]}, took {slowest[0]:.1f} s"
    print(f"{sum(done.values()):,} cases of seed {seed}; {took}")


if __name__ == "__main__":
    sys.exit(main())
