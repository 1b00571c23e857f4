"""The paper's Figure 1: testing and masking on six nodes, loop by loop.

Nodes are drawn in layers, each with the pattern of its state, with a panel for each loop. The
network is in ``figure1.bif``; its first lines say how it was made to fit
the paper's text.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

import networkx as nx

from tamis.atomic import check_place, write_files
from tamis.errors import SettingError
from tamis.estimator import TAM
from tamis.network import BayesianNetwork
from tamis.result import Result
from tamis.studies.figures import ENDINGS, new_figure, rendered

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROWS = 10_000
SEED = 1

BEFORE, IN_LAYER, MASKED, REMAINING = "in an earlier layer", "in the layer", "masked", "remaining"
STATES = (BEFORE, IN_LAYER, MASKED, REMAINING)

Positions = dict[str, tuple[float, float]]

RADIUS = 0.24
COLUMNS = 4
_LOOKS: dict[str, dict[str, Any]] = {
    BEFORE: {"facecolor": "#D9D9D9", "edgecolor": "#8C8C8C"},
    IN_LAYER: {"facecolor": "#56B4E9", "edgecolor": "black"},
    MASKED: {"facecolor": "white", "edgecolor": "#D55E00", "hatch": "////"},
    REMAINING: {"facecolor": "white", "edgecolor": "black"},
}
_LINE = 1.3


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
    with as_file(files("tamis.studies") / "figure1.bif") as path:
        return BayesianNetwork.read(path)


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
    ending = path.rpartition(".")[2]
    if ending not in ENDINGS:
        raise SettingError(f"a figure ends in .{' or .'.join(ENDINGS)}, not {path!r}")
    check_place(path)
    found = steps(learned(rows, seed))
    write_files({path: rendered(steps_figure(example().graph, found), ending)})
    return found


def steps_figure(graph: nx.DiGraph[str], steps: Sequence[Step]) -> Figure:
    """(a) the true DAG with its first layer outlined, (b) the state after each loop."""
    n_rows = math.ceil((1 + len(steps)) / COLUMNS)
    figure = new_figure(2.5 * COLUMNS, 2.35 * n_rows + 0.5)
    panels = figure.subplots(n_rows, COLUMNS, squeeze=False).flatten().tolist()
    places = positions(graph)
    _true_graph(panels[0], graph, places)
    for axes, step in zip(panels[1:], steps, strict=False):
        _graph(axes, graph, places, step.states)
        axes.set_title(_caption(step), fontsize=9)
    for axes in panels:
        axes.set_aspect("equal")
        axes.set_axis_off()
    _legend(figure)
    return figure


def positions(graph: nx.DiGraph[str]) -> Positions:
    """Layers from top to bottom; a node stands below the middle of its parents, if it can."""
    found: Positions = {}
    for depth, layer in enumerate(nx.topological_generations(graph)):
        wanted = {node: _middle(graph, node, found) for node in layer}
        at = -math.inf
        for place, node in enumerate(sorted(layer, key=lambda one: (wanted[one], one))):
            at = max(float(place) if not found or depth == 0 else wanted[node], at + 1.0)
            found[node] = (at, -float(depth))
    return found


def _middle(graph: nx.DiGraph[str], node: str, found: Positions) -> float:
    parents = [found[parent][0] for parent in graph.predecessors(node)]
    return sum(parents) / len(parents) if parents else 0.0


def _caption(step: Step) -> str:
    masked = f"\n{', '.join(step.newly_masked)} masked" if step.newly_masked else "\n"
    return f"layer {step.layer}, loop {step.loop}: {step.admitted} enters{masked}"


def _true_graph(axes: Axes, graph: nx.DiGraph[str], places: Positions) -> None:
    from matplotlib.patches import FancyBboxPatch

    _graph(axes, graph, places, dict.fromkeys(graph, REMAINING))
    across = [x for x, y in places.values() if y == 0]
    corner, width = (min(across) - 0.3, -0.3), max(across) - min(across) + 0.6
    outline = FancyBboxPatch(
        corner, width, 0.6, boxstyle="round,pad=0.06", fill=False, linestyle="--", color="#0072B2"
    )
    axes.add_patch(outline)
    axes.set_title("the true DAG,\nits first layer outlined", fontsize=9)


def _graph(
    axes: Axes, graph: nx.DiGraph[str], places: Positions, states: Mapping[str, str]
) -> None:
    from matplotlib.patches import Circle

    for parent, child in graph.edges:
        _arrow(axes, places[parent], places[child])
    for node, place in places.items():
        axes.add_patch(Circle(place, RADIUS, linewidth=_LINE, zorder=2, **_LOOKS[states[node]]))
        # A name must stay readable on stripes.
        behind = {"boxstyle": "round,pad=0.08", "facecolor": "white", "edgecolor": "none"}
        on_stripes = behind if states[node] == MASKED else None
        axes.text(*place, node, ha="center", va="center", fontsize=8, zorder=3, bbox=on_stripes)
    axes.set_xlim(
        min(x for x, _ in places.values()) - 0.5, max(x for x, _ in places.values()) + 0.5
    )
    axes.set_ylim(min(y for _, y in places.values()) - 0.4, 0.5)


def _arrow(axes: Axes, tail: tuple[float, float], head: tuple[float, float]) -> None:
    """From rim to rim."""
    length = math.dist(tail, head)
    share = (RADIUS + 0.02) / length
    across, down = head[0] - tail[0], head[1] - tail[1]
    axes.annotate(
        "",
        xy=(head[0] - share * across, head[1] - share * down),
        xytext=(tail[0] + share * across, tail[1] + share * down),
        arrowprops={"arrowstyle": "-|>", "color": "#404040", "shrinkA": 0, "shrinkB": 0},
        zorder=1,
    )


def _legend(figure: Figure) -> None:
    from matplotlib.patches import Patch

    handles = [Patch(label=state, linewidth=_LINE, **_LOOKS[state]) for state in STATES]
    figure.legend(
        handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize=9
    )
