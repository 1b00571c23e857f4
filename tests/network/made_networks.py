"""Networks made up by hypothesis, and what other libraries make of a BIF file."""

from __future__ import annotations

import warnings
from functools import cache
from importlib import import_module, resources

import hypothesis.strategies as st
import numpy as np

from tamis.network import BayesianNetwork

STRANGE = (
    "a b", "a,b", "{", "}", "(x)", "[1]", "a;b", "a|b", "//", "a//b", "/*", "*/", "a/b", "<5",
    "12+", ">=7.5", "5-12", "50%", "-1", "0", "1e5", "nan", "table", "default", "property",
    "variable", "probability", "network", "type", "discrete", "é", "日本", "🙂", "'", "\\", "\\n",
    "a\tb", " x ", "\u2028x", "x\x85", "\x1fx", "#",
)  # fmt: skip

characters = st.characters(codec="utf-8", exclude_characters='"\n\r')
words = st.text("abcXYZ_019", min_size=1, max_size=5).filter(lambda word: not word[0].isdigit())


def texts(alphabet=characters, *, empty=False):
    """Anything that BIF can hold; names may not be blank, labels may."""
    made = st.sampled_from(STRANGE) | st.text(alphabet, min_size=0 if empty else 1, max_size=6)
    return made if empty else made.filter(str.strip)


@st.composite
def networks(draw, names=texts(), labels=texts(empty=True), fewest=1):  # noqa: B008 - a description
    listed = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    levels = [draw(st.lists(labels, min_size=fewest, max_size=4, unique_by=str)) for _ in listed]
    order = draw(st.permutations(range(len(listed))))
    parents = [()] * len(listed)
    for i, k in enumerate(order):
        if i:
            parents[k] = tuple(draw(st.lists(st.sampled_from(order[:i]), max_size=3, unique=True)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    tables = [
        random_rows(rng, (*(len(levels[p]) for p in given), len(levels[k])))
        for k, given in enumerate(parents)
    ]
    return BayesianNetwork(listed, levels, parents, tables)


def random_rows(rng, shape):
    """Rows of all sorts: even, spiky, and with zeros."""
    weights = rng.random(shape) ** rng.choice([1, 20]) * (rng.random(shape) < 0.8)
    weights[..., 0] += weights.sum(axis=-1) == 0
    return weights / weights.sum(axis=-1, keepdims=True)


def published(name):
    """The path of a network of the bnlearn repository, as pgmpy ships it."""
    return resources.files("pgmpy") / "utils" / "example_models" / f"{name}.bif.gz"


@cache
def outside(module):
    """A library whose import would not survive warnings as errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_module(module)


def read_by_agrum(path):
    """Labels, parents and table of every variable, the variable's own axis last."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = outside("pyagrum").loadBN(str(path))
        read = {}
        for name in model.names():
            cpt = model.cpt(name)
            # The array's axes are the names backwards: the last parent first, the child last.
            table = cpt.toarray()
            forwards = (*reversed(range(table.ndim - 1)), table.ndim - 1)
            labels = model.variable(name).labels()
            read[name] = (labels, tuple(cpt.names[1:]), table.transpose(forwards))
    return read


def read_by_pgmpy(text):
    """The same by pgmpy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read = pgmpy_reader()(string=text)
    tables = {}
    for name, states in read.variable_states.items():
        parents = read.variable_parents[name]
        shape = [len(states), *(len(read.variable_states[p]) for p in parents)]
        table = np.moveaxis(read.variable_cpds[name].reshape(shape), 0, -1)
        tables[name] = (tuple(states), tuple(parents), table)
    return tables


@cache
def pgmpy_reader():
    """pgmpy's reader, with grammars that are built once: they take a second every time."""
    kind = outside("pgmpy.readwrite").BIFReader
    variable, probability = kind.get_variable_grammar(None), kind.get_probability_grammar(None)

    class Reader(kind):
        def get_variable_grammar(self):
            return variable

        def get_probability_grammar(self):
            return probability

    return Reader
