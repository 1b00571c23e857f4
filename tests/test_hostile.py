"""Hostile command lines, files, arguments and tables: tamis answers or refuses in its own words,
and leaves no file behind.

The examples are the same at every run. HOSTILE=10 in the environment takes ten times as many, new
ones each time. What they find becomes a test in test_fuzz_found.py.
"""

from __future__ import annotations

import atexit
import inspect
import io
import json
import os
import shutil
import sys
import tempfile
import warnings
from contextlib import contextmanager
from decimal import Decimal
from functools import cache, partial
from pathlib import Path
from unittest import mock

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import typer.main
from hypothesis import HealthCheck, given, settings

import tamis
from tamis.cli import app, main
from tamis.comparison import Compared
from tamis.errors import TamisError, TamisWarning
from tamis.tables.packed_file import pack

pytestmark = pytest.mark.slow
MORE = int(os.environ.get("HOSTILE", "0"))


def hostile(examples):
    return settings(
        max_examples=examples * (MORE or 1), derandomize=not MORE, database=None, deadline=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip


# What goes in

NAMES = st.text(max_size=4) | st.sampled_from(
    ("a", "b", "c", "d", "", " ", "--out", "a -> b", "<b>", "\x00", "\x1b[31m", "x" * 300, "a\nb")
)  # fmt: skip
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
THINGS = (
    lambda: np.arange(3), lambda: np.array(2), lambda: np.zeros((0, 2)), lambda: np.int8(-1),
    lambda: np.array([None, "a"], dtype=object), lambda: np.timedelta64(1, "s"), lambda: 10**400,
    lambda: pd.DataFrame({"a": [1]}), lambda: pd.Series([1]), lambda: pl.DataFrame({"a": [1]}),
    lambda: pd.NA, lambda: pd.NaT, lambda: Decimal("sNaN"), lambda: 1j, lambda: "\ud800",
    lambda: ..., lambda: int, lambda: len, lambda: object(), lambda: iter([1]), lambda: range(3),
    lambda: bytearray(b"x"), lambda: {"a"}, lambda: [("a", "b")], lambda: {1: 2}, Path,
)  # fmt: skip
ODD = DOCUMENTS | st.binary(max_size=4) | st.sampled_from(THINGS).map(lambda make: make())

CELLS = (
    st.integers(0, 1), st.integers(0, 2), st.sampled_from("xyz"), st.floats(-5, 5), st.floats(),
    st.integers(), st.booleans(), st.text(max_size=3), st.dates(), st.just(0), ODD,
    st.sampled_from(("1", "", "NA", "1e400", "-0", "0x10", "1,5", "12:30", "9" * 30)),
    st.none() | st.integers(0, 2), st.none() | st.floats(-1, 1), st.floats(1e160, 1e308),
    st.sampled_from((-(2**63), 2**63 - 1, 2**70)),
)  # fmt: skip
SEARCHES = ("auto", "sequential", "node", "layer", "reference")
INFORMATION = ("auto", "counts", "gaussian", "copula", "conditional-gaussian", "mixed")
MISSING = ("error", "drop", "level", "pairwise", "drop-anyway")
SETTINGS = st.fixed_dictionaries(
    {"search": st.sampled_from(SEARCHES), "n_jobs": st.just(1)},
    optional={"information": st.sampled_from(INFORMATION), "missing": st.sampled_from(MISSING)},
)


@st.composite
def tables(draw):
    """Columns by name, of which some copy others, with a few cells changed."""
    n = draw(st.sampled_from((0, 1, 2, 5, 20, 40, 60)))
    made = {}
    for name in draw(st.lists(NAMES, max_size=4, unique=True)):
        cells = draw(st.sampled_from(CELLS))
        # Few values are drawn and then spread: rows by the dozen are too many choices to shrink.
        values = draw(st.lists(cells, min_size=1, max_size=12))
        chance = draw(st.randoms(use_true_random=False))
        column = [chance.choice(values) for _ in range(n)]
        if made and draw(st.booleans()):
            other = draw(st.sampled_from(list(made.values())))
            column = [a if chance.random() < 0.8 else b for a, b in zip(other, column, strict=True)]
        made[name] = column
    return made


CONTAINERS = (
    dict,
    pd.DataFrame,
    lambda made: pd.DataFrame(made).astype("category"),
    lambda made: pd.concat([pd.DataFrame(made)] * 2, axis=1),
    lambda made: pl.DataFrame(made, strict=False).lazy(),
    pa.table,
    lambda made: np.array(list(made.values())).T,
    lambda made: [dict(zip(made, row, strict=True)) for row in zip(*made.values(), strict=True)],
)


@st.composite
def contained(draw):
    """A table in a container, or as it is where the container does not take it."""
    made, put = draw(tables()), draw(st.sampled_from(CONTAINERS))
    with warnings.catch_warnings(action="ignore"):
        try:
            return put(made)
        except (Exception, pl.exceptions.PanicException):
            return made


@st.composite
def damaged(draw, content):
    """Bytes of which some are lost, doubled or replaced."""
    left = bytearray(content)
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(left)))
        piece = bytes(left[start : start + draw(st.sampled_from((0, 1, 2, 8, 64)))])
        new = st.sampled_from((b"", piece * 2, b"\x00", b"\n", b'"', b"1e999"))
        left[start : start + len(piece)] = draw(new | st.binary(max_size=8))
    return bytes(left)


# What may come out


def answered(call):
    """What a call returns, or None where tamis refuses; every other exception is a failure."""
    try:
        return call()
    except TamisError as error:
        if not str(error).strip():
            raise AssertionError("an error that says nothing") from error
        return None


@contextmanager
def folder():
    """A folder with the good files, to work in; what is left in it or beside it is a failure."""
    home, place = os.getcwd(), Path(tempfile.mkdtemp(prefix="hostile-"))
    shutil.copytree(good_files(), place / "work")
    (place / "elsewhere").mkdir()
    try:
        os.chdir(place / "work")
        with (
            mock.patch("tempfile.tempdir", str(place / "elsewhere")),
            # A process of its own, as methods have it, takes seconds to start.
            mock.patch("tamis.comparison.methods.learned", lambda one, *_: Compared(one)),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore", TamisWarning)
            yield Path()
        left = [*Path().rglob(".*"), *(place / "elsewhere").iterdir()]
        assert not left, f"left behind: {left}"
    finally:
        os.chdir(home)
        shutil.rmtree(place)


def contents(place):
    return {str(one): one.read_bytes() for one in place.rglob("*") if one.is_file()}


LEVELS = {"a": [0, 1] * 30, "b": [0, 1, 1, 1] * 15, "c": [0, 1, 2, 0, 1, 2] * 10}
KNOWN = {"tiers": [["a"], ["b", "c"]], "forbidden": ["c -> b"], "sinks": ["c"]}


@cache
def model():
    return tamis.TAM("node", n_jobs=1).fit(LEVELS)


@cache
def good_files():
    """A folder of small files as tamis writes and reads them."""
    place = Path(tempfile.mkdtemp(prefix="hostile-files-"))
    atexit.register(shutil.rmtree, place)
    frame = pd.DataFrame(LEVELS)
    mixed = frame.assign(c=frame.c + np.sin(np.arange(60.0) ** 2))
    frame.to_csv(place / "table.csv", index=False)
    mixed.to_csv(place / "mixed.csv", index=False)
    frame.assign(b=frame.b.where(frame.index % 7 > 0)).to_csv(place / "gaps.csv", index=False)
    frame.to_parquet(place / "table.parquet")
    pack(place / "table.csv", place / "table.tamis", block_rows=64)
    model().save(*(place / f"run.{ending}" for ending in ("json", "dot", "graphml", "bif")))
    model().save(place / "edges.csv")
    tamis.TAM(n_jobs=1).fit(mixed).save(place / "mixed.json")
    (place / "known.json").write_text(json.dumps(KNOWN))
    (place / "known.yaml").write_text(json.dumps(KNOWN))
    (place / "parts").mkdir()
    shutil.copy(place / "table.csv", place / "parts" / "1.csv")
    return place


def comes_back(result):
    if answered(lambda: tamis.save(result, "kept.json") or True):
        assert tamis.load("kept.json") == result, "what was saved came back as another result"


# Tables

FOLLOW_UPS = (
    lambda model, table: model.explain(model.result_.names[0]),
    lambda model, table: model.score(table),
    lambda model, table: model.report("page.html"),
    lambda model, table: model.save("x.dot", "x.graphml", "x.csv", "x.bif"),
    lambda model, table: model.bootstrap(2),
)


@given(contained(), SETTINGS, st.none() | ODD, st.sampled_from(FOLLOW_UPS))
@hostile(80)
def test_a_table_is_learned_from_or_refused(table, given, weights, follow_up):
    with folder():
        answered(lambda: str(tamis.inspect(table)))
        fitted = answered(lambda: tamis.TAM(**given).fit(table, sample_weight=weights))
        if fitted is not None:
            comes_back(fitted.result_)
            answered(lambda: follow_up(fitted, table))


# Files

fit, compare = tamis.TAM("sequential", n_jobs=1).fit, partial(tamis.compare, "run.json")
READERS = {
    "table.csv": fit, "mixed.csv": fit, "table.parquet": fit, "table.tamis": fit,
    "gaps.csv": tamis.TAM("node", missing="drop").fit, "run.bif": tamis.BayesianNetwork.read,
    "run.json": tamis.load, "mixed.json": tamis.load, "known.json": tamis.Knowledge.read,
    "run.dot": compare, "run.graphml": compare, "edges.csv": compare,
    "known.yaml": tamis.Knowledge.read,
}  # fmt: skip


@pytest.mark.parametrize("name", READERS)
@given(st.data())
@hostile(12)
def test_a_damaged_file_is_read_or_refused(name, data):
    with folder():
        Path(name).write_bytes(data.draw(damaged(Path(name).read_bytes())))
        match answered(lambda: READERS[name](Path(name))):
            case tamis.TAM() as fitted:
                comes_back(fitted.result_)
            case tamis.Result() as result:
                comes_back(result)
                answered(lambda: [str(result.explain(column)) for column in result.names])
                answered(lambda: result.report("page.html"))
            case tamis.BayesianNetwork() as network:
                if answered(lambda: network.write("again.bif") or True):
                    assert tamis.BayesianNetwork.read("again.bif") == network
            case tamis.Knowledge() as known:
                assert tamis.Knowledge.of(known.to_dict()) == known
                answered(lambda: tamis.TAM("node", knowledge=known, n_jobs=1).fit(LEVELS))


# Arguments

GOOD = {
    "X": LEVELS, "data": LEVELS, "path": "x.json", "columns": "a", "given": "b", "n": 2, "seed": 1,
    "graph": "chain", "model": "mod", "network": "diamond", "order": ["a", "b", "c"], "p": 0.2,
    "n_simulations": 1, "quick": True,
}  # fmt: skip
"""Good values of parameters; the name of a column is one of most others."""


LEFT_OUT = ("_", "set_", "get_", "fit", "to_p", "log_likelihood_of")
"""What changes its object, imports libraries that crash where warnings are errors, or is within."""


@cache
def calls():
    network = tamis.BayesianNetwork.example("diamond")
    methods = [getattr(one, name) for one in (model(), model().result_, network)
               for name, _ in inspect.getmembers(type(one), inspect.isfunction)
               if not name.startswith(LEFT_OUT)]  # fmt: skip
    functions = [one for room in (tamis, tamis.rules) for name in room.__all__
                 if inspect.isroutine(one := getattr(room, name))]  # fmt: skip
    return (
        *methods, *functions, tamis.TAM, tamis.TAM("node").fit, tamis.BayesianNetwork.fit,
        tamis.Knowledge, tamis.rules.Permutation, tamis.simulate.draw, tamis.metrics.shd,
    )  # fmt: skip


@st.composite
def arguments(draw, call):
    """What a call needs, with one odd argument as a rule."""
    bound = inspect.signature(call).bind_partial()
    # What a function of the user's raises is the user's.
    own = {name: one for name, one in bound.signature.parameters.items()
           if name not in ("progress", "ax") and one.kind is not one.VAR_KEYWORD}  # fmt: skip
    strange = draw(st.sampled_from([*own, None]))
    for name, one in own.items():
        several = one.kind is one.VAR_POSITIONAL
        if name == strange or name in GOOD or (one.default is one.empty and not several):
            value = draw(ODD) if name == strange else GOOD.get(name, "a")
            bound.arguments[name] = (value,) if several else value
    return bound


@given(st.data())
@hostile(200)
def test_a_call_is_answered_or_refused(data):
    call = data.draw(st.sampled_from(calls()))
    bound = data.draw(arguments(call))
    with folder() as place:
        before = contents(place)
        found = answered(lambda: (call(*bound.args, **bound.kwargs),))
        if call is tamis.TAM and found is not None:
            answered(lambda: found[0].fit(LEVELS))
        assert found is not None or contents(place) == before


# Command lines

WORDS = st.sampled_from((
    "", "x", "0", "1", "-1", "1.5", "nan", "1e400", "9" * 20, "auto", "a", "b", "a,b", "=", "a=",
    "a=b=c", "a=x<x", "k=3", "a -> b", "a\rb", '"', "..", "/dev/null", "absent", "*", "[", "--",
    "--help", "-q", "bic", "fixed:nan", "1GB", "-1MB", "½", "a=category", "b=number", "local:x",
))  # fmt: skip
OUTPUTS = st.sampled_from(("new.json", "new.csv", "new.svg", "absent/new.json", "table.csv"))
LIKELY = {
    "table": st.sampled_from(["parts", "parts/*.csv", *list(READERS)[:5]]), "out": OUTPUTS,
    "things": st.sampled_from(list(READERS)), "search": st.sampled_from(SEARCHES),
    "missing": st.sampled_from(MISSING), "alpha": st.just("0.05"),
    "information": st.sampled_from(INFORMATION), "knowledge": st.just("known.json"),
    **{name: st.just(word) for name, word in {
        "run": "run.json", "network": "diamond", "page": "new.html", "picture": "new.svg",
        "planes": "new.tamis", "report": "new.html", "plot": "new.svg",
        "bootstrap": "2", "recovery": "1", "rows": "20", "repeats": "1", "seed": "1", "jobs": "1",
        "graph": "tree", "model": "mod", "nodes": "4", "methods": "sequential", "explain": "a",
    }.items()},
}  # fmt: skip
"""Good values of arguments and options, by their names."""
SHORT = {"check": ["--rows", "20", "--repeats", "1"], "warm-up": ["--absent"]}
"""What keeps a command short; an option that comes later may say otherwise."""
GROUP = typer.main.get_command(app)
"""The command as typer makes it of the app, which takes as long as an example."""


@st.composite
def lines(draw):
    name = draw(st.sampled_from(["learn"] * 6 + ["compare", "simulate"] + sorted(GROUP.commands)))
    line, options = [name, *SHORT.get(name, [])], []
    for one in GROUP.commands[name].params:
        likely = LIKELY.get(one.name, WORDS)
        values = st.one_of([*[likely] * 6, WORDS, OUTPUTS])
        if one.param_type_name == "option":
            options += [(one, values)] * (5 if one.is_flag or one.name in LIKELY else 1)
        else:
            line += [draw(values) for _ in range(2 if one.name == "things" else 1)]
    for one, values in draw(st.lists(st.sampled_from(options), max_size=3)) if options else []:
        line.append(draw(st.sampled_from([*one.opts, *one.secondary_opts])))
        line += [] if one.is_flag else [draw(values)]
    return line


def ran(line):
    """Run the command in this process, with streams as a pipe has them."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace") for _ in range(2))
    with (
        mock.patch.multiple(sys, argv=["tamis", *line], stdout=out, stderr=err),
        mock.patch("typer.main.get_command", return_value=GROUP),
        mock.patch("gc.set_threshold"),
        pytest.raises(SystemExit) as ending,
    ):
        main()
    for stream in (out, err):
        stream.flush()
    return ending.value.code or 0, (out.buffer.getvalue() + err.buffer.getvalue()).decode()


@given(lines())
@hostile(150)
def test_a_command_ends_well_or_with_a_sentence_and_no_file_changed(line):
    with folder() as place:
        before = contents(place)
        code, said = ran(line)
        after = contents(place)
        touched = {name for name in after if after[name] != before.get(name)}
        assert code in (0, 2), said
        assert "Traceback" not in said
        assert set(before) <= set(after)
        assert code == 0 or (said.strip() and not touched), said
        unasked = [name for name in touched if Path(name).stem not in " ".join(line)]
        assert not unasked
