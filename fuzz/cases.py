"""The kinds of cases, and how one is run: from its seed and number alone."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from itertools import count, islice
from pathlib import Path
from random import Random
from typing import NamedTuple

from fuzz import calls, commands, engines, files, frames, good_files
from fuzz.kind import Case, require
from tamis.errors import TamisWarning

ANSWERED, REFUSED, FAILED = "answered", "refused", "failed"

KINDS: dict[str, tuple[int, Callable[[Case], None]]] = {
    "command": (20, commands.command),
    "call": (20, calls.call),
    "frame": (20, frames.frame),
    "result": (8, files.result),
    "bif": (6, files.bif),
    "packed": (6, files.packed),
    "knowledge": (5, files.knowledge),
    "study": (3, files.study),
    "plan": (2, files.plan),
    "graph": (3, files.graph),
    "csv": (5, files.csv),
    "parquet": (4, files.parquet),
    "engines": (2, engines.engines),
}
"""How many of 107 cases are of each kind, and what they do."""
_TURNS = [kind for kind, (share, _) in KINDS.items() for _ in range(share)]
Random(1).shuffle(_TURNS)


class Outcome(NamedTuple):
    """How a case ended, and what is told of it."""

    number: int
    kind: str
    ended: str
    told: str
    seconds: float

    @property
    def place(self) -> str:
        """Where in tamis it failed, and with what: failures with one cause have one place."""
        frames = re.findall(r'File "[^"]*/src/(tamis/[^"]*", line \d+)', self.told)
        error = self.told.strip().splitlines()[-1]
        said = error[:100] if "BrokenError" in error else error.partition(":")[0]
        return f"{frames[-1] if frames else self.kind}: {said}"


def kind_of(number: int) -> str:
    """The kind of a case."""
    return _TURNS[number % len(_TURNS)]


def numbers(first: int, most: int, kinds: list[str] | None) -> Iterator[int]:
    """The numbers of cases, of these kinds."""
    return islice((one for one in count(first) if kinds is None or kind_of(one) in kinds), most)


def run(seed: int, number: int) -> Outcome:
    """Run a case in an empty folder, which is the working directory meanwhile."""
    kind = kind_of(number)
    folder = Path(tempfile.mkdtemp(prefix="case-", dir=files.template.parent))
    case = Case(Random(f"{seed}/{number}"), folder)
    home, places = os.getcwd(), tempfile.tempdir
    begun = time.monotonic()
    try:
        os.chdir(folder)
        tempfile.tempdir = str(files.template.parent / "elsewhere")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", TamisWarning)
            KINDS[kind][1](case)
        _require_clean(folder)
        ended, told = (REFUSED if case.refusals else ANSWERED), "\n".join(case.refusals)
    except KeyboardInterrupt:
        raise
    except BaseException:  # panics of Rust too
        ended, told = FAILED, traceback.format_exc()
    finally:
        os.chdir(home)
        tempfile.tempdir = places
        shutil.rmtree(folder)
    tried = "\n".join(case.tried)
    return Outcome(number, kind, ended, f"{tried}\n{told}", time.monotonic() - begun)


def _require_clean(folder: Path) -> None:
    left = {path.name for path in folder.rglob(".*")}
    left |= {*os.listdir(files.template.parent / "elsewhere")} - {"dask-scratch-space"}
    require(not left, f"left behind: {left}")


def prepare(place: Path) -> None:
    """Make what cases need, in a folder of the process that will run them."""
    files.template = place / "template"
    files.template.mkdir()
    (place / "elsewhere").mkdir()
    good_files.make(files.template)
