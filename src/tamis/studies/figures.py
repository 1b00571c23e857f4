"""Figures of a study: the measure against n as in the paper's Figure 2, and CPU time."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from tamis.atomic import check_place, write_files
from tamis.defaults import SEARCHES
from tamis.errors import SettingError
from tamis.studies.plans import MEASURES
from tamis.studies.rows import OK, Row
from tamis.studies.summaries import Cells, Place, median_seconds, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENDINGS = ("png", "svg", "pdf")

# Okabe and Ito's colours, which most colour-blind people tell apart, and some more.
_COLOURS = (
    "#0072B2", "#56B4E9", "#D55E00", "#000000", "#009E73", "#CC79A7", "#E69F00", "#8C6D31",
    "#7B4FA3", "#882255", "#666666",
)  # fmt: skip
_MARKERS = "oXs^DvP<>h8"
LEAST_SECONDS = 1e-3
"""Where less CPU time is drawn: some systems count it in steps of milliseconds, so that a short run
has none, which a logarithmic axis cannot show."""
_PANEL = (2.5, 2.0)
_MOST_ACROSS = 6

Line = Literal["-", "--"]
Value = Callable[[Sequence[Row]], tuple[float, float]]
"""What a figure shows of the rows of one method, and the width of the band around it."""


class Panel(NamedTuple):
    """One pair of axes: the cells that it shows, by the place on the horizontal axis."""

    title: str
    places: dict[int, list[Place]]


def write_figures(
    rows: Sequence[Row], folder: str | os.PathLike[str], ending: str = "png", measure: str = "shd"
) -> list[str]:
    """Draw everything there is to draw, into ``folder``; returns the names of the files.

    Where graphs come in several sizes, the measure for each model and ``time``; otherwise one
    figure with a panel for each model, and ``time``.
    """
    if ending not in ENDINGS:
        raise SettingError(f"figures are {', '.join(ENDINGS)}, not {ending!r}")
    cells = Cells(rows, measure)
    contents = {
        str(Path(folder) / f"{name}.{ending}"): rendered(figure, ending)
        for name, figure in all_figures(cells)
    }
    for path in contents:
        check_place(path)
    write_files(contents)
    return [Path(path).name for path in contents]


def figure_names(cells: Cells) -> list[str]:
    """What the figures are called."""
    models = cells.models if cells.is_grid or len(cells.models) <= 2 else []
    return [*([f"{cells.measure}-{model}" for model in models] or [cells.measure]), "time"]


def all_figures(cells: Cells) -> Iterator[tuple[str, Figure]]:
    """The figures by name."""
    *measures, time = figure_names(cells)
    for name in measures:
        yield name, measure_figure(cells, name.partition("-")[2])
    yield time, time_figure(cells)


def measure_figure(cells: Cells, model: str = "") -> Figure:
    """The measure against n: of one model, a row of panels a graph type and a column a d; of all
    models, a panel each.

    Lines are means, bands one standard error to either side. A hollow marker is a mean over some of
    the replications, because not all finished.
    """

    def value(rows: Sequence[Row]) -> tuple[float, float]:
        found = cells.summary(rows)
        return found.mean, found.error

    kinds = {kind: sizes for kind, sizes in cells.kinds.items() if model in ("", kind[0])}
    panels = []
    for (one, graph), sizes in kinds.items():
        for d in dict.fromkeys(d for d, _ in sizes):
            called = (f"{title(graph)}, d = {d}" if graph else f"d = {d}") if model else title(one)
            places = {n: [(one, graph, d, n)] for other, n in sizes if other == d}
            panels.append(Panel(called, places))
    across = len(panels) // len(kinds) if model else _MOST_ACROSS
    head = f"{title(model)}: " if model else ""
    figure = _figure(cells, panels, across, value, f"{head}mean {MEASURES[cells.measure]}", "n")
    for axes in figure.axes:
        _from_zero(axes)
    return figure


def time_figure(cells: Cells) -> Figure:
    """Median CPU seconds on a logarithmic axis: against d, a row a model and a column an n, over
    graph types and replications; or against n, a panel a model.

    Runs that were ended or given up count with the limit; a hollow marker stands where there are
    any.
    """
    panels, across = [], _MOST_ACROSS
    for model in cells.models:
        own = [place for place in cells if place[0] == model]
        numbers = sorted({n for *_, n in own})
        if cells.is_grid:
            across = len(numbers)
            for n in numbers:
                sizes = sorted({d for _, _, d, other in own if other == n})
                at = {d: [p for p in own if p[2:] == (d, n)] for d in sizes}
                panels.append(Panel(f"{title(model)}, n = {n}", at))
        else:
            panels.append(Panel(title(model), {n: [p for p in own if p[3] == n] for n in numbers}))

    def value(rows: Sequence[Row]) -> tuple[float, float]:
        return max(median_seconds(rows), LEAST_SECONDS), 0.0

    figure = _figure(
        cells, panels, across, value, "median CPU seconds", "d" if cells.is_grid else "n"
    )
    for axes in figure.axes:
        axes.set_yscale("log")
    return figure


def rendered(figure: Figure, ending: str) -> bytes:
    """The bytes of a file."""
    content = io.BytesIO()
    # No date in the file: the same rows give the same figure.
    plain = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(ending)
    figure.savefig(content, format=ending, dpi=150, metadata=plain)
    return content.getvalue()


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, or a word about the extra that is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise SettingError(
            "drawing needs matplotlib: install tamis with its extra, pip install 'tamis[plot]'"
        ) from error
    return Figure(figsize=(width, height), layout="constrained")


def _figure(
    cells: Cells, panels: Sequence[Panel], across: int, value: Value, what: str, against: str
) -> Figure:
    across = max(1, min(across, len(panels)))
    down = math.ceil(len(panels) / across)
    width, height = _PANEL
    figure = new_figure(max(width * across + 0.6, 6.0), height * down + 1.2)
    grid = figure.subplots(down, across, squeeze=False).flatten().tolist()
    for axes in grid[len(panels) :]:
        axes.remove()
    for axes, panel in zip(grid, panels, strict=False):
        _draw(axes, cells, panel, value)
        axes.set_title(panel.title, fontsize=9)
    for axes in grid[max(0, len(panels) - across) : len(panels)]:
        axes.set_xlabel(against)
    _finish(figure, what, cells)
    return figure


def _draw(axes: Axes, cells: Cells, panel: Panel, value: Value) -> None:
    """A line for each method; tamis's own are drawn last and stay visible where lines meet."""
    at = list(panel.places)
    for name, (colour, marker, line) in reversed(_looks(cells.methods).items()):
        rows = [[r for p in places for r in cells[p].get(name, ())]
                for places in panel.places.values()]  # fmt: skip
        found = [value(own) for own in rows]
        low, high = ([mean + sign * error for mean, error in found] for sign in (-1, 1))
        axes.fill_between(at, low, high, color=colour, alpha=0.14, linewidth=0)
        axes.plot(at, [mean for mean, _ in found], color=colour, linestyle=line, linewidth=1.3)
        for x, (mean, _), own in zip(at, found, rows, strict=True):
            if not math.isnan(mean):
                face = colour if cells.summary(own).is_complete else "white"
                axes.plot([x], [mean], marker, ms=4.5, color=colour, mfc=face)
    if max(at) > 10 * min(at):
        axes.set_xscale("log")
    axes.set_xticks(at, [str(n) for n in at])
    axes.minorticks_off()


def _looks(methods: Sequence[str]) -> dict[str, tuple[str, str, Line]]:
    """Colour, marker and line in the order of the legend: tamis's own solid, others dashed."""
    looks = cycle(zip(_COLOURS, _MARKERS, strict=True))
    return {
        name: (colour, marker, "-" if name.startswith(tuple(SEARCHES)) else "--")
        for name, (colour, marker) in zip(methods, looks, strict=False)
    }


def _from_zero(axes: Axes) -> None:
    """Whole numbers from 0 on, with room for what lies at 0."""
    from matplotlib.ticker import MaxNLocator

    top = max(axes.get_ylim()[1], 1.0)
    axes.set_ylim(-0.05 * top, top)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, integer=True, steps=[1, 2, 5, 10]))


def _finish(figure: Figure, headline: str, cells: Cells) -> None:
    from matplotlib.lines import Line2D

    for axes in figure.axes:
        axes.grid(alpha=0.25, linewidth=0.6)
        axes.tick_params(labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)
    handles = [
        Line2D([], [], color=colour, linestyle=line, marker=marker, label=name)
        for name, (colour, marker, line) in _looks(cells.methods).items()
    ]
    one = 0.6 + 0.085 * max(map(len, cells.methods))
    fitting = max(1, min(len(handles), int(figure.get_figwidth() / one)))
    figure.legend(
        handles=handles, loc="outside lower center", ncols=fitting, frameon=False, fontsize=9
    )
    if any(row.status != OK for own in cells.values() for rows in own.values() for row in rows):
        headline += "\nhollow: not all runs finished"
    figure.suptitle(headline, fontsize=11)
