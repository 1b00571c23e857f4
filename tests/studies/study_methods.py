"""Methods for small plans, where a worker process can import them; some misbehave on purpose."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tamis.baselines import Learned


@dataclass(frozen=True)
class Empty:
    """Finds nothing, at once; says something on standard output, which must do no harm."""

    name: str = "empty"

    extra: ClassVar[str] = ""
    modules: ClassVar[tuple[str, ...]] = ()
    packages: ClassVar[tuple[str, ...]] = ("numpy", "no-such-package")

    def learn(self, table, seed):
        print("a library that talks")
        return Learned(np.zeros((table.n_variables, table.n_variables), dtype=np.int8))


@dataclass(frozen=True)
class Steady(Empty):
    """Takes a moment."""

    def learn(self, table, seed):
        time.sleep(0.02)
        return super().learn(table, seed)


_calls = 0


@dataclass(frozen=True)
class Tiring(Empty):
    """Is quick at first, and takes too long after thirty runs in one process."""

    def learn(self, table, seed):
        global _calls
        _calls += 1
        time.sleep(0 if _calls <= 30 else 600)
        return super().learn(table, seed)


@dataclass(frozen=True)
class Burner(Empty):
    """Takes too long, from five nodes on."""

    def learn(self, table, seed):
        while table.n_variables >= 5:
            pass
        return super().learn(table, seed)


@dataclass(frozen=True)
class Sleeper(Empty):
    """Never comes back, and does nothing."""

    def learn(self, table, seed):
        time.sleep(600)


@dataclass(frozen=True)
class Raiser(Empty):
    """Raises."""

    def learn(self, table, seed):
        raise ArithmeticError("two\nlines")


@dataclass(frozen=True)
class Quitter(Empty):
    """Takes its process with it."""

    def learn(self, table, seed):
        print("goodbye", file=sys.stderr, flush=True)
        os._exit(3)


@dataclass(frozen=True)
class Absent(Empty):
    """Needs what nobody has."""

    modules: ClassVar[tuple[str, ...]] = ("no_such_library.part",)
