"""The tables of a study as Markdown, and what they and figures show of the rows: groups, means,
standard errors, the best.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from statistics import fmean, median, stdev
from typing import Any

from tamis.errors import FileFormatError
from tamis.result.looks import LOOKS
from tamis.studies.attempts import in_order
from tamis.studies.plans import MEASURES, Plan, first_replications
from tamis.studies.rows import FAILED, OK, SKIPPED, STATUSES, TIMED_OUT, Row

Group = dict[str, list[Row]]
"""Rows by method."""

CELL = ("model", "graph", "d", "n")
NAMES = {"mod": "MOD", "add": "ADD", "tree": "Tree", "er": "ER", "sf": "SF"}
"""As the paper writes them, and in its order."""


def title(name: str) -> str:
    """A model or a graph type as a heading says it."""
    return NAMES.get(name, name)


@dataclass(frozen=True)
class Summary:
    """Some runs of one method; means are over those that finished.

    ``mean`` and ``error`` are those of the measure: error is its standard error, 0 for one run.
    ``exact`` is the share of runs where it is 0, ``f1`` the mean of the skeleton's. All are nan if
    no run finished.
    """

    mean: float
    error: float
    exact: float
    f1: float
    finished: int


class Cells(dict[tuple[Any, ...], Group]):
    """The rows by cell and method, in the order of the paper; ``measure`` is what is compared, the
    SHD unless a plan says otherwise."""

    def __init__(self, rows: Iterable[Row], plan: Plan | None = None) -> None:
        self.rows = sorted(rows, key=_paper_order)
        super().__init__(grouped(self.rows, CELL))
        self.measure = "shd" if plan is None else plan.measure
        self.methods = in_order({row.method for row in self.rows})
        """All methods, tamis's own first."""
        self.everywhere = self.methods if plan is None else in_order(plan.methods)
        """Those that are run on all tables."""
        self.models = list(dict.fromkeys(model for model, *_ in self))
        self.is_grid = len({cell[:2] for cell in self}) < len({cell[:3] for cell in self})
        """Whether there are graphs of several sizes; otherwise models are all that differs."""

    def summary(self, rows: Sequence[Row]) -> Summary:
        """What the runs of one method came to."""
        values = [self._value(row) for row in rows if row.status == OK]
        f1 = [row.skeleton_f1 for row in rows if row.skeleton_f1 is not None]
        return Summary(
            fmean(values) if values else math.nan,
            _standard_error(values) if values else math.nan,
            values.count(0) / len(values) if values else math.nan,
            fmean(f1) if f1 else math.nan,
            len(values),
        )

    def best(self, group: Group) -> list[str]:
        """The methods with the least mean in a cell, and those that it does not beat by a standard
        error.

        The standard error is that of the differences, table by table, since all learn from the
        same tables. Methods with runs that did not finish are not compared: those that did are
        the easy ones.
        """
        rivals = complete(group)
        if not rivals:
            return []
        first = min(rivals, key=lambda name: self.summary(group[name]).mean)
        return [name for name in rivals if self._is_equal(group[name], group[first])]

    def _value(self, row: Row) -> float:
        value: float | None = getattr(row, self.measure)
        if value is None:
            raise FileFormatError(f"The run {row.key} is finished and has no {self.measure}.")
        return value

    def _is_equal(self, rows: Sequence[Row], others: Sequence[Row]) -> bool:
        values = {row.replication: self._value(row) for row in others}
        differences = [self._value(row) - values[row.replication] for row in rows]
        return fmean(differences) <= _standard_error(differences)


def grouped(rows: Iterable[Row], by: Sequence[str]) -> dict[tuple[Any, ...], Group]:
    """The rows by some of their columns, and then by method."""
    found: dict[tuple[Any, ...], Group] = {}
    for row in rows:
        place = tuple(getattr(row, name) for name in by)
        found.setdefault(place, {}).setdefault(row.method, []).append(row)
    return found


def tables_in(group: Group) -> int:
    """How many tables somebody has learned from, in one cell."""
    return len({row.replication for rows in group.values() for row in rows})


def complete(group: Group) -> tuple[str, ...]:
    """The methods that came to a graph on every table of a cell."""
    tables = tables_in(group)
    return in_order(
        name for name, rows in group.items() if [row.status for row in rows] == [OK] * tables
    )


def median_seconds(rows: Iterable[Row]) -> float:
    """The median CPU time of learning; a run that timed out or was given up counts with its limit.

    So it is too small, if at all, only where half of the runs did not finish.
    """
    spent = [
        row.time_limit
        if row.status in (TIMED_OUT, SKIPPED)
        else (row.seconds if row.cpu_seconds is None else row.cpu_seconds)
        for row in rows
        if row.status in (OK, TIMED_OUT, SKIPPED)
    ]
    known = [one for one in spent if one is not None]
    return median(known) if known else math.nan


def directions(rows: Iterable[Row]) -> dict[str, list[int]]:
    """The counts of ``Row.directions``, added up."""
    found: dict[str, list[int]] = {}
    for row in rows:
        for name, counts in json.loads(row.directions or "{}").items():
            before = found.get(name, [0] * len(counts))
            found[name] = [a + b for a, b in zip(before, counts, strict=True)]
    return found


def _paper_order(row: Row) -> tuple[object, ...]:
    graph = row.graph.removesuffix("-by-label")
    return *_rank(row.model), *_rank(graph), row.graph, row.d, row.n, row.replication


def _rank(name: str) -> tuple[int, str]:
    return (list(NAMES).index(name) if name in NAMES else len(NAMES)), name


def _standard_error(values: Sequence[float]) -> float:
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0


_WORDS = {TIMED_OUT: "time", FAILED: "failed", SKIPPED: "skipped"}
_MOST_FAILURES = 10

Lines = Iterable[Sequence[str]]


def summarise(
    rows: Sequence[Row], plan: Plan | None = None, images: Sequence[str] = (), command: str = ""
) -> str:
    """Everything the rows say, as Markdown: distances, who is best, time, what did not finish.

    ``plan`` and ``command`` add how it was run; ``images`` are names of figures beside the page.
    """
    cells = Cells(rows, plan)
    measure = MEASURES[cells.measure]
    favourably = ", undirected edges counted favourably" if cells.measure == "shd" else ""
    hidden = _HIDDEN if any('"hidden"' in row.directions for row in rows) else ""
    parts = [
        _circumstances(rows, plan, command),
        *([f"![{name}]({name})", ""] for name in images),
        _section(f"{measure} over all cells", _OVERALL, *overall(cells)),
        _section("Directions by warrant", _DIRECTIONS + hidden, *_directions(cells)),
        _section(f"Mean {measure}", _DISTANCES.format(favourably), *_by(cells, CELL, _distances)),
        _section(
            "Exact recovery and skeletons",
            f"The share of runs with {measure} 0, and the mean F1 of the skeleton, over all d and "
            "replications that finished.",
            *_by(cells, ("model", "graph", "n"), _recoveries),
        ),
        _section("Time", _TIMES, *_by(cells, ("model", "d", "n"), _times)),
        _section("How the runs ended", "", ["method", *STATUSES], _endings(cells)),
        _failures(rows),
    ]
    return "\n".join(chain(*parts)).rstrip() + "\n"


def fill(page: str, name: str, text: str, called: str) -> str:
    """The page with ``text`` between its two marks for a study; everything else stays."""
    begin, end = f"<!-- tamis experiment {name} -->", f"<!-- end of {name} -->"
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if len(pattern.findall(page)) != 1:
        raise FileFormatError(
            f"{called!r} must have the line {begin} and, after it, the line {end}, once: the "
            "tables go between them"
        )
    # Not as a pattern: the text may hold backslashes.
    return pattern.sub(lambda _: f"{begin}\n\n{text}\n{end}", page)


def endings(rows: Iterable[Row]) -> str:
    """How many runs ended in which way."""
    counts = Counter(row.status for row in rows)
    return ", ".join(f"{counts[status]:,} {status}" for status in STATUSES if counts[status])


def overall(cells: Cells) -> tuple[list[str], list[list[str]]]:
    """A line a method, each mean one of the means of cells: where all finished, and in pairs."""
    first = cells.everywhere[0]
    shared = _finished_by(cells, cells.everywhere)
    wins = Counter(name for group in cells.values() for name in cells.best(group))
    lines = []
    for name in cells.methods:
        rows = [row for group in cells.values() for row in group.get(name, ())]
        pairs = _finished_by(cells, [first, name]) if name != first else []
        lines.append([
            name,
            *(_means(cells, shared, name) if name in cells.everywhere else ("", "")),
            f"{wins[name]} of {sum(name in group for group in cells.values())}",
            _number(median_seconds(rows), ".3g"),
            f"{len(pairs)}" if name != first else "",
            _means(cells, pairs, name)[0],
            _means(cells, pairs, first)[0],
        ])  # fmt: skip
    measure = f"{MEASURES[cells.measure]} in {len(shared)} of {len(cells)} cells"
    return [
        "method", measure, "F1 there", "best in", "CPU s", "cells in pairs", "it", first,
    ], lines  # fmt: skip


def _finished_by(cells: Cells, names: Sequence[str]) -> list[Group]:
    return [group for group in cells.values() if set(names) <= set(complete(group))]


def _means(cells: Cells, groups: Sequence[Group], name: str) -> tuple[str, str]:
    found = [cells.summary(group[name]) for group in groups]
    if not found:
        return "", ""
    return _number(fmean(one.mean for one in found)), _number(fmean(one.f1 for one in found))


def _number(value: float, shape: str = ".2f") -> str:
    return "" if math.isnan(value) else f"{value:{shape}}"


def _circumstances(rows: Sequence[Row], plan: Plan | None, command: str) -> Iterator[str]:
    yield from ("### How it was run", "")
    if command:
        yield from (f"    {command}", "")
    asked = "" if plan is None or len(plan.runs) == len(rows) else f" of {len(plan.runs):,}"
    spent = sum(row.cpu_seconds or 0.0 for row in rows) / 3600
    tables = len({row.place[:-1] for row in rows})
    yield (
        f"- {len(rows):,} runs{asked} on {tables:,} tables: {endings(rows)}; {spent:.2g} CPU hours "
        "of learning."
    )
    if plan is not None:
        yield f"- {_limits(plan)}"
    found = {f"{name} {getattr(row, name)}" for row in rows for name in ("tamis", "numpy")}
    libraries = {one for row in rows for one in row.library.split("; ") if one}
    yield f"- Versions: {', '.join([*sorted(found), *sorted(libraries)])}."
    yield from (f"- {note}" for note in (() if plan is None else plan.notes))
    yield ""


def _limits(plan: Plan) -> str:
    if not plan.time_limit:
        return "No time limit."
    text = f"At most {plan.time_limit:g} CPU seconds of learning a run, one thread each."
    if plan.patience:
        text += (
            f" A method that timed out on {first_replications(plan.patience)} of a cell was "
            "skipped on the others, and where d or n are larger."
        )
    return text


_DISTANCES = (
    "Mean over the replications ± standard error{}. **Bold**: the best, and whatever is within one "
    "standard error of it (of the differences, table by table). Methods with unfinished runs are "
    "not compared; the number of finished runs follows in brackets."
)
_OVERALL = (
    "Means over the cells in which every method that is run on all tables finished all runs; and, "
    "for each method, means over the cells in which it and the first finished, of both. Best in: "
    "cells in which it is the best or within one standard error of it. CPU seconds are the median "
    "of all runs; one that was ended or skipped counts with the limit."
)
_DIRECTIONS = (
    "Of the learned arrows over true edges, the share that points the right way, by what the "
    'direction rests on, and the number of arrows; "none" is not claimed.'
)
_HIDDEN = (
    " Hidden cause: of the pairs of columns that nothing else joins, how many are joined, and how "
    "many of these with a direction that is claimed."
)
_TIMES = (
    "Median CPU seconds of learning with one thread, over graph types and replications; a run that "
    "was ended or skipped counts with the limit."
)

Entries = Callable[[Cells, Group], Sequence[str]]
"""What a line says of each method, in the order of the methods."""


def _by(cells: Cells, names: Sequence[str], entries: Entries) -> tuple[list[str], Lines]:
    """A line for all rows that have some columns in common, with the number of their tables; and a
    column for each method."""
    lines = [
        [*(title(str(one)) for one in place), _count(group), *entries(cells, group)]
        for place, group in grouped(cells.rows, names).items()
    ]
    return [*names, "tables", *cells.methods], lines


def _count(group: Group) -> str:
    return str(sum(map(tables_in, grouped(chain(*group.values()), CELL).values())))


def _distances(cells: Cells, group: Group) -> list[str]:
    winners = cells.best(group)
    return [_distance(cells, group.get(name, []), name in winners) for name in cells.methods]


def _distance(cells: Cells, rows: Sequence[Row], bold: bool) -> str:
    one = cells.summary(rows)
    if not one.finished:
        statuses = {row.status for row in rows}
        return ", ".join(word for status, word in _WORDS.items() if status in statuses)
    text = f"{one.mean:.1f}" + (f" ± {one.error:.1f}" if one.finished > 1 else "")
    if one.finished < len(rows):
        text += f" ({one.finished} of {len(rows)})"
    return f"**{text}**" if bold else text


def _recoveries(cells: Cells, group: Group) -> list[str]:
    found = [cells.summary(group.get(name, [])) for name in cells.methods]
    return [", ".join(filter(None, [_number(one.exact, ".0%"), _number(one.f1)])) for one in found]


def _times(cells: Cells, group: Group) -> list[str]:
    return [_number(median_seconds(group.get(name, [])), ".3g") for name in cells.methods]


def _directions(cells: Cells) -> tuple[list[str], Lines]:
    """For the methods that say what a direction rests on; of all models, and of each."""
    lines = []
    models = [("all", cells.rows), *((one, [r for r in cells.rows if r.model == one])
              for one in cells.models if len(cells.models) > 1)]  # fmt: skip
    for model, rows in models:
        for method, own in grouped(rows, ())[()].items():
            found = directions(own)
            shares = [_of(*found[name]) if name in found else "" for name in LOOKS]
            claimed, joined, pairs = found.get("hidden", (0, 0, 0))
            if found:
                hidden = f"{joined} of {pairs}, {claimed} claimed" if pairs else ""
                lines.append([title(model), method, *shares, hidden])
    return ["model", "method", *LOOKS, "hidden cause"], lines


def _of(right: int, number: int) -> str:
    return f"{right / number:.0%} of {number:,}"


def _endings(cells: Cells) -> Lines:
    for method in cells.methods:
        counts = Counter(row.status for row in cells.rows if row.method == method)
        yield [method, *(f"{counts[status]:,}" for status in STATUSES)]


def _failures(rows: Sequence[Row]) -> Iterator[str]:
    failures = Counter((row.method, row.reason) for row in rows if row.status == FAILED)
    for (method, reason), count in failures.most_common(_MOST_FAILURES):
        yield f"- {method}, {count} times: {reason}"


def _section(heading: str, words: str, header: Sequence[str], lines: Lines) -> Iterator[str]:
    """A table with a heading, without the columns that are empty; nothing if all of them are."""
    lines = list(lines)
    used = [any(column) for column in zip(*lines, strict=True)]
    if any(used):
        yield from (f"### {heading}", "", *([words, ""] if words else []))
        for line in (header, ["---"] * len(header), *lines):
            yield f"| {' | '.join(compress(line, used))} |"
        yield ""
