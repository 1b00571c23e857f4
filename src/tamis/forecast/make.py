"""Making the forecast of a run: choose readings as a run would, say why, probe, extrapolate."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tamis.constants import constants
from tamis.counting.elsewhere import in_blocks, of_moments
from tamis.counting.interactions import Screen, words_to_read
from tamis.counting.looking import all_sets, least_looked_for, require_reach
from tamis.decisions.rule import Rule
from tamis.errors import DataError, SettingError
from tamis.forecast import memory
from tamis.forecast.memory import Asked, Planes
from tamis.forecast.model import Detectable, Forecast, alpha_of, detectable
from tamis.forecast.probe import (
    Clock,
    Probe,
    Work,
    pace,
    part_of,
    probe,
    seconds_of,
    work_of,
)
from tamis.information.counted import CountedInformation
from tamis.information.estimators import EntropyFunction
from tamis.information.interface import Context, Source
from tamis.information.lattice import lattice_likelihood
from tamis.opening import in_search_order, open_information, readings
from tamis.plugins import qualified_name
from tamis.settings import Settings
from tamis.tables.table import AnyTable, in_memory, with_rows

ASKED = "as asked for"


def reasons(
    table: AnyTable, asked: Settings, readings: Sequence[Settings], n_searched: int, look_ahead: int
) -> dict[str, str]:
    """What made the choice of information, search and look-ahead; ``n_searched`` of the readings
    will be searched."""
    return {
        "information": _information(table, asked, readings, n_searched),
        "search": _search(asked, readings[0]),
        "look_ahead": _why_look_ahead(asked, readings[0], look_ahead),
    }


def _information(
    table: AnyTable, asked: Settings, readings: Sequence[Settings], n_searched: int
) -> str:
    if asked.information != "auto":
        return ASKED
    if len(readings) > 1:
        both = "whole numbers are read as levels and as numbers; what explains them better is kept"
        behind = "; levels look far behind, and will probably not be searched"
        return both if n_searched > 1 else both + behind
    n_numbers = table.kinds.count("number")
    if readings[0].information == "counts" or not n_numbers:
        return "every column holds levels"
    if readings[0].information == "gaussian":
        return "every column holds numbers"
    verb = "column holds" if n_numbers == 1 else "columns hold"
    return f"{n_numbers:,} {verb} numbers, and others levels"


def _search(asked: Settings, settings: Settings) -> str:
    if asked.asked["search"] != "auto":
        return ASKED
    if settings.search != "auto":
        return "in place of auto, which compares graphs by a likelihood; here there is none"
    return "sequential, sieve and node are run, and the likeliest graph is refined"


def _why_look_ahead(asked: Settings, settings: Settings, look_ahead: int) -> str:
    if look_ahead == 1:
        if asked.leaves_open("look_ahead") and settings.search == "auto":
            return (
                "single candidates only: sets of them would not fit the budget, or are not counted"
            )
        return "single candidates only, " + (
            "the default of this search" if asked.leaves_open("look_ahead") else ASKED
        )
    sets = f"up to {look_ahead} candidates together where no single one passes"
    if not asked.leaves_open("look_ahead"):
        return f"{sets}, {ASKED}"
    return f"{sets}, as far as the budget allows; more where sets of {look_ahead} are found"


MOST_WORDS = 2**22
"""Looking ahead is timed on columns so few that no more words than this are read."""
COMPARED = 8
"""Columns on which two readings are compared."""
LEVELLED = ("counts",)
NUMBERS = ("gaussian", "copula")
MIXED = ("conditional-gaussian",)
"""The readings whose tests have a law known beforehand."""


@dataclass(frozen=True)
class Reading:
    """One way to take the table, and what it will cost."""

    settings: Settings
    rule: Rule
    """Of the boundaries, bound to the size of the whole table."""
    n_rows: float
    """Those that count: with survey weights fewer than the table has."""
    look_ahead: int
    probed: Probe
    work: Work
    seconds: float


def forecast(table: AnyTable, asked: Settings, *, clock: Clock = time.perf_counter) -> Forecast:
    """Say what learning from this table will take and what it can see, without learning.

    A few contexts are counted, for about a second; the first time loops may have to be compiled.
    """
    if in_blocks(table) and not table.is_here:
        raise SettingError(
            f"A forecast tries a part of the rows in this process, and those of {table.where} are "
            "elsewhere: ask it about a sample of them"
        )
    if asked.own_information is not None:
        raise SettingError(
            "A forecast knows how long tamis' own sources take, and "
            f"information={asked.read_as} is from outside: try a part of the rows"
        )
    started = clock()
    asked.knowledge.constraints(table.names)  # what a run would refuse
    arranged = in_search_order(table, asked)
    found, notes = _readings(arranged, asked, clock)
    searched = _searched(arranged, found)
    main = max(searched, key=lambda one: one.seconds)
    sizes = table.arities[table.arities > 0]
    alpha, visible = _visible(table, found[0])
    told = main.settings.boundary == "pps"
    return Forecast(
        n_rows=table.n_rows,
        n_columns=table.n_variables,
        n_continuous=sum(map(table.is_continuous, range(table.n_variables))),
        fewest_levels=int(sizes.min()) if len(sizes) else 0,
        most_levels=int(sizes.max(initial=0)),
        pair_cells=int(np.prod(np.sort(sizes)[-2:])) if len(sizes) else 0,
        boundary=found[0].probed.boundary,
        boundary_cells=_boundary_cells(sizes, found[0].probed),
        information=tuple(one.settings.read_as for one in found),
        search=main.settings.search,
        look_ahead=found[0].look_ahead,
        why=reasons(
            table, asked, [one.settings for one in found], len(searched), found[0].look_ahead
        ),
        memory=_memory(arranged, searched),
        n_contexts=sum(one.work.contexts for one in searched) if told else 0.0,
        seconds=sum(one.seconds for one in searched) if told else None,
        seconds_a_context=tuple(main.probed.seconds),
        probe_seconds=clock() - started,
        alpha=alpha,
        detectable=visible,
        notes=(*table.notes, *notes, *_slower(asked)),
    )


def _slower(asked: Settings) -> tuple[str, ...]:
    """What knowledge and functions from outside mean for the time."""
    told = []
    if asked.knowledge:
        told.append(
            "With knowledge the table is learned once more without it, to say what it costs: up to "
            "twice as long."
        )
    if isinstance(asked.entropy, EntropyFunction):
        told.append(
            f"entropy={asked.entropy.name} is a function of whole tables: each is counted and the "
            "function called on it, which takes longer than a sum over cells."
        )
    if callable(asked.boundary):
        told.append(
            f"boundary={qualified_name(asked.boundary)} is called for every remaining column after "
            "every layer; how long that takes cannot be said."
        )
    return tuple(told)


def _readings(
    table: AnyTable, asked: Settings, clock: Clock
) -> tuple[list[Reading], tuple[str, ...]]:
    """All readings that a run would try, the first one first; as there, one may be left out."""
    found: list[Reading] = []
    notes: tuple[str, ...] = ()
    kinds = readings(table, asked)
    for kind in kinds:
        try:
            found.append(_reading(table, asked.on(kind), clock))
        except DataError as error:
            if kind == kinds[0]:
                raise
            notes = (f"Read as levels only; as numbers: {error}",)
    return found, notes


def _reading(table: AnyTable, settings: Settings, clock: Clock) -> Reading:
    part = part_of(table)
    information = open_information(part, settings)
    opening = seconds_of(lambda: open_information(part, settings), clock)
    n_rows = information.n_rows * table.n_rows / part.n_rows
    d = table.n_variables
    rule = settings.boundary_rule.bind(n_rows, d)
    look_ahead = _look_ahead(table, part, settings, information)
    probed = probe(information, rule, clock)
    # Numbers are read once; what follows depends on their moments alone.
    longer = 1.0 if settings.information in NUMBERS else table.n_rows / part.n_rows
    scale = longer * d / part.n_variables
    work = work_of(settings.search, d, probed, scale=scale, slow=pace(clock))
    looking = _looking(table, part, settings, look_ahead, clock)
    seconds = work.seconds + opening * _more_to_open(table, part) + looking
    return Reading(settings, rule, n_rows, look_ahead, probed, work, seconds)


def _searched(table: AnyTable, found: Sequence[Reading]) -> Sequence[Reading]:
    """The readings that will be searched: levels are not where numbers are far ahead on one DAG.

    Which DAG that is, is not known; the least uncertain columns of each probed path stand for it.
    """
    if len(found) < 2:
        return found
    counts, numbers = found
    part = part_of(table)
    some = dict(list(numbers.probed.paths.items())[:COMPARED])
    parents = _less_uncertain(open_information(part, numbers.settings), some)
    d = table.n_variables
    reach = constants.misfit * math.log(2 * d * d) * len(some)
    lead = _lead_of_numbers(part, parents, counts.settings) * table.n_rows / part.n_rows
    return [numbers] if lead > reach else found


def _less_uncertain(
    information: Source, paths: Mapping[int, tuple[int, ...]]
) -> dict[int, tuple[int, ...]]:
    """Of each path the columns that come before its target by entropy."""
    used = sorted({*paths, *(k for path in paths.values() for k in path)})
    entropies = information.entropies([Context(k, ()) for k in used]).tolist()
    place = {k: (h, k) for k, h in zip(used, entropies, strict=True)}
    return {k: tuple(m for m in path if place[m] < place[k]) for k, path in paths.items()}


def _lead_of_numbers(
    table: AnyTable, parents: Mapping[int, tuple[int, ...]], settings: Settings
) -> float:
    """By how many nats a linear model explains these columns better than tables do."""
    used = sorted({*parents, *(k for path in parents.values() for k in path)})
    if not used:
        return 0.0
    place = {k: i for i, k in enumerate(used)}
    few = table.select(used)
    contexts = [Context(place[k], tuple(sorted(place[m] for m in parents[k]))) for k in parents]
    counted = open_information(few, replace(settings, n_jobs=1)).penalised_likelihoods(contexts)
    return lattice_likelihood(few, dict(contexts)) - float(counted.sum())


def _look_ahead(table: AnyTable, part: AnyTable, settings: Settings, information: Source) -> int:
    """What a run would choose; of a part of the table the budget would be another."""
    if settings.look_ahead:
        return settings.look_ahead
    if not isinstance(information, CountedInformation):
        return information.affordable_look_ahead()
    planes = Planes.of(table)
    is_whole = (part.n_variables, part.n_rows) == (table.n_variables, table.n_rows)
    counted = information.affordable_look_ahead() if is_whole else planes.counted
    # How far it pays to go on is not known.
    return max(counted, least_looked_for(planes.n_interacting))


def _looking(
    table: AnyTable, part: AnyTable, settings: Settings, look_ahead: int, clock: Clock
) -> float:
    """Seconds to look for interactions: timed on some columns, and by the number of sets."""
    if look_ahead < 2:
        return 0.0
    planes = Planes.of(table)
    n_sets, n_read = all_sets(planes.n_interacting), planes.n_interacting**2 * planes.n_words
    require_reach(n_sets, n_read, planes.counted, look_ahead)
    counted = min(look_ahead, planes.counted)
    screened = [math.comb(planes.n_interacting, k + 1) for k in range(counted + 1, look_ahead + 1)]
    seconds = _screening(clock) * sum(screened) if any(screened) else 0.0
    few = part
    while few.n_variables > 2 and _words(few, counted) > MOST_WORDS:
        few = few.select(
            list(range(0, few.n_variables - 1)) if few.n_variables < 12 else _half(few)
        )
    sets = Planes.of(few).sets(counted)
    if counted < 2 or Planes.of(few).n_interacting <= counted:
        return seconds

    def look() -> None:
        open_information(few, settings).interactions(counted)

    look()
    opening = seconds_of(lambda: open_information(few, settings), clock)
    timed = max(seconds_of(look, clock) - opening, 0.0)
    return seconds + timed * planes.sets(counted) / sets * table.n_rows / part.n_rows


def _screening(clock: Clock) -> float:
    """Seconds to screen a set of columns."""
    n_planes, size = 24, 5
    words = np.random.default_rng(1).integers(0, 2**63, (n_planes, 64), dtype=np.uint64)
    screen = Screen(words, 64 * 64, np.arange(n_planes), 64 * 64)

    def look() -> None:
        screen.look(size, 0, n_planes - size + 1)

    look()
    return seconds_of(look, clock) / math.comb(n_planes, size)


def _words(table: AnyTable, look_ahead: int) -> int:
    planes = Planes.of(table)
    return words_to_read(planes.n_interacting, planes.n_words, look_ahead)


def _half(table: AnyTable) -> list[int]:
    """Three quarters of the columns, at even distances."""
    return [k for k in range(table.n_variables) if k % 4]


def _more_to_open(table: AnyTable, part: AnyTable) -> float:
    """How much more there is to pack and to pair than in the part."""
    return _to_open(table) / _to_open(part)


def _to_open(table: AnyTable) -> float:
    planes = Planes.of(table)
    cells = float(table.n_variables) * table.n_rows
    return cells + 64 * planes.n_planes * planes.n_words + planes.n_planes**2 * planes.n_words / 4


def _boundary_cells(sizes: np.ndarray[tuple[int], np.dtype[np.int64]], probed: Probe) -> float:
    return float(np.median(sizes)) ** (2 + probed.boundary) if len(sizes) else 0.0


def _memory(table: AnyTable, found: Sequence[Reading]) -> dict[str, int]:
    """Readings are searched one after the other, and all are kept to the end."""
    if in_blocks(table):
        parts = memory.of_blocks(table)
    elif of_moments(table):
        parts = memory.of_moments(table)
    else:
        parts = memory.of_table(with_rows(table))
    for one in found:
        asked = Asked(
            contexts=one.work.contexts,
            path=one.probed.boundary,
            remembers=one.settings.search == "auto",
            masks=one.settings.search not in ("auto", "sequential"),
            tests_come_along=one.probed.tests_come_along,
        )
        own = memory.of_search(table.n_variables, asked)
        if not in_memory(table):
            pass  # what counting and the moments take is known
        elif one.settings.entropy is not None:
            own |= memory.of_counts(table, one.look_ahead)
        else:
            own |= memory.of_numbers(table)
        for name, size in own.items():
            parts[name] = parts.get(name, 0) + size
    return parts


def _visible(table: AnyTable, one: Reading) -> tuple[float | None, tuple[Detectable, ...]]:
    """For two columns of two levels, the two with the most levels, and two of numbers."""
    n_tests = max(table.n_variables - 1, 1)
    kind = one.settings.information
    kinds: list[tuple[int, int] | None] = []
    if kind in (*LEVELLED, *MIXED):
        largest = np.sort(table.arities)[-2:].tolist()
        if len(largest) == 2 and largest[0] > 1:
            several = (int(largest[0]), int(largest[1]))
            kinds = [(2, 2)] if several == (2, 2) or table.arities.min() == 2 else []
            kinds += [several] if several not in kinds else []
    if kind in (*NUMBERS, *MIXED) and n_tests:
        kinds.append(None)
    n_rows = _fewest_rows(table, one.n_rows)
    tried = [detectable(one.rule, n_rows, n_tests, levels) for levels in kinds]
    return alpha_of(one.rule, n_tests), tuple(known for known in tried if known is not None)


def _fewest_rows(table: AnyTable, n_rows: float) -> float:
    """The rows that the two columns with the most gaps have in common."""
    gaps = sorted(table.missing.values(), key=lambda absent: -int(absent.sum()))[:2]
    return n_rows - float(np.logical_or.reduce(gaps).sum()) if gaps else n_rows
