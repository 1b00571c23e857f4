"""What a network is made of, and whether it makes one; refusals name the variable and the cure.

A row of a table is kept to the last bit if it sums to 1 but for the rounding of floats, and divided
by its sum otherwise. What was divided once is therefore left alone ever after, and a network that
is written and read again is the same network.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tamis.errors import DataError
from tamis.tables import Label

Floats = NDArray[np.float64]

MOST_CELLS = 2**26
"""The most probabilities that a network is read or fitted with: 512 MiB of them."""
MOST_PARENTS = 31
"""A table has one axis a parent and one for the child; every supported numpy can hold 32."""


class Parts(NamedTuple):
    """The four fields of a ``BayesianNetwork``."""

    names: tuple[str, ...]
    levels: tuple[tuple[Label, ...], ...]
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[Floats, ...]


def row_text(
    child: str, parents: Sequence[str], levels: Sequence[Sequence[Label]], row: int
) -> str:
    """One row of a table in words: ``'tub' given 'asia' = 'yes'``.

    ``levels`` are those of the parents, and ``row`` counts their configurations, the last
    parent changing fastest.
    """
    if not parents:
        return repr(child)
    shape = tuple(len(labels) for labels in levels)
    codes = np.unravel_index(row, shape)
    states = [labels[int(code)] for labels, code in zip(levels, codes, strict=True)]
    pairs = [f"{name!r} = {state!r}" for name, state in zip(parents, states, strict=True)]
    return f"{child!r} given {', '.join(pairs)}"


def checked_names(names: Iterable[str]) -> tuple[str, ...]:
    """At least one name; none of them empty, repeated or impossible to write."""
    if isinstance(names, str):
        raise DataError(f"The names of a network are a list of strings, not the string {names!r}.")
    found = tuple(names)
    if not found:
        raise DataError("A network needs at least one variable.")
    for name in found:
        if not isinstance(name, str):
            raise DataError(f"The name {name!r} is not a string. Name every variable by a string.")
        if not name.strip():
            raise DataError(f"The name {name!r} is empty. Give every variable a name.")
        _check_writable(name, f"The name {name!r}")
    repeated = [name for name, count in Counter(found).items() if count > 1]
    if repeated:
        raise DataError(f"Several variables are called {repeated[0]!r}. Use every name once.")
    return tuple(str(name) for name in found)


def checked_levels(
    names: Sequence[str], levels: Iterable[Iterable[Label]]
) -> tuple[tuple[Label, ...], ...]:
    """For every variable at least one label; its labels differ and are of one type."""
    found = tuple(levels)
    _check_one_each(names, found, "lists of levels")
    return tuple(_labels(name, labels) for name, labels in zip(names, found, strict=True))


def checked_parents(
    names: Sequence[str], parents: Iterable[Iterable[int]]
) -> tuple[tuple[int, ...], ...]:
    """Different positions for every variable, and no cycle."""
    found = tuple(parents)
    _check_one_each(names, found, "parent sets")
    positions = tuple(_positions(names, k, given) for k, given in enumerate(found))
    cycle = find_cycle(names, positions)
    if cycle:
        raise DataError(
            f"The network has a cycle: {arrows(cycle)}. Remove one of these arrows: parents "
            "must come before their children."
        )
    return positions


def find_cycle(names: Sequence[str], parents: Sequence[Sequence[int]]) -> list[str]:
    """The names along a cycle, first and last the same; empty if there is none."""
    try:
        TopologicalSorter(dict(enumerate(parents))).prepare()
    except CycleError as error:
        return [names[k] for k in error.args[1]]
    return []


def arrows(cycle: Sequence[str]) -> str:
    """A cycle as it appears in a message."""
    return " → ".join(map(repr, cycle))


def plain_label(label: object) -> Label | None:
    """The label as Python's own string, integer or boolean; None for anything else."""
    if isinstance(label, bool | np.bool_):
        return bool(label)
    if isinstance(label, str):
        return str(label)
    try:
        return operator.index(label)  # type: ignore[arg-type]
    except TypeError:
        return None


def _labels(name: str, given: Iterable[Label]) -> tuple[Label, ...]:
    if isinstance(given, str):
        raise DataError(f"The levels of {name!r} are a list of labels, not the string {given!r}.")
    labels: list[Label] = []
    for label in given:
        plain = plain_label(label)
        if plain is None:
            raise DataError(
                f"A level of {name!r} is {label!r}. Levels are strings, integers or booleans."
            )
        _check_writable(str(plain), f"The level {plain!r} of {name!r}")
        labels.append(plain)
    _check_labels(name, labels)
    return tuple(labels)


def _check_labels(name: str, labels: Sequence[Label]) -> None:
    if not labels:
        raise DataError(f"The variable {name!r} has no levels. Give it at least one.")
    if len({type(label) for label in labels}) > 1:
        raise DataError(
            f"The levels of {name!r} are of several types: {list(labels)!r}. Use one type."
        )
    repeated = [label for label, count in Counter(labels).items() if count > 1]
    if repeated:
        raise DataError(f"The variable {name!r} has the level {repeated[0]!r} twice.")


def _positions(names: Sequence[str], k: int, given: Iterable[int]) -> tuple[int, ...]:
    try:
        positions = tuple(operator.index(position) for position in given)
    except TypeError as error:
        raise DataError(
            f"The parents of {names[k]!r} are {given!r}; give the positions of the parents "
            f"among the names, from 0 to {len(names) - 1}."
        ) from error
    inside = all(0 <= position < len(names) for position in positions)
    if not inside or len(set(positions)) < len(positions):
        raise DataError(
            f"The parents of {names[k]!r} are {positions}; they must be different positions "
            f"from 0 to {len(names) - 1}."
        )
    return positions


def _check_one_each(names: Sequence[str], found: Sequence[object], what: str) -> None:
    if len(found) != len(names):
        raise DataError(
            f"There are {len(names)} names but {len(found)} {what}; give one for every variable."
        )


def _check_writable(text: str, what: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DataError(
            f"{what} holds a lone surrogate, which UTF-8 cannot write. Rename it."
        ) from error


TOLERANCE = 1e-6
"""How far a row may be from summing to 1 when a network is made; the 24 networks of the
bnlearn repository miss it by at most 3e-7."""
ROUNDING = 0.02
"""How far a row from a file or another library may be from 1: four levels written with two
decimals miss it by no more. Such rows are divided by their sums, past TOLERANCE with a
warning."""
_KEPT = 1e-12


def checked_tables(
    names: Sequence[str],
    levels: Sequence[Sequence[Label]],
    parents: Sequence[Sequence[int]],
    tables: Iterable[ArrayLike],
) -> tuple[Floats, ...]:
    """Read-only tables of the right shapes, whose rows are probabilities."""
    given = tuple(tables)
    if len(given) != len(names):
        raise DataError(
            f"There are {len(names)} names but {len(given)} tables; give one for every variable."
        )
    checked = []
    for k, table in enumerate(given):
        among = [levels[p] for p in parents[k]]
        values = _floats(names[k], table)
        _check_shape(names[k], values, (*map(len, among), len(levels[k])))
        fault = fault_in(values, TOLERANCE)
        if fault is not None:
            row, what = fault
            about = row_text(names[k], [names[p] for p in parents[k]], among, row)
            raise DataError(f"The probabilities of {about} {what}.")
        checked.append(rescaled(values))
        checked[-1].setflags(write=False)
    return tuple(checked)


def fault_in(table: Floats, tolerance: float) -> tuple[int, str] | None:
    """The first row that is no distribution, and what is wrong with it; None if all are."""
    rows = table.reshape(-1, table.shape[-1])
    for wrong, what in (
        (~np.isfinite(rows), "hold {}, which is not a number"),
        (rows < 0, "hold {}, which is negative"),
    ):
        if wrong.any():
            row = int(wrong.any(axis=1).argmax())
            return row, what.format(float(rows[row][wrong[row]][0]))
    off = misses(rows)
    # A hair more, because 0.02 and its like are not floats.
    beyond = off > tolerance * (1 + 1e-9)
    if beyond.any():
        row = int(beyond.argmax())
        return row, f"sum to {_sums(rows)[row]:.9g}, which misses 1 by {off[row]:.3g}"
    return None


def misses(table: Floats) -> Floats:
    """How far each row is from summing to 1."""
    return np.asarray(np.abs(_sums(table.reshape(-1, table.shape[-1])) - 1.0))


def rescaled(table: Floats) -> Floats:
    """The table with every row summing to 1; rows that do so keep all their bits."""
    total = _sums(table)[..., np.newaxis]
    return np.where(np.abs(total - 1.0) <= _KEPT, table, table / total)


def _sums(rows: Floats) -> Floats:
    # Accumulated from left to right, so that the last bit is the same on every machine.
    # Absurd numbers may overflow; their sum is then far from 1 all the same.
    with np.errstate(over="ignore"):
        return np.asarray(np.add.accumulate(rows, axis=-1)[..., -1])


def _floats(name: str, table: ArrayLike) -> Floats:
    try:
        # Adding zero turns -0.0 into 0.0.
        return np.array(table, dtype=np.float64, order="C") + 0.0
    except (TypeError, ValueError) as error:
        raise DataError(f"The table of {name!r} is not an array of numbers ({error}).") from error


def _check_shape(name: str, table: Floats, wanted: tuple[int, ...]) -> None:
    if table.shape != wanted:
        raise DataError(
            f"The table of {name!r} has shape {table.shape}, not {wanted}: one axis for each "
            "parent in the order of its parents, and the last for the variable itself."
        )


def flat_index(
    codes: NDArray[np.integer], variables: Sequence[int], arities: Sequence[int]
) -> NDArray[np.intp]:
    """For every row the configuration of some variables, the last one changing fastest.

    ``codes[k, i]`` is the level of variable ``k`` in row ``i``, and ``arities[k]`` its number
    of levels. No variable makes one configuration, number 0.
    """
    index = np.zeros(codes.shape[1], dtype=np.intp)
    for k in variables:
        index *= arities[k]
        index += codes[k].astype(np.intp, copy=False)
    return index
