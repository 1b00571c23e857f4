"""Small networks that come with tamis; the first line of each file says what it shows."""

from __future__ import annotations

from importlib.resources import files

from tamis.errors import SettingError
from tamis.network.files import parse_bif
from tamis.network.parts import Parts

NAMES = ("orchard", "night_shift", "m1", "m2", "diamond")

_SHIPPED = files("tamis.network") / "shipped"


def example_parts(name: str) -> Parts:
    """The parts of a network by its name."""
    if name not in NAMES:
        raise SettingError(f"there is no example {name!r}; there are {', '.join(NAMES)}")
    return parse_bif(_content(name), f"the example {name!r}")


def descriptions() -> dict[str, str]:
    """What each example shows, in a sentence."""
    return {name: _content(name).decode().split("\n", 1)[0].lstrip("/ ") for name in NAMES}


def _content(name: str) -> bytes:
    return (_SHIPPED / f"{name}.bif").read_bytes()
