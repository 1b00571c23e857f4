"""The tables of a study as Markdown, made from its rows."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from statistics import fmean

from tamis.errors import FileFormatError
from tamis.studies.plans import MEASURES, Plan
from tamis.studies.rows import FAILED, SKIPPED, STATUSES, TIMED_OUT, Row
from tamis.studies.summaries import (
    WARRANTS,
    Cells,
    Place,
    Summary,
    directions,
    median_seconds,
    title,
)

_WORDS = {TIMED_OUT: "time", FAILED: "failed", SKIPPED: "skipped"}
_MOST_FAILURES = 10


def summarise(
    rows: Sequence[Row], plan: Plan | None = None, images: Sequence[str] = (), command: str = ""
) -> str:
    """Everything the rows say, as Markdown: distances, who is best, time, what did not finish.

    ``plan`` and ``command`` add how it was run; ``images`` are names of figures beside the page.
    """
    cells = Cells(rows, "shd" if plan is None else plan.measure)
    parts = chain(
        _circumstances(rows, plan, command),
        *([f"![{name}]({name})", ""] for name in images),
        _distances(cells),
        _winners(cells),
        _recoveries(cells),
        _directions(cells),
        _times(cells),
        _endings(rows, cells),
    )
    return "\n".join(parts).rstrip() + "\n"


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


def _circumstances(rows: Sequence[Row], plan: Plan | None, command: str) -> Iterator[str]:
    yield from ("### How it was run", "")
    if command:
        yield from (f"    {command}", "")
    counts = Counter(row.status for row in rows)
    ended = ", ".join(f"{counts[status]:,} {status}" for status in STATUSES if counts[status])
    asked = "" if plan is None or len(plan.runs) == len(rows) else f" of {len(plan.runs):,}"
    spent = sum(row.cpu_seconds or 0.0 for row in rows) / 3600
    yield f"- {len(rows):,} runs{asked}: {ended}; {spent:.2g} CPU hours of learning."
    if plan is not None:
        yield f"- {_limits(plan)}"
    yield f"- Tables: {_tables(rows)}."
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
            f" A method that timed out on the first {plan.patience} replications of a cell was "
            "skipped on the others, and where d or n are larger."
        )
    return text


def _tables(rows: Sequence[Row]) -> str:
    """The ranges of the grid."""
    ranges = []
    for name in ("d", "n"):
        values = sorted({getattr(row, name) for row in rows})
        few = ", ".join(map(str, values))
        ranges.append(f"{name} {few if len(values) < 5 else f'{values[0]} to {values[-1]}'}")
    times = len({row.replication for row in rows})
    return ", ".join([*ranges, f"{times} replication{'s' * (times != 1)}"])


def _distances(cells: Cells) -> Iterator[str]:
    yield from (f"### Mean {MEASURES[cells.measure]}", "")
    favourably = ", undirected edges counted favourably" if cells.measure == "shd" else ""
    yield (
        f"Mean over the replications ± standard error{favourably}. "
        "**Bold**: the best, and whatever is within one standard error of it (of the differences, "
        "table by table). Methods with unfinished runs are not compared; the number of finished "
        "runs follows in brackets."
    )
    yield ""
    if not cells.is_grid:
        yield from _by_place(cells, cells, ("model", "graph", "d", "n"))
        return
    for (model, graph), sizes in cells.kinds.items():
        yield from (f"#### {title(model)}" + (f", {title(graph)}" if graph else ""), "")
        yield from _by_place(cells, [(model, graph, *size) for size in sizes], ("d", "n"))


def _by_place(cells: Cells, places: Iterable[Place], heads: Sequence[str]) -> Iterator[str]:
    methods = in_use(cells, places := list(places))
    lines = []
    for place in places:
        winners = cells.best(place)
        entries = [
            _entry(cells.summary(cells[place].get(name, ())), bold=name in winners)
            for name in methods
        ]
        lines.append([*map(str, place[-len(heads) :]), *entries])
    yield from _table([*heads, *methods], lines)


def in_use(cells: Cells, places: Iterable[Place]) -> list[str]:
    """The methods that learn from tables of these cells."""
    used = {name for place in places for name in cells[place]}
    return [name for name in cells.methods if name in used]


def _entry(one: Summary, *, bold: bool) -> str:
    if not one.finished:
        return ", ".join(word for status, word in _WORDS.items() if one.statuses[status])
    text = f"{one.mean:.1f} ± {one.error:.1f}"
    if not one.is_complete:
        text += f" ({one.finished} of {one.runs})"
    return f"**{text}**" if bold else text


def _winners(cells: Cells) -> Iterator[str]:
    yield from ("### Who is best where", "")
    yield "Cells in which a method is the best or within one standard error of it."
    yield ""
    lines = []
    for (model, graph), sizes in cells.kinds.items():
        wins = Counter(name for size in sizes for name in cells.best((model, graph, *size)))
        entries = [str(wins[name]) for name in cells.methods]
        lines.append([title(model), title(graph), str(len(sizes)), *entries])
    yield from _table(["model", "graph", "cells", *cells.methods], lines)


def _recoveries(cells: Cells) -> Iterator[str]:
    yield from ("### Exact recovery and skeletons", "")
    yield (
        f"The share of runs with {MEASURES[cells.measure]} 0, and the mean F1 of the skeleton, "
        "over all d and replications that finished."
    )
    yield ""
    lines = []
    for model, graph in cells.kinds if cells.is_grid else [("", "")]:
        where = {"model": model, "graph": graph} if model else {}
        for n in sorted({n for *kind, _, n in cells if not model or kind == [model, graph]}):
            entries = [_recovered(cells, cells.of(name, n=n, **where)) for name in cells.methods]
            lines.append([title(model) or "all", title(graph), str(n), *entries])
    yield from _table(["model", "graph", "n", *cells.methods], lines)


def _recovered(cells: Cells, rows: list[Row]) -> str:
    found = [row.skeleton_f1 for row in rows if row.skeleton_f1 is not None]
    exact = cells.summary(rows).exact
    return "" if math.isnan(exact) else f"{exact:.0%}" + (f", {fmean(found):.2f}" if found else "")


def _directions(cells: Cells) -> Iterator[str]:
    """For the methods that say what a direction rests on."""
    yield from ("### Directions by warrant", "")
    yield (
        "Of the learned arrows over true edges, the share that points the right way, by what the "
        'direction rests on, and the number of arrows; "none" is not claimed. Hidden cause: of the '
        "pairs of columns that nothing else joins, how many are joined, and how many of these "
        "with a direction that is claimed."
    )
    yield ""
    lines = []
    for model in cells.models:
        for method in cells.methods:
            found = directions(cells.of(method, model))
            shares = [_of(*found[name]) if name in found else "" for name in WARRANTS]
            claimed, joined, pairs = found.get("hidden", (0, 0, 0))
            if found:
                hidden = f"{joined} of {pairs}, {claimed} claimed" if pairs else ""
                lines.append([title(model), method, *shares, hidden])
    yield from _table(["model", "method", *WARRANTS, "hidden cause"], lines)


def _of(right: int, number: int) -> str:
    return f"{right / number:.0%} of {number:,}"


def _times(cells: Cells) -> Iterator[str]:
    yield from ("### Time", "")
    yield (
        "Median CPU seconds of learning with one thread, over graph types and replications, at the "
        "largest n; a run that was ended or skipped counts with the limit."
    )
    yield ""
    lines = []
    for model in cells.models:
        largest = max(n for one, _, _, n in cells if one == model)
        for d in sorted({d for one, _, d, _ in cells if one == model}):
            spent = [median_seconds(cells.of(m, model, d=d, n=largest)) for m in cells.methods]
            entries = ["" if math.isnan(one) else f"{one:.3g}" for one in spent]
            lines.append([title(model), str(d), str(largest), *entries])
    yield from _table(["model", "d", "n", *cells.methods], lines)


def _endings(rows: Sequence[Row], cells: Cells) -> Iterator[str]:
    yield from ("### How the runs ended", "")
    lines = []
    for method in cells.methods:
        counts = Counter(row.status for row in rows if row.method == method)
        lines.append([method, *(f"{counts[status]:,}" for status in STATUSES)])
    yield from _table(["method", *STATUSES], lines)
    failures = Counter((row.method, row.reason) for row in rows if row.status == FAILED)
    for (method, reason), count in failures.most_common(_MOST_FAILURES):
        yield f"- {method}, {count} times: {reason}"
    if failures:
        yield ""


def _table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|{'---|' * len(header)}"
    for line in lines:
        yield f"| {' | '.join(line)} |"
    yield ""
