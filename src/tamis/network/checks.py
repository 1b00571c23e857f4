"""Whether names, levels and parents make a network; refusals name the variable and the cure."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter

import numpy as np

from tamis.errors import DataError
from tamis.tables import Label


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
