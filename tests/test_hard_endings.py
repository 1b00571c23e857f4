"""What a command leaves when it is killed, and how much memory it takes when that is limited."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tamis

pytestmark = pytest.mark.slow

KILLED = """
import os, signal, sys
from tamis import atomic

moment, left = sys.argv[1], int(sys.argv[2])
write = atomic._write

def die():
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

def half(temporary, target, content):
    if moment == "half":
        with open(temporary, "xb") as file:
            file.write(content[: len(content) // 2])
        die()
        os.unlink(temporary)
    write(temporary, target, content)

def first(call):
    def dying(*arguments):
        die()
        return call(*arguments)
    return dying

atomic._write = half
if moment != "half":
    setattr(os, moment, first(getattr(os, moment)))
sys.argv = ["tamis", "learn", "rows.csv", "--out", "run.json", "--out", "edges.csv", "--quiet"]
from tamis.cli import main
main()
"""
"""Ends by force while the first or the second file is half written, before it is on the disk, or
before it has its name."""


@pytest.mark.parametrize("moment", ["half", "fsync", "replace"])
@pytest.mark.parametrize("file", [1, 2])
def test_a_killed_command_leaves_whole_files(tmp_path, moment, file):
    rows = "a,b,c\n" + "".join(f"{i % 2},{i % 2 ^ (i % 5 == 0)},{i % 3}\n" for i in range(80))
    (tmp_path / "rows.csv").write_text(rows)
    before = tamis.TAM("node").fit({"a": [0, 1] * 20, "b": [0, 1] * 20})
    before.save(tmp_path / "run.json", tmp_path / "edges.csv")
    edges = (tmp_path / "edges.csv").read_bytes()
    words = [sys.executable, "-c", KILLED, moment, str(file)]
    assert subprocess.run(words, cwd=tmp_path).returncode == -signal.SIGKILL
    found = tamis.load(tmp_path / "run.json")
    is_new = moment == "replace" and file == 2
    assert (found.names == ("a", "b", "c")) == is_new
    assert is_new or found == before.result_
    assert (tmp_path / "edges.csv").read_bytes() == edges


ROWS, COLUMNS = 1_500_000, 60
LIMIT = 600 * 10**6


@pytest.fixture(scope="module")
def long_table(tmp_path_factory) -> Path:
    """Takes 720 MB as numbers of 64 bits."""
    path = tmp_path_factory.mktemp("long") / "rows.parquet"
    rng = np.random.default_rng(1)
    names = [f"v{k}" for k in range(COLUMNS)]
    schema = pa.schema([(name, pa.int64()) for name in names])
    with pq.ParquetWriter(path, schema) as writer:
        for _ in range(0, ROWS, 100_000):
            bits = rng.integers(0, 2, (COLUMNS, 100_000))
            writer.write_table(pa.table(dict(zip(names, bits, strict=True)), schema=schema))
    return path


MEASURE = """
import os, sys
pid = os.posix_spawn(sys.executable, [sys.executable, "-m", "tamis", *sys.argv[1:]], os.environ)
_, status, used = os.wait4(pid, 0)
print(used.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def peak(*words: str) -> int:
    """The most bytes that a command had in memory at a time. A small process starts it: what the
    one that starts it holds counts as the command's own."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *words], stdout=subprocess.PIPE, text=True, check=True
    )
    return int(done.stdout.split()[-1]) * (1 if sys.platform == "darwin" else 1024)


def test_a_limit_of_memory_is_kept_to(long_table):
    search = ["--search", "sequential", "--max-boundary", "0", "--quiet", "--jobs", "1"]
    assert peak("learn", str(long_table), *search, "--memory", "600MB") <= LIMIT
    # That it is a limit at all: without it the table is read as it is.
    assert peak("learn", str(long_table), *search) > LIMIT
