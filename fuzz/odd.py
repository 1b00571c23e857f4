"""Values, words and names that nobody expects, and damage to bytes and documents."""

from __future__ import annotations

import datetime
import decimal
import fractions
import math
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
import polars as pl

NAMES = (
    "a", "b", "c", "d e", "", " ", "0", "-1", "nan", "None", "a -> b", "a,b", "a=b", "--out",
    "$x_1$",
    "<script>alert(1)</script>", "名前", "é", "e\u0301", "\u202eabc", "\x00", "\x1b[31m", "a\nb",
    "a\tb",
    '"', "'", "\\", "|", "{", "layer", "weight", "x" * 300, "\ud800", "𝔘", "\ufeff", "A",
)  # fmt: skip
CELLS = (
    "0", "1", "2", "yes", "no", "", " ", "NA", "nan", "NULL", "1.5", "-3", "1e400", "-inf",
    "1e-320",
    "<b>", "'", '"', ",", "\n", "0x10", "1_000", "01", "+1", "1,5", "2024-01-01", "12:30", "true",
    "名",
    "9" * 30, "\x00", "-0.0", "-999", "1e16", "inf",
)  # fmt: skip
WORDS = (
    "", " ", "x", "0", "1", "2", "-1", "-0", "1.5", "nan", "inf", "1e400", "1e-400",
    "99999999999999999999",
    "true", "None", "auto", "all", "a", "b", "a,b", ",", "a,,b", "=", "a=", "=1", "a=b=c", "k=3",
    "k=x",
    "->", "a -> b", "a->", "b -> a -> c", "'", '"a', "a\nb", "a\rb", "\x1b[0m", "名前", "..", ".",
    "/",
    "/dev/null", "/dev/full", "absent/x.json", "x.json", "x.html", "x.svg", "x.csv", "x.bif",
    "x.tamis",
    "*", "*.csv", "[", "~", "-", "--", "-q", "--help", "--quiet", "--absent", "x" * 5000, "\udcff",
    "p-value:0.1", "bic", "rate:1", "fixed:nan", "permutation:2", "chi-squared:", "f-test:1e-400",
    "1GB", "0GB", "-1MB", "1e9", "½", "١", "1kB", "2 GB", "a=category", "a=number", "b=ordinal",
    "a=0<1", "a=1<0", "c=ignore", "a=<", "a=x<x",
)  # fmt: skip


class Stranger:
    """An object of nobody's."""


def _made() -> list[Callable[[], object]]:
    """Makers, as some values are used up or changed by whoever gets them."""
    return [
        lambda: np.arange(3), lambda: np.array(["a", "b"]), lambda: np.array(2),
        lambda: np.zeros((0, 2)),
        lambda: np.array([[1.5, np.nan]]), lambda: np.array([None, "a"], dtype=object),
        lambda: np.ma.masked_array([1, 2], [True, False]), lambda: pd.DataFrame({"a": [1]}),
        lambda: pd.Series([1, 2]), lambda: pl.Series([1, 2]), lambda: pl.DataFrame({"a": [1]}),
        lambda: {"a": 1}, lambda: {1: 2}, lambda: {"a": ["b"]}, dict, list, set, tuple, Stranger,
        lambda: [1], lambda: ["a"], lambda: [["a", "b"]], lambda: [("a", "b")], lambda: [None],
        lambda: ("a", "b"), lambda: {"a"}, lambda: iter([1]), lambda: (x for x in ["a"]),
        lambda: range(3), lambda: bytearray(b"x"), lambda: memoryview(b"x"), lambda: [[["a"]]],
        lambda: {"a": {"b": {}}}, lambda: [float("nan")], lambda: ["a", 1],
        lambda: {"a": "category"},
        lambda: {"a": ["0", "1"]}, lambda: {"k": -1}, lambda: {"shrinkage": "auto"},
        lambda: {"": None},
    ]  # fmt: skip


VALUES: tuple[object, ...] = (
    None, True, False, 0, 1, 2, 3, -1, 10**400, -(2**63), 2**63, 2**64, 0.5, -0.5, -0.0, 1.0, 2.0,
    1e-320,
    1e308, math.nan, math.inf, -math.inf, 1j, "", "a", "b", "x", "auto", "none", "0", "1.5", "2GB",
    "\ud800",
    "\x00", "a\x00.json", "x.json", "x.html", "absent/x.json", ".", "x" * 5000, b"x", b"\xff", ...,
    NotImplemented,
    int, str, dict, len, print, np.int64(2), np.int8(-1), np.uint64(2**63), np.float32(0.5),
    np.float64("nan"),
    np.bool_(True), np.str_("auto"), np.bytes_(b"a"), np.datetime64("2020-01-01"),
    np.timedelta64(1, "s"),
    pd.NA, pd.NaT, pd.Timestamp(0), decimal.Decimal("0.5"), decimal.Decimal("sNaN"),
    fractions.Fraction(1, 3),
    datetime.date(2020, 1, 1), datetime.timedelta(1), Path("x"), Path("x.json"), Path(), slice(1),
    lambda *_: None,
    lambda *_: math.nan, lambda *_: [], lambda *_: "x",
)  # fmt: skip


def value(rng: Random) -> object:
    """Any value, of a wrong type as a rule."""
    if rng.random() < 0.35:
        return rng.choice(_made())()
    return rng.choice(VALUES)


def word(rng: Random) -> str:
    """A word of a command line."""
    found = rng.choice(WORDS)
    return damaged_text(rng, found) if found and rng.random() < 0.1 else found


def damaged(rng: Random, content: bytes) -> bytes:
    """Bytes with some that are changed, lost, doubled or moved."""
    left = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 5, 20))):
        if not left:
            return bytes([rng.randrange(256)])
        start = rng.randrange(len(left))
        stop = min(len(left), start + rng.choice((1, 1, 2, 8, 64)))
        match rng.randrange(7):
            case 0:
                left[start] ^= 1 << rng.randrange(8)
            case 1:
                del left[start:stop]
            case 2:
                left[start:start] = left[start:stop]
            case 3:
                left[start:stop] = rng.randbytes(stop - start)
            case 4:
                del left[start:]
            case 5:
                left[start:stop] = rng.choice(
                    (b"", b"\x00", b"\xff" * 8, b"\n", b'"', b"0", b"1e999")
                )
            case 6:
                piece = bytes(left[start:stop])
                del left[start:stop]
                at = rng.randrange(len(left) + 1)
                left[at:at] = piece
    return bytes(left)


def damaged_text(rng: Random, text: str) -> str:
    """Text with a damage of its own, which need not be UTF-8 any more."""
    return damaged(rng, text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")


def document(rng: Random, depth: int = 3) -> object:
    """Anything that JSON holds."""
    shape = rng.randrange(5 if depth else 3)
    if shape < 2:
        return rng.choice(
            (
                *NAMES[:20],
                None,
                True,
                False,
                0,
                1,
                -1,
                2,
                10**30,
                0.5,
                -0.0,
                1e308,
                "Infinity",
                "NaN",
            )
        )
    if shape == 2:
        return rng.choice((rng.randrange(-3, 9), rng.random()))
    if shape == 3:
        return [document(rng, depth - 1) for _ in range(rng.randrange(4))]
    return {rng.choice(NAMES[:20]): document(rng, depth - 1) for _ in range(rng.randrange(4))}


def changed(rng: Random, whole: object) -> object:
    """A document with one part replaced, removed, doubled, or swapped with another."""
    if isinstance(whole, dict) and whole and rng.random() < 0.9:
        key = rng.choice(list(whole))
        act = rng.randrange(8)
        if act == 0:
            return {k: v for k, v in whole.items() if k != key}
        if act == 1:
            return {**whole, key: whole[rng.choice(list(whole))]}
        if act == 2:
            return {**whole, str(rng.choice((*NAMES, *whole))): document(rng, 1)}
        return {**whole, key: changed(rng, whole[key])}
    if isinstance(whole, list) and whole and rng.random() < 0.9:
        at, act = rng.randrange(len(whole)), rng.randrange(8)
        if act == 0:
            return whole[:at] + whole[at + 1 :]
        if act == 1:
            return [*whole, whole[at]]
        if act == 2:
            return rng.sample(whole, len(whole))
        return [*whole[:at], changed(rng, whole[at]), *whole[at + 1 :]]
    if isinstance(whole, float | int) and not isinstance(whole, bool) and rng.random() < 0.6:
        return rng.choice((whole + 1, -whole, 0, whole * 1e300, 2**63, float(whole), rng.random()))
    return document(rng, 2)
