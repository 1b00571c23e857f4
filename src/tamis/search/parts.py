"""Rows of gains in parts: wide tables have no room for a second copy of them all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tamis.information.interface import Context

ROW_BYTES = 2**25
"""The gains that are counted at once."""


def in_parts(contexts: Sequence[Context], n_variables: int) -> Iterator[Sequence[Context]]:
    """Contexts whose rows of gains are of that size together."""
    some = max(1, ROW_BYTES // (8 * n_variables))
    for start in range(0, len(contexts), some):
        yield contexts[start : start + some]
