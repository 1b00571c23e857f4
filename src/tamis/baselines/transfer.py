"""What parent and child process leave for each other, as files in one folder."""

from __future__ import annotations

import json
import os
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tamis.baselines.interface import Baseline, Learned
from tamis.baselines.outcome import Outcome
from tamis.errors import SettingError
from tamis.tables import Table


def write_request(folder: Path, baseline: Baseline, table: Table, seed: int | None) -> None:
    """Everything the child needs."""
    request = {
        "baseline": _recipe(baseline),
        "names": table.names,
        "levels": table.levels,
        "seed": seed,
        "continuous": sorted(table.continuous),
        "missing": sorted(table.missing),
        "kinds": table.kinds,
        "told": sorted(table.told),
    }
    (folder / "request.json").write_text(json.dumps(request), encoding="ascii")
    np.save(folder / "codes.npy", table.codes, allow_pickle=False)
    for k in table.continuous:
        np.save(folder / f"numbers-{k}.npy", table.continuous[k], allow_pickle=False)
    for k in table.missing:
        np.save(folder / f"missing-{k}.npy", table.missing[k], allow_pickle=False)


def read_request(folder: Path) -> tuple[Baseline, Table, int | None]:
    """Read a request, in the child."""
    request = json.loads((folder / "request.json").read_text(encoding="ascii"))
    recipe = request["baseline"]
    kind = getattr(import_module(recipe["module"]), recipe["class"])
    baseline: Baseline = kind(**recipe["options"])
    table = Table(
        names=tuple(request["names"]),
        levels=tuple(map(tuple, request["levels"])),
        codes=_array(folder, "codes"),
        continuous={k: _array(folder, f"numbers-{k}") for k in request["continuous"]},
        missing={k: _array(folder, f"missing-{k}") for k in request["missing"]},
        kinds=tuple(request["kinds"]),
        told=frozenset(request["told"]),
    )
    return baseline, table, request["seed"]


def _array(folder: Path, name: str) -> Any:  # noqa: ANN401 - of the type that was saved
    return np.load(folder / f"{name}.npy", allow_pickle=False)


def mark_started(folder: Path) -> None:
    """The child has imported everything: from here on the time counts."""
    (folder / "started").touch()


def has_started(folder: Path) -> bool:
    """Whether it has."""
    return (folder / "started").exists()


def write_outcome(folder: Path, outcome: Outcome) -> None:
    """What the child found; the file appears whole or not at all."""
    learned = outcome.learned
    found = {
        "size": None if learned is None else len(learned.adjacency),
        "entries": None if learned is None else np.argwhere(learned.adjacency != 0).tolist(),
        "seconds": outcome.seconds,
        "failure": outcome.failure,
    }
    temporary = folder / "outcome.tmp"
    temporary.write_text(json.dumps(found), encoding="ascii")
    os.replace(temporary, folder / "outcome.json")


def read_outcome(folder: Path) -> Outcome | None:
    """Read the outcome, in the parent; None if the child left nothing."""
    path = folder / "outcome.json"
    if not path.exists():
        return None
    found = json.loads(path.read_text(encoding="ascii"))
    if found["size"] is None:
        return Outcome(None, found["seconds"], failure=found["failure"])
    adjacency = np.zeros((found["size"], found["size"]), dtype=np.int8)
    for i, j in found["entries"]:
        adjacency[i, j] = 1
    return Outcome(Learned(adjacency), found["seconds"])


def _recipe(baseline: Any) -> dict[str, Any]:  # noqa: ANN401 - any kind of dataclass, one hopes
    """How to make the baseline again: where its class is and what its fields hold."""
    kind = type(baseline)
    importable = kind.__module__ != "__main__" and kind.__qualname__ == kind.__name__
    if not importable or not is_dataclass(baseline):
        raise SettingError(
            f"with a time limit a baseline runs in a process of its own, which cannot make a "
            f"{kind.__qualname__} of {kind.__module__}: let it be a dataclass at the top of a "
            "module that can be imported, or run it without a limit"
        )
    options = {field.name: getattr(baseline, field.name) for field in fields(baseline)}
    return {"module": kind.__module__, "class": kind.__name__, "options": options}
