"""Colours on a terminal, none in a pipe, none where NO_COLOR says so: in real processes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pty = pytest.importorskip("pty", reason="needs pseudo-terminals")

EXAMPLE = Path(__file__).parents[2] / "examples" / "sprinkler.csv"
COMMAND = [sys.executable, "-m", "tamis", "learn", str(EXAMPLE), "--jobs", "1"]
COLOURS = ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS", "PY_COLORS")
CODE = re.compile(r"\x1b\[[0-9;]*m")


def surroundings(**more):
    usual = {name: value for name, value in os.environ.items() if name not in COLOURS}
    return {**usual, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", **more}


def on_a_terminal(**more):
    """What the command writes to a terminal, with plain line ends."""
    screen, terminal = pty.openpty()
    try:
        process = subprocess.Popen(
            COMMAND, stdout=terminal, stderr=subprocess.DEVNULL, env=surroundings(**more)
        )
    finally:
        os.close(terminal)
    written = b""
    with os.fdopen(screen, "rb", buffering=0) as reading:
        while True:
            try:
                part = reading.read(65536)
            except OSError:  # how Linux says that the other end is closed
                break
            if not part:
                break
            written += part
    assert process.wait(timeout=120) == 0
    return written.decode().replace("\r\n", "\n")


@pytest.fixture(scope="module")
def piped():
    ended = subprocess.run(
        COMMAND, capture_output=True, env=surroundings(), timeout=120, check=True
    )
    return ended.stdout.decode()


def test_a_pipe_gets_no_codes(piped):
    assert "\x1b" not in piped
    assert "└─────▸ shoes      ← lawn" in piped


def test_a_terminal_gets_colours_and_the_same_words(piped):
    written = on_a_terminal(COLUMNS="80")
    assert "\x1b[1mGraph\x1b[0m" in written
    assert CODE.sub("", written) == piped
    assert "\x1b" not in CODE.sub("", written)


def test_no_color_is_honoured_on_a_terminal(piped):
    assert on_a_terminal(COLUMNS="80", NO_COLOR="1") == piped
