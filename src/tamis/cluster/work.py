"""What workers do: look at the rows of a part, pack and hold them, count, add.

Everything they are given is a question or a path, and everything they give back but the rows they
hold is small, so that whatever is lost with a worker can be had again from the files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.blocks.first_pass import Seen, look, products_in
from tamis.blocks.held import HeldPlanes
from tamis.blocks.packing import encoded, nobody
from tamis.blocks.passes import Pass, Sums
from tamis.blocks.view import View
from tamis.cluster.parts import Names, stream_in
from tamis.errors import DataError
from tamis.information.moments import Moments
from tamis.tables.growing import GrowingColumn

Narrow = tuple[NDArray[np.unsignedinteger], ...]
"""Sums in the smallest type that holds them, to travel."""


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


def look_at(content: Any, name: str, names: Names, moments: bool) -> Seen:  # noqa: ANN401 - path or frame
    """What the columns of a part are, and the moments of numbers if they are wanted."""
    found = look(stream_in(content, names), moments=moments)
    for column in found.columns:
        column.say_where(name)
    return found


def products(
    content: Any,  # noqa: ANN401 - path or frame
    names: Names,
    chosen: tuple[str, ...],
    moments: Moments,
) -> list[tuple[int, float]]:
    """What the shrinkage that the rows suggest needs of a part."""
    return [products_in(stream_in(content, names), chosen, moments)]


def hold(
    content: Any,  # noqa: ANN401 - path or frame
    names: Names,
    arities: tuple[int, ...],
    columns: Sequence[GrowingColumn],
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


def merged(parts: Sequence[Seen]) -> Seen:
    """What is known of neighbouring parts together."""
    return reduce(Seen.merge, parts)


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
