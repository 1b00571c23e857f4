"""A fitted network as a BIF file beside the others; the format itself lives in ``network.bif``."""

from __future__ import annotations

from tamis.formats.text import is_unicode
from tamis.network import BayesianNetwork
from tamis.network.bif import render as bif_text

ENDING = ".bif"
_IMPOSSIBLE = frozenset('"\n\r')


def holds(text: str) -> bool:
    """Whether BIF can hold a name or a label: no quotation mark, no line break."""
    return _IMPOSSIBLE.isdisjoint(text) and is_unicode(text)


def render(network: BayesianNetwork) -> bytes:
    """The whole file; ``SettingError`` if BIF cannot hold a name or a label."""
    return bif_text(network).encode()
