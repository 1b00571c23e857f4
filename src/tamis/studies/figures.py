"""Figures: the measure of a study against n, as in the paper's Figure 2, and CPU time; and the
paper's Figure 1, testing and masking on six nodes, loop by loop.

The network of Figure 1 is in ``figure1.bif``; its first lines say how it was made to fit the
paper's text.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, cycle
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import networkx as nx

from tamis.atomic import check_place, write_files
from tamis.drawing.pictures import ENDINGS, rendered, require_matplotlib
from tamis.errors import SettingError
from tamis.estimator import TAM
from tamis.network import BayesianNetwork
from tamis.parameters import SEARCHES
from tamis.result import Result
from tamis.studies.plans import MEASURES, Plan
from tamis.studies.report import Cells, Group, grouped, median_seconds, tables_in, title
from tamis.studies.rows import OK, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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

Value = Callable[[Sequence[Row]], tuple[float, float]]
"""What a figure shows of the rows of one method, and the width of the band around it."""


def write_figures(
    rows: Sequence[Row],
    folder: str | os.PathLike[str],
    plan: Plan | None = None,
    ending: str = "png",
) -> list[str]:
    """Draw everything there is to draw, into ``folder``; returns the names of the files.

    Where graphs come in several sizes, the measure of the plan for each model and ``time``;
    otherwise one figure with a panel for each model, and ``time``.
    """
    if f".{ending}" not in ENDINGS:
        raise SettingError(f"figures end in {', '.join(ENDINGS)}, not in .{ending}")
    require_matplotlib()
    cells = Cells(rows, plan)
    if cells.is_grid or len(cells.models) <= 2:
        figures = {f"{cells.measure}-{one}": measure_figure(cells, one) for one in cells.models}
    else:
        figures = {cells.measure: measure_figure(cells)}
    figures["time"] = time_figure(cells)
    paths = {name: str(Path(folder) / f"{name}.{ending}") for name in figures}
    for path in paths.values():
        check_place(path)
    write_files({paths[name]: rendered(figures[name], f".{ending}") for name in figures})
    return [Path(path).name for path in paths.values()]


def measure_figure(cells: Cells, model: str = "") -> Figure:
    """The measure against n: of one model, a row of panels a graph type and a column a d; of all
    models, a panel each.

    Lines are means, bands one standard error to either side. A hollow marker is a mean over some of
    the replications, because not all finished.
    """

    def value(rows: Sequence[Row]) -> tuple[float, float]:
        found = cells.summary(rows)
        return found.mean, found.error

    rows = [row for row in cells.rows if model in ("", row.model)]
    head = f"{title(model)}: mean " if model else "mean "
    figure = _figure(
        cells, rows, ("graph", "d") if model else ("model",), "n", value,
        head + MEASURES[cells.measure],
    )  # fmt: skip
    for axes in figure.axes:
        _from_zero(axes)
    return figure


def time_figure(cells: Cells) -> Figure:
    """Median CPU seconds on a logarithmic axis: against d, a row a model and a column an n, over
    graph types and replications; or against n, a panel a model.

    Runs that were ended or given up count with the limit; a hollow marker stands where there are
    any.
    """

    def value(rows: Sequence[Row]) -> tuple[float, float]:
        return max(median_seconds(rows), LEAST_SECONDS), 0.0

    panels, against = (("model", "n"), "d") if cells.is_grid else (("model",), "n")
    figure = _figure(cells, cells.rows, panels, against, value, "median CPU seconds")
    for axes in figure.axes:
        axes.set_yscale("log")
    return figure


def _figure(
    cells: Cells, rows: Sequence[Row], by: Sequence[str], against: str, value: Value, headline: str
) -> Figure:
    """A panel for all rows that have some columns in common, a line in it for each method."""
    from matplotlib.figure import Figure

    panels = grouped(rows, by)
    across = len({place[-1] for place in panels}) if len(by) > 1 else _MOST_ACROSS
    across = max(1, min(across, len(panels)))
    down = math.ceil(len(panels) / across)
    size = max(_PANEL[0] * across + 0.6, 6.0), _PANEL[1] * down + 1.2
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(down, across, squeeze=False).flatten().tolist()
    for axes in grid[len(panels) :]:
        axes.remove()
    for axes, (place, group) in zip(grid, panels.items(), strict=False):
        _draw(axes, cells, grouped(chain(*group.values()), (against,)), value)
        words = (title(one) if isinstance(one, str) else f"{name} = {one}"
                 for name, one in zip(by, place, strict=True))  # fmt: skip
        axes.set_title(", ".join(filter(None, words)), fontsize=9)
        axes.grid(alpha=0.25, linewidth=0.6)
        axes.tick_params(labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in grid[max(0, len(panels) - across) : len(panels)]:
        axes.set_xlabel(against)
    _add_legend(figure, cells)
    figure.suptitle("\n".join([headline, *_remarks(cells)]), fontsize=11)
    return figure


def _draw(axes: Axes, cells: Cells, places: dict[tuple[int, ...], Group], value: Value) -> None:
    """A line for each method; tamis's own are drawn last and stay visible where lines meet."""
    at = sorted(x for (x,) in places)
    for name, (colour, marker, line) in reversed(_looks(cells.methods).items()):
        rows = [places[(x,)].get(name, []) for x in at]
        found = [value(own) for own in rows]
        low, high = ([mean + sign * error for mean, error in found] for sign in (-1, 1))
        axes.fill_between(at, low, high, color=colour, alpha=0.14, linewidth=0)
        axes.plot(at, [mean for mean, _ in found], color=colour, linestyle=line, linewidth=1.3)
        for x, (mean, _), own in zip(at, found, rows, strict=True):
            if not math.isnan(mean):
                face = colour if all(row.status == OK for row in own) else "white"
                axes.plot([x], [mean], marker, ms=4.5, color=colour, mfc=face)
    if max(at) >= 10 * min(at):
        axes.set_xscale("log")
    axes.set_xticks(at, [str(n) for n in at])
    axes.minorticks_off()


def _looks(methods: Sequence[str]) -> dict[str, tuple[str, str, Literal["-", "--"]]]:
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


def _add_legend(figure: Figure, cells: Cells) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=colour, linestyle=line, marker=marker, label=name)
        for name, (colour, marker, line) in _looks(cells.methods).items()
    ]
    one = 0.6 + 0.085 * max(map(len, cells.methods))
    fitting = max(1, min(len(handles), int(figure.get_figwidth() / one)))
    figure.legend(
        handles=handles, loc="outside lower center", ncols=fitting, frameon=False, fontsize=9
    )


def _remarks(cells: Cells) -> Iterator[str]:
    if any(row.status != OK for row in cells.rows):
        yield "hollow: not all runs finished"
    tables = sorted(map(tables_in, cells.values()))
    if tables[0] < tables[-1]:
        yield f"{tables[0]} to {tables[-1]} replications a cell"


ROWS = 10_000
SEED = 1

BEFORE, IN_LAYER, MASKED, REMAINING = "in an earlier layer", "in the layer", "masked", "remaining"
STATES = {BEFORE: "#C8C8C8", IN_LAYER: "#56B4E9", MASKED: "#F0A050", REMAINING: "white"}
"""What a node can be, and its colour."""
_ACROSS = 4


@dataclass(frozen=True)
class Step:
    """The state of the search after one loop: one node enters a layer and masks others."""

    layer: int
    loop: int
    admitted: str
    newly_masked: tuple[str, ...]
    states: dict[str, str]
    """What each node is then: one of ``STATES``."""

    def __str__(self) -> str:
        masked = f", {' and '.join(self.newly_masked)} masked" if self.newly_masked else ""
        return f"layer {self.layer}, loop {self.loop}: {self.admitted} enters{masked}"


def example() -> BayesianNetwork:
    """The six nodes."""
    return BayesianNetwork.read(Path(__file__).with_name("figure1.bif"))


def learned(rows: int = ROWS, seed: int = SEED) -> Result:
    """What the paper's search finds in a sample of the six nodes."""
    found: Result = TAM("node").fit(example().sample(rows, seed=seed)).result_
    return found


def steps(result: Result) -> list[Step]:
    """The loops of every layer, as the result's trace has them; nothing is computed again."""
    if result.settings["search"] != "node":
        raise SettingError(
            "the loops of Figure 1 are those of search='node', not of "
            f"{result.settings['search']!r}"
        )
    rounds = sorted({one.round for one in result.trace.admissions})
    return [step for layer in rounds for step in _loops(result, layer)]


def _loops(result: Result, layer: int) -> Iterator[Step]:
    trace = result.trace
    states = dict.fromkeys(result.names, REMAINING)
    states |= {one.name: BEFORE for one in trace.admissions if one.round < layer}
    entering = [one.name for one in trace.admissions if one.round == layer]
    for loop, name in enumerate(entering, start=1):
        masked = tuple(
            one.name
            for one in trace.maskings
            if one.round == layer and one.verdict.others == (name,)
        )
        states = states | {name: IN_LAYER} | dict.fromkeys(masked, MASKED)
        yield Step(layer, loop, name, masked, states)


def draw(path: str | os.PathLike[str], rows: int = ROWS, seed: int = SEED) -> list[Step]:
    """Learn, and draw the true DAG and every loop (.png, .svg or .pdf); returns the loops."""
    path = os.fspath(path)
    ending = Path(path).suffix
    if ending not in ENDINGS:
        raise SettingError(f"a figure ends in {' or '.join(ENDINGS)}, not {path!r}")
    require_matplotlib()
    check_place(path)
    found = steps(learned(rows, seed))
    write_files({path: rendered(steps_figure(example().graph, found), ending)})
    return found


def steps_figure(graph: nx.DiGraph[str], steps: Sequence[Step]) -> Figure:
    """(a) the true DAG, (b) the state after each loop, with layers from top to bottom."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    n_rows = math.ceil((1 + len(steps)) / _ACROSS)
    figure = Figure(figsize=(2.5 * _ACROSS, 2.35 * n_rows + 0.5), layout="constrained")
    panels = figure.subplots(n_rows, _ACROSS, squeeze=False).flatten().tolist()
    shown: list[tuple[str, dict[str, str]]] = [("the true DAG", dict.fromkeys(graph, REMAINING))]
    shown += [(str(step).replace("enters, ", "enters,\n"), step.states) for step in steps]
    layers = {k: list(nodes) for k, nodes in enumerate(nx.topological_generations(graph))}
    places = nx.multipartite_layout(graph, layers, align="horizontal")
    for axes, (caption, states) in zip(panels, shown, strict=False):
        nx.draw_networkx(
            graph,
            {node: (x, -y) for node, (x, y) in places.items()},
            ax=axes,
            node_color=[STATES[states[node]] for node in graph],
            edgecolors="black",
            node_size=500,
            font_size=8,
        )
        axes.set_title(caption, fontsize=9)
        axes.margins(0.2)
    for axes in panels:
        axes.set_axis_off()
    handles = [Patch(label=one, facecolor=STATES[one], edgecolor="black") for one in STATES]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    return figure
