"""The answer to "can this network be identified?", to be printed, read by programs, and kept."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tamis.atomic import write_files
from tamis.errors import SettingError
from tamis.identifiability.gaps import Gaps, RowsNeeded
from tamis.identifiability.guarantees import SearchVerdict
from tamis.identifiability.shape import Paths
from tamis.identifiability.simulation import Simulation
from tamis.identifiability.verdicts import Condition

PROVING = ("main", "general", "unequal")
"""The conditions each of which identifies the graph by itself."""


@dataclass(frozen=True)
class Check:
    """The conditions of the paper on a known network, and what follows from them."""

    names: tuple[str, ...]
    n_edges: int
    layers: tuple[tuple[str, ...], ...]
    conditions: Mapping[str, Condition]
    searches: Mapping[str, SearchVerdict]
    gaps: Gaps
    rows: tuple[RowsNeeded, ...]
    epsilon: float
    paths: Paths
    simulation: Simulation | None = None

    @property
    def guaranteed(self) -> tuple[str, ...]:
        """The searches whose conditions all hold: given exact information they return the graph."""
        return tuple(name for name, verdict in self.searches.items() if verdict.guaranteed)

    @property
    def recovering(self) -> tuple[str, ...]:
        """The searches that do return the graph from exact information, guaranteed or not."""
        return tuple(name for name, verdict in self.searches.items() if verdict.recovers)

    @property
    def answer(self) -> str:
        """The whole check in a sentence."""
        if self.guaranteed:
            return (
                f"Identifiable: with enough rows {_listed(self.guaranteed)} must find this graph."
            )
        if self.recovering:
            return (
                f"Not guaranteed, though {_listed(self.recovering)} would find this graph from "
                "unlimited rows."
            )
        if any(one.recovers is None for one in self.searches.values()):
            holding = [self.conditions[key].title for key in PROVING if self.conditions[key].holds]
            followed = "the searches were not all followed."
            if holding:
                return f"Identified, by {holding[0]}; {followed}"
            return f"Not decided: {followed}"
        return "Not identified: even from unlimited rows every search returns another graph."

    def with_simulation(self, simulation: Simulation) -> Check:
        """The same with an empirical answer added."""
        return replace(self, simulation=simulation)

    def to_dict(self) -> dict[str, object]:
        """Everything, as JSON can hold it."""
        return {
            "format": "tamis check",
            "version": 1,
            "n_variables": len(self.names),
            "n_edges": self.n_edges,
            "layers": [list(layer) for layer in self.layers],
            "conditions": {key: one.to_dict() for key, one in self.conditions.items()},
            "answer": self.answer,
            "guaranteed": list(self.guaranteed),
            "searches": {name: one.to_dict() for name, one in self.searches.items()},
            "gaps": self.gaps.to_dict(),
            "epsilon": self.epsilon,
            "rows": [one.to_dict() for one in self.rows],
            "paths": self.paths.to_dict(),
            "simulation": None if self.simulation is None else self.simulation.to_dict(),
        }

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON, whole or not at all."""
        place = os.fspath(path)
        if not place.endswith(".json"):
            raise SettingError(
                f"a check is written as JSON: the path must end in .json, not {place!r}"
            )
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
        write_files({place: (text + "\n").encode()})

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{len(self.names)} nodes, {self.n_edges} edges, {len(self.layers)} layers"
        yield self.answer
        for condition in self.conditions.values():
            margin = (
                "" if condition.margin is None else f" ({condition.margin:+.3g} {condition.unit})"
            )
            yield f"  {condition.title}: {condition.word}{margin}. {condition.sentence}"
            yield from (f"    - {violation}" for violation in condition.violations[:1])
        yield "Guaranteed with exact information: " + (", ".join(self.guaranteed) or "no search")
        yield "Returns the graph from exact information: " + (", ".join(self.recovering) or "none")


def _listed(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
