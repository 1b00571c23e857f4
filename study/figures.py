"""Means of a study's runs, and its figures; Figure 1. As a command: those of ``study/results``."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import networkx as nx
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from PIL import Image

import tamis
from study.harness import CELL, KEY, MEASURES, SCORES

RESULTS = Path(__file__).parent / "results"
NETWORK = Path(__file__).parent / "plans" / "figure1.bif"
# Nearly Okabe and Ito's colours, which most colour-blind people tell apart.
COLOURS = ("#07B", "#D50", "#097", "#000", "#C7A", "#E90", "#5BE", "#863", "#666")
EMPTY = {one: [""] for score in ("nodes", *SCORES) for one in (score, f"{score}_error")}
"""Columns of numbers, where an empty cell is no number; elsewhere it is a word of no letters."""
MARKERS = "osD^vPX<>"
OURS = ("default", "labels", "sequential", "node", "reference", "paper")
"""Methods of tamis: drawn solid, others dashed."""


def summarise(runs: pd.DataFrame) -> pd.DataFrame:
    """One row for each cell and method: how many runs, means and standard errors of scores."""
    parts = {"runs": ("status", "size"), "finished": ("cpu_seconds", "count")}
    for score in ("shd", "cpdag", "skeleton_f1", "cpu_seconds"):
        parts |= {score: (score, "mean"), f"{score}_error": (score, "sem")}
    parts |= {score: (score, "sum") for score in ("claimed", "right")}
    last = runs.drop_duplicates(list(KEY), keep="last")
    return last.groupby([*CELL, "method"], dropna=False).agg(**parts).reset_index()


def read(path: Path) -> pd.DataFrame:
    """The CSV of a study, or of its summary."""
    return pd.read_csv(path, keep_default_na=False, na_values=EMPTY)


def markdown(summary: pd.DataFrame, measure: str) -> Iterator[str]:
    """The lines of a table for each family and graph: means with standard errors, and seconds."""
    for (family, graph), part in summary.groupby(["family", "graph"], dropna=False):
        methods = sorted(part["method"].unique(), key=_place)
        yield f"\n### {family} {graph}".rstrip()
        yield f"\n| nodes | rows | {' | '.join(methods)} |"
        yield "|---" * (len(methods) + 2) + "|"
        for (nodes, rows), cell in part.groupby(["nodes", "rows"], dropna=False):
            found = {row.method: _words(row, measure) for _, row in cell.iterrows()}
            words = (found.get(name, "") for name in methods)
            yield f"| {'' if pd.isna(nodes) else int(nodes)} | {rows} | {' | '.join(words)} |"


def _words(row: pd.Series[Any], measure: str) -> str:
    """A mean, its error and the CPU seconds; how many runs ended, if not all did."""
    ended = "" if row.finished == row.runs else f" [{row.finished} of {row.runs}]"
    mean = f"{row[measure]:.1f} ± {row[f'{measure}_error']:.1f} ({row.cpu_seconds:.2g} s)"
    return f"{mean if row.finished else '-'}{ended}"


def _place(method: str) -> tuple[int, str]:
    return (OURS.index(method) if method in OURS else len(OURS)), method


def measure_figure(summary: pd.DataFrame, measure: str) -> Figure:
    """Means and standard errors against the rows: a row of panels a graph, a column a size."""
    graphs, sizes = (summary[one].drop_duplicates().sort_values() for one in ("graph", "nodes"))
    methods = sorted(summary["method"].unique(), key=_place)
    figure = Figure((1.9 * len(sizes) + 0.8, 1.55 * len(graphs) + 1.0), layout="constrained")
    panels = figure.subplots(len(graphs), len(sizes), squeeze=False, sharex=True)
    for graph, across in zip(graphs, panels, strict=True):
        for nodes, axes in zip(sizes, across, strict=True):
            cell = summary[(summary["graph"] == graph) & (summary["nodes"] == nodes)]
            _lines(axes, cell, measure, methods)
            axes.set_title(f"{graph}, d = {nodes}".lstrip(", "), fontsize=8)
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(sizes) + 1, fontsize=8)
    title = f"{summary['family'].iloc[0].upper()}: mean {MEASURES[measure]} against rows"
    figure.suptitle(title, fontsize=10)
    return figure


def _lines(axes: Axes, cell: pd.DataFrame, measure: str, methods: list[str]) -> None:
    for method, colour, marker in zip(methods, COLOURS, MARKERS, strict=False):
        own = cell[cell["method"] == method].sort_values("rows")
        mean, error = own[measure], own[f"{measure}_error"]
        look = f"{marker}-" if method in OURS else f"{marker}--"
        axes.plot(own["rows"], mean, look, color=colour, label=method, ms=3, lw=1)
        axes.fill_between(own["rows"], mean - error, mean + error, color=colour, alpha=0.15, lw=0)
    axes.set_ylim(bottom=-0.04 * axes.get_ylim()[1])
    axes.set_xscale("log")
    axes.set_xticks(cell["rows"].unique(), cell["rows"].unique(), minor=False)
    axes.minorticks_off()
    axes.tick_params(labelsize=7)
    axes.grid(alpha=0.25, linewidth=0.5)


def save(figure: Figure, path: Path) -> None:
    """Write a PNG with few colours, which makes it several times smaller."""
    picture = io.BytesIO()
    figure.savefig(picture, dpi=100)
    Image.open(picture).convert("RGB").quantize(128).save(path, optimize=True)


def loops(frame: Mapping[str, object], masking: float = 0.005) -> Iterator[tuple[str, list[str]]]:
    """The first layer, node by node in order of entropy: which enters, and which it masks then."""
    waiting = sorted(frame, key=lambda name: tamis.entropy(frame, name))
    while waiting:
        name, *others = waiting
        known = {one: tamis.entropy(frame, one) - tamis.entropy(frame, one, name) for one in others}
        yield name, [one for one in others if known[one] >= masking]
        waiting = [one for one in others if known[one] < masking]


def figure1(path: Path) -> Iterator[str]:
    """Draw the paper's Figure 1, whose probabilities are ours, and say what the loops do."""
    network = tamis.BayesianNetwork.read(NETWORK)
    frame = network.sample(10_000, seed=1)
    layers = tamis.TAM("node").fit(frame).layers_
    colours = dict.fromkeys(frame, "white")
    shown = [("the true DAG", dict(colours))]
    for name, masked in loops(frame):
        colours |= {name: "#56B4E9", **dict.fromkeys(masked, "#F0A050")}
        shown.append(
            (f"{name} enters" + f", masks {', '.join(masked)}" * bool(masked), {**colours})
        )
        yield shown[-1][0]
    yield from (f"layer {place}: {', '.join(layer)}" for place, layer in enumerate(layers, start=1))
    figure = Figure(figsize=(2.5 * len(shown), 2.8), layout="constrained")
    ranks = dict(enumerate(map(list, nx.topological_generations(network.graph))))
    places = nx.multipartite_layout(network.graph, ranks, align="horizontal", scale=-1)
    for axes, (title, own) in zip(figure.subplots(1, len(shown)), shown, strict=True):
        fill = [own[node] for node in network.graph]
        nx.draw_networkx(network.graph, places, ax=axes, node_color=fill, edgecolors="black")
        axes.set_title(title, fontsize=9)
        axes.margins(0.2)
        axes.set_axis_off()
    handles = [Patch(color="#56B4E9", label="in layer 1"), Patch(color="#F0A050", label="masked")]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    save(figure, path)


if __name__ == "__main__":
    for family, part in read(RESULTS / "paper.csv").groupby("family"):
        save(measure_figure(part, "shd"), RESULTS / f"paper-{family}.png")
