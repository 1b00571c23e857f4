"""The paper's Figure 1: testing and masking on six nodes, loop by loop.

The network is in ``figure1.bif``; its first lines say how it was made to fit the paper's text.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import networkx as nx

from tamis.atomic import check_place, write_files
from tamis.drawing.pictures import ENDINGS, rendered, require_matplotlib
from tamis.errors import SettingError
from tamis.estimator import TAM
from tamis.network import BayesianNetwork
from tamis.result import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
    for axes, (title, states) in zip(panels, shown, strict=False):
        nx.draw_networkx(
            graph,
            {node: (x, -y) for node, (x, y) in places.items()},
            ax=axes,
            node_color=[STATES[states[node]] for node in graph],
            edgecolors="black",
            node_size=500,
            font_size=8,
        )
        axes.set_title(title, fontsize=9)
        axes.margins(0.2)
    for axes in panels:
        axes.set_axis_off()
    handles = [Patch(label=one, facecolor=STATES[one], edgecolor="black") for one in STATES]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    return figure
