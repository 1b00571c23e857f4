"""Command lines of every subcommand, from the options that the command itself lists."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import typer.main

import tamis
from fuzz import files, frames, odd
from fuzz.kind import BrokenError, Case, require
from tamis.cli import app, main

INPUTS = (
    "table.csv", "table.csv", "numbers.csv", "mixed.csv", "gaps.csv", "table.parquet",
    "table.tamis", "parts",
    "parts/*.csv", "run.json", "numbers.json", "run.bif", "edges.csv", "run.dot", "run.graphml",
    "known.json",
    "empty.csv", "random.bin", "absent.csv", "study", "plan.toml",
)  # fmt: skip
OUTPUTS = (
    "new.json", "new.csv", "new.dot", "new.graphml", "new.svg", "new.png", "new.pdf", "new.bif",
    "new.html",
    "new.tamis", "new.parquet", "new", "absent/new.json", "run.json", "table.csv", "study",
    "parts/new.json",
)  # fmt: skip
GOOD: dict[str, tuple[str, ...]] = {
    "table": INPUTS[:9], "run": ("run.json", "numbers.json"), "things": ("run.json", "edges.csv",
    "run.graphml", "run.bif"),
    "network": ("diamond", "m1", "run.bif", "orchard"), "folder": ("study",),
    "plan": ("plan.toml",),
    "picture": ("new.svg", "new.png"), "page": ("new.html",), "planes": ("new.tamis",),
    "out": OUTPUTS[:8],
    "report": ("new.html",), "plot": ("new.svg",), "into": ("page.md", "new.md"),
    "truth": ("run.bif", "edges.csv"),
    "type_": ("a=category", "b=number", "c=ignore", "a=0<1"), "drop": ("c", "a,c"), "only": ("a,b",
    "a"),
    "missing": frames.MISSING, "tier": ("a", "b,c", "a,b"), "bootstrap": ("1", "2"),
    "recovery": ("1",),
    "weights": ("c", "a"), "information": frames.INFORMATION, "search": frames.SEARCHES,
    "source": ("k=3", "seed=1"),
    "memory": ("1GB", "300MB"), "alpha": ("0.05",), "max_boundary": ("0", "2"), "look_ahead": ("1",
    "2", "6"),
    "entropy": ("plugin", "minimax", "jackknife"), "boundary_rule": ("bic", "0.01",
    "permutation:0.01", "rate:1"),
    "masking_rule": ("chi-squared:0.01", "p-value:0.1"), "boundary": ("pps", "none"),
    "backward": ("one", "none"),
    "jobs": ("1", "2"), "require": ("a -> b",), "forbid": ("b -> a",), "knowledge": ("known.json",
    "known.yaml"),
    "explain": ("a", "b"), "seed": ("1", "0"), "rows": ("1", "20", "50"), "repeats": ("1",),
    "epsilon": ("0.1",),
    "graph": ("tree", "er", "sf", "chain", "layered", "polyforest"), "nodes": ("3", "1", "5"),
    "edges": ("2", "2.5"),
    "model": ("mod", "add", "tables", "gaussian", "diamond", "unfaithful", "mixed", "logistic",
    "noisy-or"),
    "p": ("0.2",), "more": ("m=2", "entropy=0.3", "widths=2,3", "directions=labels", "share=0.5"),
    "ending": ("svg",),
    "methods": ("sequential",), "limit": ("20",), "models": ("mod",), "graphs": ("tree",),
    "replications": ("1",),
    "time_limit": ("5",), "patience": ("0",), "replicate": ("1",), "dask": ("local:0", "local:x"),
}  # fmt: skip
DEAR = {
    "network": odd.WORDS[:30],
    "dask": ("local:0", "local:x", "", "local:", "local:-1", "local:1.5"),
}
"""Options whose odd values are few, as others would wait for a network or start processes."""
ALWAYS = {
    "check": ["--rows", "20", "--repeats", "1"],
    "figure1": ["--rows", "200"],
    "compare": ["--methods", "sequential", "--limit", "20"],
    "warm-up": ["--absent"],
}
"""What keeps a command short; an option that comes later may say otherwise."""


@cache
def _group() -> Any:  # noqa: ANN401 - typer has no public name for it
    """The command as typer makes it of the app, which takes as long as a case."""
    return typer.main.get_command(app)


@cache
def _commands() -> dict[tuple[str, ...], Any]:
    """Every command by its words."""
    found: dict[tuple[str, ...], Any] = {}
    for name, command in _group().commands.items():
        inner = getattr(command, "commands", None)
        found |= {(name, word): one for word, one in inner.items()} if inner else {(name,): command}
    return found


def _value(rng: Random, name: str, oddity: float) -> str:
    if name in GOOD and rng.random() > oddity:
        return rng.choice(GOOD[name])
    if name in DEAR:
        return rng.choice(DEAR[name])
    return rng.choice((odd.word(rng), odd.word(rng), rng.choice(INPUTS), rng.choice(OUTPUTS)))


def _line(rng: Random) -> list[str]:
    often = [("learn",)] * 8 + [
        ("simulate",),
        ("inspect",),
        ("show",),
        ("compare",),
        ("check",),
    ] * 3
    words = rng.choice([*_commands(), *often])
    command = _commands()[words]
    line = [*words]
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    for one in arguments:
        for _ in range(2 if one.name == "things" and rng.random() < 0.97 else 1):
            line.append(_value(rng, one.name, 0.15))
    if words[-1] in ALWAYS:
        line += [] if words == ("compare",) and len(line) != 2 else ALWAYS[words[-1]]
    options = [
        one for one in command.params if one.param_type_name == "option" and one.name != "limit"
    ]
    chosen = rng.sample(options, min(len(options), rng.choice((0, 1, 1, 2, 3, 5))))
    if "out" in {one.name for one in options} and (rng.random() < 0.6 or words[0] == "experiment"):
        chosen.append(next(one for one in options if one.name == "out"))
    for one in chosen:
        line.append(rng.choice([*one.opts, *one.secondary_opts]))
        if not one.is_flag:
            line.append(_value(rng, one.name, 0.35))
    if rng.random() < 0.05:
        line.insert(rng.randrange(len(line) + 1), odd.word(rng))
    if rng.random() < 0.03 and len(line) > 1:
        del line[rng.randrange(len(line))]
    return line


def _state(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


@contextmanager
def _streams(line: list[str]) -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    """The command's own words and streams, as a pipe has them."""
    out, err = io.BytesIO(), io.BytesIO()
    own = io.TextIOWrapper(out, encoding="utf-8", write_through=True)
    complaints = io.TextIOWrapper(
        err, encoding="utf-8", errors="backslashreplace", write_through=True
    )
    with (
        mock.patch.object(sys, "argv", ["tamis", *line]),
        mock.patch.object(sys, "stdout", own),
        mock.patch.object(sys, "stderr", complaints),
        # Studies take processes of their own, and minutes: their plans are made and checked only.
        mock.patch("tamis.cli.experimenting._run"),
        mock.patch("typer.main.get_command", return_value=_group()),
    ):
        yield out, err


def _run(line: list[str]) -> tuple[int, str, str]:
    with _streams(line) as (out, err):
        try:
            main()
        except SystemExit as ending:
            code = ending.code
        require(isinstance(code, int), f"the command ended with {code!r}")
        return int(code or 0), out.getvalue().decode(), err.getvalue().decode()


def command(case: Case) -> None:
    """Run a command line: it ends with 0, or with 2, a sentence and no file changed."""
    shutil.copytree(files.template, case.folder, dirs_exist_ok=True)
    line = _line(case.rng)
    case.tries(f"tamis {line!r}")
    before = _state(case.folder)
    code, out, err = _run(line)
    case.tries(f"exit code {code}: {out[-600:]}{err[-600:]}")
    after = _state(case.folder)
    changed = {name for name in after if name not in before or before[name] != after[name]}
    require("Traceback" not in out + err, "a traceback")
    require(code in (0, 2), f"exit code {code}")
    require(not set(before) - set(after), f"removed {set(before) - set(after)}")
    if code == 2:
        case.refusals.append(err)
        require(bool((out + err).strip()), "an error that says nothing")
        require(not changed, f"an error, and yet {changed} changed")
    else:
        _written(line, changed)


def _written(line: list[str], changed: set[str]) -> None:
    """Only what was asked for is written, and what was read stays."""
    line = [word for word in line if word != "--"]
    read = {"learn": 1, "inspect": 1, "show": 1, "plot": 1, "report": 1, "check": 1, "pack": 1}
    for name in line[1 : 1 + read.get(line[0], 0)]:
        require(os.path.normpath(name) not in changed, f"{name}, which is read, was written over")
    said = " ".join(line)
    for name in changed:
        stem = os.path.basename(name).split(".")[0]
        # Figures have names of their own, in whatever folder they are wanted.
        ours = line[0] == "experiment"
        if not ours and stem not in said:
            raise BrokenError(f"{name} was written, and nobody asked for it")
        if line[0] == "learn" and name.endswith(".json"):
            tamis.load(name)
