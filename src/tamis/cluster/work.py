"""What workers do: look at the rows of a part, pack and hold them, count, add.

Everything they are given is a question or a path, and everything they give back but the rows they
hold is small, so that whatever is lost with a worker can be had again from the files.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.blocks import numbers
from tamis.blocks.held import HeldPlanes
from tamis.blocks.numbers import Numbers
from tamis.blocks.packing import encoded, look, nobody
from tamis.blocks.passes import Pass, Sums
from tamis.blocks.streams import GrowingLevels
from tamis.blocks.view import View
from tamis.cluster.parts import stream_in
from tamis.errors import DataError
from tamis.information.moments import Moments

Narrow = tuple[NDArray[np.unsignedinteger], ...]
"""Sums in the smallest type that holds them, to travel."""


@dataclass(frozen=True)
class Seen:
    """What there is in parts of a table: the rows of each, and the levels of all together."""

    rows: tuple[int, ...]
    columns: list[GrowingLevels]


@dataclass(frozen=True)
class Question:
    """Passes to be run on some columns of what is held."""

    passes: tuple[Pass, ...]
    positions: tuple[int, ...]
    working_bytes: int


@dataclass(frozen=True)
class Found:
    """What passes found, one after the other, and the bytes that came to be passed on for it."""

    sums: list[Narrow]
    moved: int


def look_at(content: Any, name: str, names: tuple[str, ...]) -> Seen:  # noqa: ANN401 - path or frame
    """The levels of a part."""
    stream = stream_in(content, names)
    columns = [stream.growing_levels() for _ in names]
    n_rows = look(stream, columns, nobody)
    for column in columns:
        column.say_where(name)
    return Seen((n_rows,), columns)


def look_at_numbers(content: Any, name: str, names: tuple[str, ...]) -> Numbers:  # noqa: ANN401
    """The numbers of a part, and their moments."""
    found = numbers.look(stream_in(content, names))
    for column in found.columns:
        column.say_where(name)
    return found


def products(
    content: Any,  # noqa: ANN401 - path or frame
    names: tuple[str, ...],
    chosen: tuple[str, ...],
    moments: Moments,
) -> list[tuple[int, float]]:
    """What the shrinkage that the rows suggest needs of a part."""
    return [numbers.products_in(stream_in(content, names), chosen, moments)]


def hold(
    content: Any,  # noqa: ANN401 - path or frame
    names: tuple[str, ...],
    arities: tuple[int, ...],
    columns: Sequence[GrowingLevels],
    n_rows: int,
) -> HeldPlanes:
    """The rows of a part as planes, whose columns have these levels."""
    if not n_rows:
        return HeldPlanes.of(0, arities, [])
    stream = stream_in(content, names)
    return HeldPlanes.of(n_rows, arities, encoded(stream, columns, n_rows, nobody))


def fingerprint(held: HeldPlanes) -> list[bytes]:
    """By which rows that were read again are known to be the same."""
    return [held.fingerprint]


def merged_seen(parts: Sequence[Seen]) -> Seen:
    """The levels of neighbouring parts together."""
    # What a task is given may be given to another one too.
    columns = deepcopy(parts[0].columns)
    for part in parts[1:]:
        for column, other in zip(columns, part.columns, strict=True):
            column.merge(other)
    return Seen(tuple(n for part in parts for n in part.rows), columns)


def merged_numbers(parts: Sequence[Numbers]) -> Numbers:
    """The moments of neighbouring parts together."""
    return reduce(Numbers.merge, parts)


def joined(parts: Sequence[list[Any]]) -> list[Any]:
    """Lists of neighbouring parts as one."""
    return [one for part in parts for one in part]


def count(
    question: Question, parts: Sequence[HeldPlanes], expected: Sequence[tuple[bytes, str]]
) -> Found:
    """Run passes over the rows of parts that are held here, which must be what they were."""
    total: list[Sums] | None = None
    for held, (known, name) in zip(parts, expected, strict=True):
        if held.fingerprint != known:
            raise DataError(
                f"The rows of {name} are not those they were when the table was first read. "
                "Learn again when nothing writes to it."
            )
        view = View(held, question.positions, question.working_bytes)
        found = [one.over(view) for one in question.passes]
        total = found if total is None else _added(question, total, found)
    return _found(total or [], 0)


def add(question: Question, parts: Sequence[Found]) -> Found:
    """What was found over the rows of all these parts."""
    total = [_wide(sums) for sums in parts[0].sums]
    for part in parts[1:]:
        total = _added(question, total, [_wide(sums) for sums in part.sums])
    return _found(total, sum(part.moved for part in parts))


def _added(question: Question, total: Sequence[Sums], more: Sequence[Sums]) -> list[Sums]:
    return [one.add(a, b) for one, a, b in zip(question.passes, total, more, strict=True)]


def sums_of(found: Found) -> list[Sums]:
    """The sums as the passes gave them."""
    return [_wide(sums) for sums in found.sums]


def _found(sums: Sequence[Sums], moved: int) -> Found:
    narrow = [tuple(map(_narrow, one)) for one in sums]
    return Found(narrow, moved + sum(array.nbytes for one in narrow for array in one))


def _narrow(sums: NDArray[np.int64]) -> NDArray[np.unsignedinteger]:
    largest = int(sums.max(initial=0))
    return sums.astype(np.min_scalar_type(largest))


def _wide(sums: Narrow) -> Sums:
    return tuple(array.astype(np.int64) for array in sums)
