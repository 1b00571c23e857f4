"""What a study is made of: one table, and one run of one method on it. Pure data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Option = float | int | bool


@dataclass(frozen=True, order=True)
class Draw:
    """One table: everything that ``tamis.simulate.draw`` needs to draw it.

    ``graph`` is empty for models that have a graph of their own. ``options`` are those of
    the graph and the model, as pairs of a name and a value.
    """

    model: str
    graph: str
    d: int
    n: int
    replication: int
    seed: int
    options: tuple[tuple[str, Option], ...] = ()

    @property
    def place(self) -> str:
        """Which table of the study this is, in words."""
        graph = f", {self.graph}" if self.graph else ""
        return f"{self.model}{graph}, d {self.d}, n {self.n}, replication {self.replication}"

    def arguments(self) -> dict[str, Any]:
        """``tamis.simulate.draw(**arguments)`` gives the table; JSON holds them."""
        on = {"graph": self.graph, "d": self.d} if self.graph else {}
        return {**on, "model": self.model, "n": self.n, "seed": self.seed, **dict(self.options)}

    def settings(self) -> str:
        """The arguments as one line of JSON."""
        return json.dumps(self.arguments())

    def to_dict(self) -> dict[str, Any]:
        """Convert it to what JSON can hold."""
        return {**vars(self), "options": dict(self.options)}

    @classmethod
    def from_dict(cls, written: Mapping[str, Any]) -> Draw:
        """The inverse of ``to_dict``."""
        return cls(**{**written, "options": tuple(written["options"].items())})


@dataclass(frozen=True, order=True)
class Cell:
    """One run: a table and the name of a method."""

    draw: Draw
    method: str

    @property
    def key(self) -> str:
        """What names this run, the same in every plan it is part of."""
        draw = self.draw
        return key_of(draw.model, draw.graph, draw.d, draw.n, draw.replication, self.method)


def key_of(model: str, graph: str, d: int, n: int, replication: int, method: str) -> str:
    """The name of a run, such as ``mod/tree/10/1000/0/sequential``."""
    return f"{model}/{graph}/{d}/{n}/{replication}/{method}"


def seed_of(seed: int, graph: str, d: int, replication: int) -> int:
    """The seed of one replication, whatever else is in the plan.

    Neither model nor n enters: a replication is one graph, on which both models live and whose
    tables grow with n, each beginning like the shorter one.
    """
    text = f"{seed}/{graph}/{d}/{replication}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])
