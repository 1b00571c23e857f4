"""The paper's Figure 1: testing and masking on six nodes, loop by loop.

The network is in ``figure1.bif``; its first lines say how it was made to fit the paper's text.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import as_file, files

import networkx as nx

from tamis.errors import SettingError
from tamis.estimator import TAM
from tamis.network import BayesianNetwork
from tamis.result import Result

ROWS = 10_000
SEED = 1

BEFORE, IN_LAYER, MASKED, REMAINING = "in an earlier layer", "in the layer", "masked", "remaining"
STATES = (BEFORE, IN_LAYER, MASKED, REMAINING)


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
    with as_file(files("tamis.experiments") / "figure1.bif") as path:
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
    from tamis.experiments.figure1_drawing import write

    found = steps(learned(rows, seed))
    graph: nx.DiGraph[str] = example().graph
    write(graph, found, os.fspath(path))
    return found
