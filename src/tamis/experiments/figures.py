"""Figures of a study: SHD against n as in the paper's Figure 2, and time against d."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tamis.atomic import check_place, write_files
from tamis.errors import SettingError
from tamis.experiments.looks import Look, looks
from tamis.experiments.report import title
from tamis.experiments.rows import OK, Row
from tamis.experiments.summaries import Cells, median_seconds, summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENDINGS = ("png", "svg", "pdf")

_BAND = 0.14
_PANEL = (2.5, 2.0)


def write_figures(
    rows: Sequence[Row], folder: str | os.PathLike[str], ending: str = "png"
) -> list[str]:
    """Draw everything there is to draw, into ``folder``; returns the names of the files.

    ``shd-MODEL`` for each model, and ``time`` if there is more than one d.
    """
    if ending not in ENDINGS:
        raise SettingError(f"figures are {', '.join(ENDINGS)}, not {ending!r}")
    contents = {
        str(Path(folder) / f"{name}.{ending}"): rendered(figure, ending)
        for name, figure in _all_figures(rows)
    }
    for path in contents:
        check_place(path)
    write_files(contents)
    return [Path(path).name for path in contents]


def shd_figure(rows: Sequence[Row], model: str) -> Figure:
    """SHD against n for one model: a row of panels a graph type, a column a d.

    Lines are means, bands one standard error to either side. A hollow marker is a mean over
    some of the replications, because not all finished.
    """
    cells = Cells(row for row in rows if row.model == model)
    graphs = cells.graphs(model)
    sizes = sorted({d for _, _, d, _ in cells})
    figure, panels = _panels(len(graphs), len(sizes))
    for panel_row, graph in zip(panels, graphs, strict=True):
        for axes, d in zip(panel_row, sizes, strict=True):
            _distances(axes, cells, (model, graph), d)
            axes.set_title(f"{title(graph)}, d = {d}" if graph else f"d = {d}", fontsize=9)
        panel_row[0].set_ylabel("SHD")
    for axes in panels[-1]:
        axes.set_xlabel("n")
    _finish(figure, f"{title(model)}: structural Hamming distance, mean ± standard error", cells)
    return figure


def time_figure(rows: Sequence[Row]) -> Figure:
    """Median seconds of learning against d, on a logarithmic axis: a row a model, a column an n.

    Over graph types and replications. Runs that were ended or given up count with the limit; a
    hollow marker stands where there are any.
    """
    cells = Cells(rows)
    models, numbers = cells.models(), sorted({n for *_, n in cells})
    figure, panels = _panels(len(models), len(numbers), share="all")
    for panel_row, model in zip(panels, models, strict=True):
        for axes, n in zip(panel_row, numbers, strict=True):
            _times(axes, cells, model, n)
            axes.set_title(f"{title(model)}, n = {n}", fontsize=9)
            axes.set(yscale="log", xticks=sorted({d for _, _, d, _ in cells}))
        panel_row[0].set_ylabel("seconds")
    for axes in panels[-1]:
        axes.set_xlabel("d")
    _finish(figure, "Median time of learning, one thread", cells)
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


def _all_figures(rows: Sequence[Row]) -> Iterator[tuple[str, Figure]]:
    cells = Cells(rows)
    for model in cells.models():
        yield f"shd-{model}", shd_figure(rows, model)
    if len({d for _, _, d, _ in cells}) > 1:
        yield "time", time_figure(rows)


def _panels(n_rows: int, n_columns: int, share: str = "none") -> tuple[Figure, list[list[Axes]]]:
    width, height = _PANEL
    figure = new_figure(max(width * n_columns + 0.6, 6.0), height * n_rows + 1.2)
    grid = figure.subplots(n_rows, n_columns, squeeze=False, sharex=True, sharey=share == "all")
    return figure, grid.tolist()


def _distances(axes: Axes, cells: Cells, kind: tuple[str, str], d: int) -> None:
    numbers = [n for other, n in cells.sizes(*kind) if other == d]
    for name, look in _last_on_top(cells):
        found = [summary(cells[*kind, d, n].get(name, ())) for n in numbers]
        means, errors = [one.mean for one in found], [one.error for one in found]
        low = [mean - error for mean, error in zip(means, errors, strict=True)]
        high = [mean + error for mean, error in zip(means, errors, strict=True)]
        axes.fill_between(numbers, low, high, color=look.colour, alpha=_BAND, linewidth=0)
        _line(axes, look, numbers, means, [one.is_complete for one in found])
    if max(numbers) > 10 * min(numbers):
        axes.set_xscale("log")
    axes.set_xticks(numbers, [str(n) for n in numbers])
    axes.minorticks_off()
    _from_zero(axes)


def _from_zero(axes: Axes) -> None:
    """Whole numbers from 0 on, with room for what lies at 0."""
    from matplotlib.ticker import MaxNLocator

    top = max(axes.get_ylim()[1], 1.0)
    axes.set_ylim(-0.05 * top, top)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, integer=True, steps=[1, 2, 5, 10]))


def _times(axes: Axes, cells: Cells, model: str, n: int) -> None:
    sizes = sorted({d for one, _, d, other in cells if (one, other) == (model, n)})
    for name, look in _last_on_top(cells):
        found = [_rows_at(cells, model, n, d, name) for d in sizes]
        seconds = [median_seconds(rows) for rows in found]
        _line(axes, look, sizes, seconds, [summary(rows).is_complete for rows in found])


def _rows_at(cells: Cells, model: str, n: int, d: int, method: str) -> list[Row]:
    places = [(model, graph, d, n) for graph in cells.graphs(model)]
    return [row for place in places for row in cells.get(place, {}).get(method, ())]


def _last_on_top(cells: Cells) -> Iterator[tuple[str, Look]]:
    """The legend from its end: tamis's own are drawn last and stay visible where lines meet."""
    return reversed(looks(cells.methods).items())


def _line(
    axes: Axes, look: Look, x: Sequence[int], y: Sequence[float], complete: Sequence[bool]
) -> None:
    axes.plot(x, y, color=look.colour, linestyle=look.line, linewidth=1.3)
    for at, value, full in zip(x, y, complete, strict=True):
        if not math.isnan(value):
            face = look.colour if full else "white"
            axes.plot([at], [value], look.marker, ms=4.5, color=look.colour, mfc=face)


def _finish(figure: Figure, headline: str, cells: Cells) -> None:
    from matplotlib.lines import Line2D

    for axes in figure.axes:
        axes.grid(alpha=0.25, linewidth=0.6)
        axes.tick_params(labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)
    handles = [
        Line2D([], [], color=one.colour, linestyle=one.line, marker=one.marker, label=name)
        for name, one in looks(cells.methods).items()
    ]
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=_legend_columns(figure, cells.methods),
        frameon=False,
        fontsize=9,
    )
    if any(
        row.status != OK for methods in cells.values() for own in methods.values() for row in own
    ):
        headline += "\nhollow: not all runs finished"
    figure.suptitle(headline, fontsize=11)


def _legend_columns(figure: Figure, names: Sequence[str]) -> int:
    """As many as fit side by side; sizes are in inches, for letters of the legend's size."""
    one = 0.6 + 0.085 * max(map(len, names))
    return max(1, min(len(names), int(figure.get_figwidth() / one)))
