"""Warrants look the same everywhere, and differ from each other in black and white too."""

from __future__ import annotations

from rich.cells import cell_len

from tamis.cli.sketch import ASCII, LINES
from tamis.result import LOOKS
from tamis.search.warrants import ENTROPY, EQUIVALENCE, GIVEN, NONE


def test_every_warrant_has_a_look():
    assert tuple(LOOKS) == (GIVEN, EQUIVALENCE, ENTROPY, NONE)


def test_looks_differ_in_every_way_they_are_drawn():
    for field in ("label", "meaning", "symbol", "back", "ascii_back", "dash"):
        seen = [getattr(look, field) for look in LOOKS.values()]
        assert len(set(seen)) == len(seen), field
    for look in LOOKS.values():
        assert look.ascii_back.isascii()
        assert cell_len(look.symbol) == cell_len(look.back) == 1
        assert len(look.dash) % 2 == 0
        assert all(length > 0 for length in (*look.dash, look.weight))
        assert look.meaning.endswith(".")


def test_only_a_direction_that_every_equivalent_graph_has_is_solid():
    assert [warrant for warrant, look in LOOKS.items() if not look.dash] == ["equivalence"]


def test_the_sketch_takes_its_arrows_from_there():
    assert LINES.arrows == {warrant: look.back for warrant, look in LOOKS.items()}
    assert ASCII.arrows == {warrant: look.ascii_back for warrant, look in LOOKS.items()}
