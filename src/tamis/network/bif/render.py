"""A network as BIF text that this reader, pgmpy's and aGrUM's take, as far as they can."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import product
from typing import TYPE_CHECKING

from tamis.errors import SettingError
from tamis.network.bif.scanner import WORD

if TYPE_CHECKING:
    from tamis.network.model import BayesianNetwork

_BARE = re.compile(WORD)
_IMPOSSIBLE = re.compile(r'["\n\r]')


def render(network: BayesianNetwork) -> str:
    """The whole file; ``SettingError`` if BIF cannot hold a name or a label."""
    names = [_written(name, f"the name {name!r}") for name in network.names]
    states = [
        [_written(str(label), f"the level {label!r} of {name!r}") for label in labels]
        for name, labels in zip(network.names, network.levels, strict=True)
    ]
    return "\n".join(_lines(network, names, states)) + "\n"


def _lines(network: BayesianNetwork, names: list[str], states: list[list[str]]) -> Iterator[str]:
    # One line a row and no blank before a closing brace at its start: pgmpy reads by lines.
    yield "network unknown {\n}"
    for name, labels in zip(names, states, strict=True):
        yield f"variable {name} {{"
        yield f"  type discrete [ {len(labels)} ] {{ {', '.join(labels)} }};"
        yield "}"
    for k, name in enumerate(names):
        given = network.parents[k]
        header = f"{name} | {', '.join(names[p] for p in given)}" if given else name
        yield f"probability ( {header} ) {{"
        rows = network.tables[k].reshape(-1, len(states[k])).tolist()
        for configuration, row in zip(product(*(states[p] for p in given)), rows, strict=True):
            head = f"({', '.join(configuration)})" if given else "table"
            yield f"  {head} {_numbers(row)};"
        yield "}"


def _numbers(row: Iterable[float]) -> str:
    return ", ".join(map(repr, row))


def _written(text: str, what: str) -> str:
    """A word as it is if it is plain, in quotes if BIF needs them."""
    if _IMPOSSIBLE.search(text):
        raise SettingError(
            f"BIF cannot hold {what}: it has a quotation mark or a line break. Rename it."
        )
    return text if _BARE.fullmatch(text) else f'"{text}"'
