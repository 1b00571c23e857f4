"""Rows of a known network, drawn parents first.

Every variable has a stream of its own, PCG64 seeded by the seed and the SHA-256 of the
variable's name. So a sample does not depend on the order in which variables or parents are
listed, and a variable added to the network leaves the values of its non-descendants as they
were. Only the raw words of the generator are used, which numpy keeps the same on every
machine and in every version.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tamis.errors import SettingError
from tamis.network.parts import Floats, flat_index
from tamis.plugins import shortened
from tamis.portable import random_words
from tamis.tables import Label

if TYPE_CHECKING:
    from tamis.network.model import BayesianNetwork

Codes = NDArray[np.unsignedinteger]
Seed = int | np.random.SeedSequence

MOST_ROWS = 10**12
"""More have no place on any machine."""


def sample_codes(network: BayesianNetwork, n: int, seed: Seed) -> Codes:
    """The level of every variable in every row, shape (d, n)."""
    n_rows, root = checked_n(n), checked_seed(seed)
    arities = [len(labels) for labels in network.levels]
    codes: Codes = np.empty((len(arities), n_rows), dtype=np.min_scalar_type(max(arities) - 1))
    for k in network.order:
        uniform = uniforms(root, network.names[k], n_rows)
        rows = flat_index(codes, network.parents[k], arities)
        codes[k] = drawn(network.tables[k], rows, uniform)
    return codes


def labelled(codes: NDArray[Any], labels: tuple[Label, ...]) -> NDArray[Any]:
    """A column with labels in place of codes.

    Strings come as objects: every cell refers to one of a few labels, however long they are.
    """
    found: NDArray[Any] = np.array(labels, dtype=_kind(labels))[codes]
    return found


def _kind(labels: tuple[Label, ...]) -> type:
    if isinstance(labels[0], bool):
        return np.bool_
    # Left to itself, numpy makes floats of integers that no one type can hold.
    small = all(isinstance(label, int) and -(2**63) <= label < 2**63 for label in labels)
    return np.int64 if small else object


def uniforms(root: np.random.SeedSequence, name: str, n: int) -> Floats:
    """Numbers in [0, 1) on the grid of 2^-53, from the variable's own stream."""
    return np.asarray(
        (random_words(root, name.encode(), n) >> np.uint64(11)) * 2.0**-53, dtype=np.float64
    )


def inner_uniforms(root: np.random.SeedSequence, name: str, n: int) -> Floats:
    """Numbers in (0, 1), neither end included, of the same stream: the middles of 2^52 parts."""
    return np.asarray(
        ((random_words(root, name.encode(), n) >> np.uint64(12)) + 0.5) * 2.0**-52, np.float64
    )


def drawn(table: Floats, rows: NDArray[np.intp], uniform: Floats) -> NDArray[np.intp]:
    """The level whose share of [0, 1) holds the uniform number, by bisection for all rows."""
    steps = _thresholds(table)
    width = steps.shape[1]
    flat, start = steps.ravel(), rows * width
    codes = np.zeros(len(rows), dtype=np.intp)
    half = width // 2
    while half:
        codes += half * (uniform >= flat[start + codes + (half - 1)])
        half //= 2
    return codes


def _thresholds(table: Floats) -> Floats:
    """Cumulative probabilities, a row a configuration, filled up to a power of two.

    From the last possible level on they are infinite: whatever rounding has done to the sum,
    a level of probability 0 is never drawn.
    """
    rows = table.reshape(-1, table.shape[-1])
    arity = rows.shape[1]
    width = 1 << (arity - 1).bit_length()
    steps = np.full((len(rows), width), np.inf)
    steps[:, :arity] = np.add.accumulate(rows, axis=1)
    last = arity - 1 - (rows[:, ::-1] > 0).argmax(axis=1)
    steps[np.arange(width) >= last[:, np.newaxis]] = np.inf
    return steps


def checked_n(n: int) -> int:
    """The number of rows, if it is one."""
    try:
        number = operator.index(n)
    except TypeError:
        number = 0
    if not 1 <= number <= MOST_ROWS or isinstance(n, bool):
        raise SettingError(
            f"n, the number of rows, must be a whole number from 1 to {MOST_ROWS:,}, not "
            f"{shortened(n)}"
        )
    return number


def checked_seed(seed: Seed) -> np.random.SeedSequence:
    """The seed as numpy wants it."""
    if isinstance(seed, np.random.SeedSequence):
        return seed
    try:
        number = operator.index(seed)
    except TypeError:
        number = -1
    if number < 0 or isinstance(seed, bool):
        raise SettingError(
            f"seed must be a whole number from 0 on or a numpy SeedSequence, not {seed!r}"
        )
    return np.random.SeedSequence(number)
