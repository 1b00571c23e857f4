"""What a context costs on this table: a few are counted, and a clock is looked at.

The paths of some targets are followed as PPS would follow them with all other columns as
candidates. Their lengths say how far conditioning goes, and the clock what each step costs.

The number of contexts is extrapolated from the lengths of the probed paths; the coefficients were
fitted on simulated tables and checked on others (docs/forecast.md). Seconds a context come from
the probe, so that they are those of this table on this machine; the time that Python takes besides
was measured on one machine, and is scaled by the pace of this one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tamis.decisions.rule import Rule
from tamis.information.interface import Context, Source
from tamis.search.pps import NOBODY, PPS, Paths
from tamis.tables.table import AnyTable, in_memory

SECONDS = 0.6
"""No new depth is begun after so long."""
PATIENCE = 3.0
"""But down to `COSTED` after so long: slow sources are those whose forecast matters."""
TARGETS = 16
"""The columns whose paths are followed, at most."""
BATCH_SECONDS = 0.1
"""A batch is cut so that it takes about this."""
REMEMBERED = 0.1
"""An answer that comes in less than this share of the time was not counted again."""
DEEPEST = 8
"""Paths are followed as far as this."""
TIRES = 0.9
FEWEST_PATHS = 0.05
"""Beyond, each column is taken by this share of those that would go on as before, and paths so few
are not counted."""
COSTED = 2
"""Contexts are timed at least down to here, even where nothing was found to condition on."""
MOST_CELLS = 2**24
MOST_COLUMNS = 1024
MOST_ROWS = 2**19
"""A larger table is probed on a part of its columns and rows."""

USUAL = 2.4e-3
"""Seconds of `pace` where the coefficients were measured."""

Clock = Callable[[], float]


@dataclass
class Probe:
    """What was seen: one entry a depth, and how long the paths were."""

    columns: int
    rows: int
    """Of the part that was probed."""
    seconds: list[float] = field(default_factory=list)
    """For one context at depths 0, 1, 2, ..."""
    paths: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """The columns that each path has taken, in their order."""
    reached: list[float] = field(default_factory=list)
    """The share of paths that take 1, 2, ... columns or more. Where only some were followed on,
    theirs stand for all (Kaplan and Meier, 1958)."""
    tests_come_along: bool = False
    """Whether rows of gains bring their tests."""
    is_asked_often: bool = False
    """Whether "auto" asks for few things at a time, each by a call of Python."""
    test: float = 0.0
    """Seconds for a test of one candidate, where rows do not bring them."""

    @property
    def boundary(self) -> float:
        """The mean number of columns that a path takes."""
        return sum(self.reached)

    def cost(self, depth: int) -> float:
        """Seconds for one context at this depth; deeper than was seen, as the deepest. Without a
        column that varies nothing is asked for."""
        return self.seconds[min(depth, len(self.seconds) - 1)] if self.seconds else 0.0


def part_of(table: AnyTable) -> AnyTable:
    """The table, or, if it is large, columns and rows of it at even distances."""
    d, n = table.n_variables, table.n_rows
    if table.rows == "moments":
        return table
    # Rows that are counted in blocks cannot be picked; there are fewer columns then.
    rows = min(n, MOST_ROWS) if in_memory(table) else n
    columns = min(d, MOST_COLUMNS, max(MOST_CELLS // rows, TARGETS))
    if in_memory(table) and rows < n:
        table = table.arrange(_spread(n, rows))
    return table if columns == d else table.select(_spread(d, columns).tolist())


def probe(information: Source, rule: Rule, clock: Clock = time.perf_counter) -> Probe:
    """Follow the paths of some columns, and time them; ``rule`` is bound to the whole table."""
    d = information.n_variables
    found = Probe(d, int(information.n_rows))
    varying = [k for k in range(d) if information.varies(k)]
    if not varying:
        return found
    targets = [varying[i] for i in _spread(len(varying), min(len(varying), TARGETS))]
    pps, everyone = PPS(information, rule), (1 << d) - 1
    paths = pps.begin([(k, everyone & ~(1 << k)) for k in targets])
    going = list(range(len(targets)))
    started = clock()
    found.tests_come_along = information.profiles([paths.context(0)]).stats is not None
    found.is_asked_often = not found.tests_come_along and rule.direct(information) is None
    for depth in range(min(DEEPEST + 1, len(varying))):
        contexts = [paths.context(i) for i in going]
        n_counted, cost = _timed(information, contexts, clock)
        going = going[:n_counted]
        found.seconds.append(cost)
        if depth == 0:
            found.paths = {targets[i]: () for i in going}
        elapsed = clock() - started
        if depth == DEEPEST or elapsed > (PATIENCE if depth < COSTED else SECONDS):
            break
        pps.rows.know(contexts[:n_counted])
        before = clock()
        passed = _step(pps, paths, going)
        if not found.tests_come_along:
            # The first may have to compile something, and the last are few.
            cost = (clock() - before) / len(going)
            found.test = min(found.test, cost) if depth else cost
        if len(found.reached) == depth and passed:
            found.reached.append((found.reached[-1] if depth else 1.0) * len(passed) / len(going))
            found.paths.update((targets[i], paths.members(i)) for i in passed)
        # Nobody goes on, but what the next depth would cost is still to be known.
        refused = [i for i in going if paths.refused[i]][: 1 if depth < COSTED else 0]
        if not passed:
            paths.depths[refused] += 1  # take the candidate that was refused
            paths.refused[refused] = False
        going = passed or refused
        if not going:
            break
    found.reached += _tail(found.reached, len(varying) - 1)
    return found


def _step(pps: PPS, paths: Paths, going: Sequence[int]) -> list[int]:
    """Let selections, all of which have come equally far, take one more; who has."""
    depth = int(paths.depths[going[0]])
    paths.rows[going] = [pps.rows.find(*paths.context(i)) for i in going]
    pps.go_on(paths, np.array(going), NOBODY, limit=depth + 1)
    return [i for i in going if paths.depths[i] > depth]


def _tail(reached: Sequence[float], longest: int) -> list[float]:
    """The shares of paths that would take more columns than paths were followed for: they go on as
    often as before, and tire."""
    if len(reached) < DEEPEST:
        return []
    rate = TIRES * (reached[-1] / reached[0]) ** (1 / (DEEPEST - 1))
    further = range(1, longest - DEEPEST + 1)
    return [reached[-1] * rate**j for j in further if reached[-1] * rate**j > FEWEST_PATHS]


def pace(clock: Clock = time.perf_counter) -> float:
    """How slow Python is here and now: the time of some small change over that where the
    coefficients of `work` were measured."""
    return min(seconds_of(_small_change, clock) for _ in range(3)) / USUAL


def _small_change() -> int:
    """What searches do between counts: tuples, dictionaries, sorting."""
    seen: dict[tuple[int, int], int] = {}
    for i in range(10_000):
        key = (i % 97, i % 89)
        seen[key] = seen.get(key, 0) + i
    return len(sorted(seen, key=seen.__getitem__))


def _spread(size: int, wanted: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """``wanted`` of ``size`` positions, at even distances."""
    return np.arange(wanted, dtype=np.int64) * size // max(wanted, 1)


def _timed(information: Source, contexts: Sequence[Context], clock: Clock) -> tuple[int, float]:
    """How many of the contexts can be counted in a moment, and the seconds of each.

    The first call may have to compile loops or load them, and is not counted. It asks about
    another target, because some sources remember what they were asked.
    """
    first = contexts[0]
    others = [k for k in range(information.n_variables) if k not in (first.target, *first.given)]
    information.profiles([Context(others[-1], first.given) if others else first])
    single = seconds_of(lambda: information.profiles([first]), clock)
    several = contexts[: max(1, int(BATCH_SECONDS / max(single, 1e-9)))]
    if len(several) == 1:
        return 1, single
    rest = seconds_of(lambda: information.profiles(several[1:]), clock)
    return len(several), (single + rest) / len(several)


def seconds_of(work: Callable[[], object], clock: Clock) -> float:
    """How long something takes: the quicker of two times, or the first if that is long already, or
    if the second is so short that the answer was only remembered."""
    before = clock()
    work()
    first = clock() - before
    if first > BATCH_SECONDS:
        return first
    before = clock()
    work()
    again = clock() - before
    return min(first, again) if again > REMEMBERED * first else first


FRESH = {"sequential": (1.0, 0.1), "node": (1.0, 0.05), "auto": (3.0, 3.0)}
"""A node asks for its own row, and for a x + b x^2 more if the probed paths take x columns."""
FADES = {"node": 0.8, "auto": 0.95}
"""By how much fewer contexts are one deeper than the probed paths have it."""
A_NODE = 2e-4
A_CONTEXT = 2e-5
"""Seconds of Python for each node and each context of a single search."""
AUTO_ALONE, AUTO_CONTEXT, AUTO_CALL = 4e-3, 4e-5, 8e-4
"""Seconds of "auto" whatever there is to count, and beside counting for each of its contexts, and
for one that a call of Python asks for."""
AUTO_COUNTS = 0.8
"""What a context of "auto" takes, of the time that the probe has for one: most are asked for one at
a time by a compiled loop, and with them come scores and tests."""
BACKWARD = 0.7
"""Single tests of "auto" a context, for each column that the probed paths take."""
MASKED = 0.25
"""Tests that masking makes, of all pairs of columns."""


@dataclass(frozen=True)
class Work:
    """What a search of one reading will do."""

    contexts: float
    counting: float
    """Seconds spent on the rows of gains and on single tests."""
    bookkeeping: float
    """Seconds spent on everything else."""

    @property
    def seconds(self) -> float:
        """Both together."""
        return self.counting + self.bookkeeping


def contexts_of(search: str, d: int, reached: Sequence[float]) -> float:
    """The rows of gains that a search asks for; ``reached`` are the shares of paths that take 1,
    2, ... columns or more, from which the means of their length and of its square follow."""
    a, b = FRESH.get(search, FRESH["node"])
    length = sum(reached)
    squared = sum((2 * j - 1) * share for j, share in enumerate(reached, start=1))
    return d * (1 + a * length + b * squared)


def work_of(search: str, d: int, found: Probe, *, scale: float, slow: float = 1.0) -> Work:
    """The work of one search; ``scale`` leads from the probed part to the whole table, ``slow`` is
    the pace of Python."""
    contexts = contexts_of(search, d, found.reached)
    deep = _deep_cost(search, found)
    # A test reads rows, but not every column.
    longer = scale / max(d / found.columns, 1.0)
    if search == "auto":
        # Where rows do not bring tests, members are also tested one by one on their way out.
        tests = contexts * max(1.0, BACKWARD * sum(found.reached))
        counting = AUTO_COUNTS * contexts * deep * scale + tests * found.test * longer
        each = AUTO_CALL if found.is_asked_often else AUTO_CONTEXT
        return Work(contexts, counting, slow * (AUTO_ALONE + contexts * each))
    tests = contexts + (MASKED * d**2 if search != "sequential" else 0.0)
    counting = (d * found.cost(0) + (contexts - d) * deep) * scale + tests * found.test * longer
    return Work(contexts, counting, slow * (d * A_NODE + contexts * A_CONTEXT))


def _deep_cost(search: str, found: Probe) -> float:
    """Seconds for a context with something to condition on: a depth counts as often as paths reach
    it, and the deeper the less, because a search offers fewer candidates than the probe."""
    if not found.reached:
        return found.cost(1)
    fade = FADES.get(search, FADES["node"])
    weights = [share * fade**j for j, share in enumerate(found.reached, start=1)]
    costs = [w * found.cost(j) for j, w in enumerate(weights, start=1)]
    return sum(costs) / sum(weights)
