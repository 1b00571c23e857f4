"""Baselines that misbehave on purpose, where a child process can import them."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from tamis.baselines import Learned


@dataclass(frozen=True)
class Odd:
    """Needs nothing and finds nothing."""

    name: str = "odd"

    extra: ClassVar[str] = ""
    modules: ClassVar[tuple[str, ...]] = ()
    packages: ClassVar[tuple[str, ...]] = ("numpy", "no-such-package")

    def learn(self, table, seed):
        return Learned(np.zeros((table.n_variables, table.n_variables), dtype=np.int8))


@dataclass(frozen=True)
class Sleeper(Odd):
    """Leaves a file in the temporary folder, writes down its process and sleeps; it also writes
    down that it woke."""

    diary: str = ""
    stubborn: bool = False

    def learn(self, table, seed):
        if self.stubborn:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        with tempfile.NamedTemporaryFile(delete=False) as file:
            file.write(b"left behind")
        Path(self.diary).write_text(f"{os.getpid()}\n")
        time.sleep(60)
        with open(self.diary, "a") as diary:
            diary.write("awake\n")
        return super().learn(table, seed)


@dataclass(frozen=True)
class Raiser(Odd):
    """Raises an error that tells what it was given."""

    def learn(self, table, seed):
        threads = os.environ.get("OMP_NUM_THREADS")
        raise ArithmeticError(f"{table.names} {table.levels} seed {seed} threads {threads}")


@dataclass(frozen=True)
class Quitter(Odd):
    """Ends its process, in one way or the other."""

    by_signal: bool = False

    def learn(self, table, seed):
        print("goodbye", file=sys.stderr, flush=True)
        if self.by_signal:
            os.kill(os.getpid(), signal.SIGKILL)
        os._exit(3)
