"""Other methods, each by its own library and in a process of its own with a time limit.

A fresh interpreter, not a fork: a library that hangs in compiled code or crashes ends that process
and nothing else. The table goes there as a file of arrays, and edges come back as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np

from tamis.comparison.graphs import Compared
from tamis.formats.graph import in_order
from tamis.tables import Table
from tamis.tables.refusals import shown

STARTING = 600.0
"""Seconds for what is no time of learning: starting, importing, and compiling tamis's own loops."""
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)


@dataclass(frozen=True)
class Peer:
    """What a method is imported from, and the columns it takes."""

    module: str
    takes: Literal["levels", "numbers", "levels or numbers"]


PEERS = {
    "hill-climbing": Peer("pyagrum", "levels"),
    "tabu": Peer("pyagrum", "levels"),
    "miic": Peer("pyagrum", "levels"),
    "pc": Peer("causallearn.search.ConstraintBased.PC", "levels or numbers"),
    "ges": Peer("causallearn.search.ScoreBased.GES", "levels or numbers"),
    "flop": Peer("flopsearch", "numbers"),
}


def obstacle(method: str, table: Table) -> str | None:
    """Why a peer cannot learn from a table; None if it can."""
    peer, names = PEERS[method], table.names
    library = peer.module.partition(".")[0]
    if find_spec(library) is None:
        return f"needs {library}, which is not installed: pip install 'tamis[peers]'"
    if table.missing:
        name = shown(names[min(table.missing)])
        return f"takes no missing values, and column {name} has some: use missing='drop'"
    number = next((k for k, levels in enumerate(table.levels) if not levels), None)
    labels = ((k, one) for k, own in enumerate(table.levels) for one in own if isinstance(one, str))
    label = next(labels, None)
    if number is not None and (peer.takes == "levels" or (label and peer.takes != "numbers")):
        return (
            f"takes {'levels only' if peer.takes == 'levels' else 'no numbers beside labels'}, and "
            f"column {shown(names[number])} holds numbers: cut them with tamis.discretize"
        )
    if label is not None and peer.takes == "numbers":
        return (
            f"takes numbers only, and column {shown(names[label[0]])} holds labels such as "
            f"{shown(label[1])}"
        )
    return None


def learned(method: str, table: Table, options: dict[str, Any], limit: float) -> Compared:
    """What a method finds within so many seconds of learning, or why it finds nothing."""
    with TemporaryDirectory(prefix="tamis-", ignore_cleanup_errors=True) as name:
        folder = Path(name).absolute()
        write_request(folder, table, {"method": method, "options": options, "limit": limit})
        command = [sys.executable, "-uP", "-W", "ignore", "-m", "tamis.comparison._child"]
        with open(folder / "printed.txt", "wb") as printed:
            try:
                ended = subprocess.run(
                    command, stdin=subprocess.DEVNULL, stdout=printed, stderr=printed,
                    cwd=folder, env=_environment(folder), timeout=limit + STARTING, check=False,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                return Compared(method, problem=f"did not start within {STARTING:g} seconds")
        if (folder / "late.txt").exists() and (folder / "late.txt").stat().st_size:
            problem = f"stopped after {limit:g} seconds, its limit"
            return Compared(method, seconds=limit, problem=problem)
        if ended.returncode:
            return Compared(method, problem=f"failed: {_last_words(folder, ended.returncode)}")
        answer = json.loads((folder / "answer.json").read_text(encoding="ascii"))
    edges = {(table.names[i], table.names[j]) for i, j in answer["edges"]}
    lines = frozenset(in_order(a, b) for a, b in edges if (b, a) in edges)
    arrows = frozenset((a, b) for a, b in edges if (b, a) not in edges)
    return Compared(method, table.names, arrows, lines, seconds=answer["seconds"])


def _environment(folder: Path) -> dict[str, str]:
    """One thread, this process's path, and temporary files in a folder that goes away."""
    path = os.pathsep.join(map(os.path.abspath, sys.path))
    places = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))
    return {**os.environ, **ONE_THREAD, **places, "PYTHONPATH": path}


def _last_words(folder: Path, code: int) -> str:
    """The error that ended Python, or how the process ended and the last line that it printed."""
    printed = (folder / "printed.txt").read_text(encoding="utf-8", errors="replace")
    last = (printed.strip().splitlines() or ["nothing"])[-1]
    return last if code == 1 else f"its process ended with code {code}; it last printed: {last}"


def write_request(folder: Path, table: Table, request: dict[str, Any]) -> None:
    """Write a table, and what is to be done with it, to one file."""
    whole = {
        "request": request, "names": table.names, "levels": table.levels, "kinds": table.kinds,
        "told": sorted(table.told),
    }  # fmt: skip
    arrays = {"whole": np.array(json.dumps(whole)), "codes": table.codes}
    arrays |= {f"numbers-{k}": column for k, column in table.continuous.items()}
    arrays |= {f"missing-{k}": column for k, column in table.missing.items()}
    np.savez(folder / "request.npz", allow_pickle=False, **arrays)


def read_request(folder: Path) -> tuple[Table, dict[str, Any]]:
    """The inverse of ``write_request``."""
    with np.load(folder / "request.npz", allow_pickle=False) as arrays:
        whole = json.loads(str(arrays["whole"]))
        columns: dict[str, dict[int, Any]] = {"numbers": {}, "missing": {}}
        for name in arrays.files:
            kind, _, k = name.partition("-")
            if k:
                columns[kind][int(k)] = arrays[name]
        table = Table(
            names=tuple(whole["names"]),
            levels=tuple(map(tuple, whole["levels"])),
            codes=arrays["codes"],
            continuous=columns["numbers"],
            missing=columns["missing"],
            kinds=tuple(whole["kinds"]),
            told=frozenset(whole["told"]),
        )
    return table, whole["request"]
