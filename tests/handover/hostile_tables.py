"""Small tables with edges to find, whose names and labels are as strange as they can be."""

from __future__ import annotations

import warnings
from functools import cache
from importlib import import_module

import hypothesis.strategies as st
import numpy as np

import tamis
from tamis.tables import Table

HOSTILE = (
    'say "hi"', "back\\slash", "ends in \\", "two\nlines", "carriage\rreturn", "tab\there",
    "<script>alert(1)</script>", "a & b", "&lt;", "=1+1", " x ", "\u202eevil", "\u2028x", "é",
    "日本", "🙂", "a,b", "a|b", "{x}", "(x)", "it's", "12", "1.50", "true", "None", "nan", "table",
    "two words", "//", "\\n", "graph", "->", "#",
)  # fmt: skip

characters = st.characters(codec="utf-8")
names = st.sampled_from(HOSTILE) | st.text(characters, min_size=1, max_size=6).filter(str.strip)
texts = names | st.just("")
# With a v, so that none is a word of BIF's own, which aGrUM refuses.
words = st.text("abcXYZ_019", max_size=5).map(lambda rest: f"v{rest}")


def labels_of(texts, size=2):
    """Different labels of one type: strings, integers or booleans."""
    return st.one_of(
        st.lists(texts, min_size=size, max_size=3, unique=True),
        st.lists(st.integers(-(2**63), 2**63 - 1), min_size=size, max_size=3, unique=True),
        st.just([False, True]),
    ).map(tuple)


@st.composite
def tables(draw, names=names, texts=texts):
    """Every column is the one before it, now and then turned; every level occurs."""
    listed = draw(st.lists(names, min_size=2, max_size=4, unique=True))
    levels = tuple(draw(labels_of(texts)) for _ in listed)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    codes = [np.arange(90) % len(levels[0])]
    for given in levels[1:]:
        turned = rng.integers(0, len(given), 90)
        column = np.where(rng.random(90) < 0.15, turned, codes[-1] % len(given))
        column[: len(given)] = np.arange(len(given))
        codes.append(column)
    return Table(tuple(listed), levels, np.array(codes, dtype=np.uint8))


def learned(table):
    """What a quick search finds in a table."""
    return tamis.TAM("sequential", n_jobs=1).fit(table).result_


@cache
def outside(module):
    """A library whose import would not survive warnings as errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_module(module)
