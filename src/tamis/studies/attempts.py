"""Runs, one after the other, on one table: each is announced, made, scored and described.

This is what workers do; nothing that goes wrong is raised.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np

from tamis import metrics
from tamis.baselines.comparing import cannot_take
from tamis.baselines.interface import Learned
from tamis.baselines.registry import prepare
from tamis.baselines.running import attempt, described
from tamis.studies.datasets import Dataset
from tamis.studies.methods import find_method, table_for
from tamis.studies.rows import FAILED, OK, Row

OPEN = "none"
"""The warrant of a direction that is not claimed."""
_prepared = set[tuple[str, str]]()
"""Methods and models for which libraries are imported and loops compiled in this process."""


def attempts(runs: list[dict[str, Any]], networks: str | None) -> Iterator[dict[str, Any]]:
    """Draw the table, and make the runs on it: the job of a worker."""
    rows = [Row(**{**run, "status": FAILED}) for run in runs]
    try:
        data = Dataset(json.loads(rows[0].settings), networks)
    except Exception as error:
        why = f"the table could not be drawn: {described(error)}"
        yield from ({"row": vars(replace(row, reason=why))} for row in rows)
        return
    edges = data.graph.number_of_edges()
    for row in rows:
        yield from _attempt(replace(row, edges_true=edges), data)


def _attempt(row: Row, data: Dataset) -> Iterator[dict[str, Any]]:
    try:
        method, table = find_method(row.method), table_for(row.method, data)
        problem = cannot_take(method, table)
        if problem is not None:
            yield {"row": vars(replace(row, reason=f"{row.method} {problem}"))}
            return
        if (row.method, row.model) not in _prepared:
            prepare(method, table)
            _prepared.add((row.method, row.model))
        yield {"begins": vars(row)}
        found = attempt(method, table, row.seed)
        yield {"ends": True}  # the clock stops: scores are not learning
        row = replace(row, seconds=round(found.seconds, 6), cpu_seconds=round(found.cpu_seconds, 6))
        if found.learned is None:
            yield {"row": vars(replace(row, reason=found.failure or "it gave no reason"))}
        else:
            yield {"row": vars(scored(row, found.learned, table.names, data))}
    except Exception as error:
        yield {"row": vars(replace(row, reason=described(error)))}


def scored(row: Row, learned: Learned, names: tuple[str, ...], data: Dataset) -> Row:
    """The row with all scores of what was learned."""
    graph = learned.graph(names)
    graph.add_nodes_from(data.graph)  # a column that never varies has no edges
    skeleton = metrics.skeleton_scores(graph, data.graph)
    named = {(names[i], names[j]): one for (i, j), one in learned.warrants.items()}
    return replace(
        row,
        status=OK,
        shd=metrics.shd(graph, data.graph),
        shd_strict=metrics.shd(graph, data.graph, undirected="strict"),
        cpdag=cpdag_distance(graph, data.graph),
        skeleton_f1=round(skeleton.f1, 6),
        edges_learned=skeleton.learned,
        directions=json.dumps(_by_warrant(named, data) | _about_hidden(graph, named, data)),
    )


def cpdag_distance(learned: nx.DiGraph[str], true: nx.DiGraph[str]) -> int:
    """Between a learned DAG, or a partly directed graph as it is, and the class of the true DAG."""
    if nx.is_directed_acyclic_graph(learned):
        learned = metrics.to_cpdag(learned)
    return metrics.shd(learned, metrics.to_cpdag(true), undirected="strict")


def _by_warrant(warrants: Mapping[tuple[str, str], str], data: Dataset) -> dict[str, list[int]]:
    """Of the arrows over true edges, by warrant: how many are right, and how many there are."""
    found: dict[str, list[int]] = {}
    for (parent, child), warrant in sorted(warrants.items()):
        right = data.graph.has_edge(parent, child)
        if right or data.graph.has_edge(child, parent):
            counts = found.setdefault(warrant, [0, 0])
            counts[0] += right
            counts[1] += 1
    return found


def _about_hidden(
    graph: nx.DiGraph[str], warrants: Mapping[tuple[str, str], str], data: Dataset
) -> dict[str, list[int]]:
    """Of the pairs that a hidden cause joins and no edge: claimed, joined, and all."""
    pairs = {frozenset(pair) for own in data.hidden for pair in combinations(own, 2)}
    counts = np.zeros(3, dtype=int)
    for a, b in map(sorted, pairs):
        if data.graph.has_edge(a, b) or data.graph.has_edge(b, a):
            continue
        arrows = [arrow for arrow in ((a, b), (b, a)) if graph.has_edge(*arrow)]
        claimed = len(arrows) == 1 and warrants.get(arrows[0]) != OPEN
        counts += (claimed, bool(arrows), 1)
    return {"hidden": counts.tolist()} if data.hidden else {}
