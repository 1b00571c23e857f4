"""The tables of a study as Markdown, made from its rows."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from tamis.errors import FileFormatError
from tamis.experiments.plans import Plan
from tamis.experiments.rows import FAILED, SKIPPED, STATUSES, TIMED_OUT, Row
from tamis.experiments.summaries import Cells, Summary, best, median_seconds, summary

NAMES = {
    "mod": "MOD",
    "add": "ADD",
    "unfaithful": "Unfaithful",
    "tree": "Tree",
    "er": "ER",
    "sf": "SF",
}
"""As the paper writes them."""

_WORDS = {TIMED_OUT: "time", FAILED: "failed", SKIPPED: "skipped"}
_MOST_FAILURES = 10


def summarise(rows: Sequence[Row], plan: Plan | None = None, images: Sequence[str] = ()) -> str:
    """Everything the rows say, as Markdown: distances, who is best, time, what did not finish.

    ``plan`` adds how it was run; ``images`` are names of figures that lie beside the page.
    """
    cells = Cells(rows)
    parts = chain(
        _circumstances(rows, plan),
        *([f"![{name}]({name})", ""] for name in images),
        _distances(cells),
        _winners(cells),
        _recoveries(cells),
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


def title(name: str) -> str:
    """A model or a graph type as a heading says it."""
    return NAMES.get(name, name)


def _circumstances(rows: Sequence[Row], plan: Plan | None) -> Iterator[str]:
    yield "### How it was run"
    yield ""
    if plan is not None and plan.command:
        yield f"    {plan.command}"
        yield ""
    counts = Counter(row.status for row in rows)
    ended = ", ".join(f"{counts[status]:,} {status}" for status in STATUSES if counts[status])
    asked = "" if plan is None or len(plan.cells) == len(rows) else f" of {len(plan.cells):,}"
    yield f"- {len(rows):,} runs{asked}: {ended}."
    if plan is not None:
        yield f"- {_limits(plan)}"
    yield f"- Tables: {_tables(rows)}."
    yield f"- Versions: {', '.join(_versions(rows))}."
    yield ""


def _limits(plan: Plan) -> str:
    if plan.time_limit is None:
        return "No time limit."
    text = f"At most {plan.time_limit:g} seconds of learning a run, one thread each."
    if plan.patience:
        text += (
            f" A method that timed out on the first {plan.patience} replications of a cell was "
            "skipped on the others and on larger d."
        )
    return text


def _tables(rows: Sequence[Row]) -> str:
    """The ranges of the grid, and the options that all tables share."""
    ranges = [
        f"{name} {_range(sorted({getattr(row, name) for row in rows}))}" for name in ("d", "n")
    ]
    times = len({row.replication for row in rows})
    shared = [f"{name} {value}" for name, value in sorted(_shared_options(rows))]
    return ", ".join([*ranges, f"{times} replication{'s' * (times != 1)}", *shared])


def _range(values: Sequence[int]) -> str:
    return ", ".join(map(str, values)) if len(values) < 4 else f"{values[0]} to {values[-1]}"


def _shared_options(rows: Iterable[Row]) -> set[tuple[str, str]]:
    """Options that have one value wherever they occur; the number of edges per node among them."""
    found: dict[str, set[str]] = {}
    for row in rows:
        settings = json.loads(row.settings or "{}")
        for name, value in settings.items():
            if name == "edges":
                name, value = "edges per node (ER)", value / row.d
            if name not in ("graph", "model", "d", "n", "seed"):
                found.setdefault(name, set()).add(json.dumps(value))
    return {(name, values.pop()) for name, values in found.items() if len(values) == 1}


def _versions(rows: Iterable[Row]) -> list[str]:
    found = {f"{name} {getattr(row, name)}" for row in rows for name in ("tamis", "numpy")}
    libraries = {one for row in rows for one in row.library.split("; ") if one}
    return sorted(found) + sorted(libraries)


def _distances(cells: Cells) -> Iterator[str]:
    yield "### Mean SHD"
    yield ""
    yield (
        "Mean over the replications ± standard error, undirected edges counted favourably. "
        "**Bold**: the best, and whatever is within one standard error of it (of the differences, "
        "table by table). Methods with unfinished runs are not compared; the number of finished "
        "runs follows in brackets."
    )
    yield ""
    for model in cells.models():
        for graph in cells.graphs(model):
            yield from _distance_table(cells, model, graph)


def _distance_table(cells: Cells, model: str, graph: str) -> Iterator[str]:
    yield f"#### {title(model)}" + (f", {title(graph)}" if graph else "")
    yield ""
    lines = []
    for d, n in cells.sizes(model, graph):
        methods = cells[model, graph, d, n]
        winners = best(methods)
        entries = [
            _entry(summary(methods[name]), bold=name in winners) if name in methods else ""
            for name in cells.methods
        ]
        lines.append([str(d), str(n), *entries])
    yield from _table(["d", "n", *cells.methods], lines)


def _entry(one: Summary, *, bold: bool) -> str:
    if not one.finished:
        return ", ".join(word for status, word in _WORDS.items() if one.statuses[status])
    text = f"{one.mean:.1f} ± {one.error:.1f}"
    if not one.is_complete:
        text += f" ({one.finished} of {one.runs})"
    return f"**{text}**" if bold else text


def _winners(cells: Cells) -> Iterator[str]:
    yield "### Who is best where"
    yield ""
    yield "Cells (d, n) in which a method is the best or within one standard error of it."
    yield ""
    lines = []
    for model in cells.models():
        for graph in cells.graphs(model):
            sizes = cells.sizes(model, graph)
            wins = Counter(name for d, n in sizes for name in best(cells[model, graph, d, n]))
            entries = [str(wins[name]) for name in cells.methods]
            lines.append([title(model), title(graph), str(len(sizes)), *entries])
    yield from _table(["model", "graph", "cells", *cells.methods], lines)


def _recoveries(cells: Cells) -> Iterator[str]:
    """The share of graphs that came back whole, by n."""
    yield "### Exact recovery"
    yield ""
    yield "The share of runs with SHD 0, over all d and replications that finished."
    yield ""
    lines = []
    for model in cells.models():
        for graph in cells.graphs(model):
            sizes = cells.sizes(model, graph)
            for n in sorted({n for _, n in sizes}):
                shares = [_share(cells, model, graph, n, name) for name in cells.methods]
                lines.append([title(model), title(graph), str(n), *shares])
    yield from _table(["model", "graph", "n", *cells.methods], lines)


def _share(cells: Cells, model: str, graph: str, n: int, method: str) -> str:
    rows = [
        row
        for d, other in cells.sizes(model, graph)
        if other == n
        for row in cells[model, graph, d, n].get(method, ())
    ]
    exact = summary(rows).exact
    return "" if math.isnan(exact) else f"{exact:.0%}"


def _times(cells: Cells) -> Iterator[str]:
    yield "### Time"
    yield ""
    yield (
        "Median seconds of learning with one thread, over graph types and replications, at the "
        "largest n; a run that was ended or skipped counts with the limit."
    )
    yield ""
    lines = []
    for model in cells.models():
        largest = max(n for one, _, _, n in cells if one == model)
        sizes = sorted({d for one, _, d, _ in cells if one == model})
        for d in sizes:
            chosen = [
                cells[place] for place in cells if (place[0], *place[2:]) == (model, d, largest)
            ]
            lines.append([title(model), str(d), *(_time(chosen, name) for name in cells.methods)])
    yield from _table(["model", "d", *cells.methods], lines)


def _time(chosen: Iterable[Mapping[str, Sequence[Row]]], method: str) -> str:
    rows = [row for methods in chosen for row in methods.get(method, ())]
    seconds = median_seconds(rows)
    return "" if math.isnan(seconds) else f"{seconds:.3g}"


def _endings(rows: Sequence[Row], cells: Cells) -> Iterator[str]:
    yield "### How the runs ended"
    yield ""
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
