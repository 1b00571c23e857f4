"""Networks as files: the ending says the format; read with line numbers, written whole. Small
networks come with tamis; the first line of each file says what it shows.
"""

from __future__ import annotations

import gzip
import os
import warnings
import zlib
from importlib.resources import files as package_files
from typing import TYPE_CHECKING, BinaryIO

from tamis.atomic import check_place, write_files
from tamis.errors import FileFormatError, SettingError, TamisWarning
from tamis.network.bif import Rounded, render, understood
from tamis.network.bif_syntax import Refused, line_of, parse
from tamis.network.parts import TOLERANCE, Parts

if TYPE_CHECKING:
    from tamis.network.model import BayesianNetwork


ENDINGS = (".bif", ".bif.gz")
MOST_BYTES = 2**26
"""The most text that is read, after decompression; the largest published file has 5.5 MB."""

_GZIP = b"\x1f\x8b"


def read_parts(path: str | os.PathLike[str]) -> Parts:
    """The parts of the network in a file, or ``FileFormatError``."""
    place = _text(path)
    if not place.lower().endswith(ENDINGS):
        raise FileFormatError(
            f"The ending of {place!r} is not one of {', '.join(ENDINGS)}: those are read."
        )
    return parse_bif(_content(place), repr(place))


def parse_bif(content: bytes, called: str) -> Parts:
    """The parts of the network in the bytes of a BIF file; ``called`` is for the complaint."""
    text = _decoded(content, called)
    try:
        parts, worst = understood(parse(text))
    except Refused as error:
        line = line_of(text, error.offset)
        raise FileFormatError(f"{called}, line {line}: {error}.") from None
    if worst.miss > TOLERANCE:
        _warn_rounded(worst, line_of(text, worst.offset), called)
    return parts


def write_network(network: BayesianNetwork, path: str | os.PathLike[str]) -> None:
    """Write a network by the file's ending; everything is checked before."""
    place = _text(path)
    if not place.lower().endswith(ENDINGS):
        raise SettingError(f"the ending of {place!r} must be one of {', '.join(ENDINGS)}")
    check_place(place)
    content = render(network).encode()
    if place.lower().endswith(".gz"):
        # Without a time stamp, so that the same network gives the same file.
        content = gzip.compress(content, mtime=0)
    write_files({place: content})


def _text(path: object) -> str:
    if isinstance(path, os.PathLike):
        path = os.fspath(path)
    if not isinstance(path, str) or "\0" in path:
        raise SettingError(f"a path must be a string or a pathlib.Path, not {path!r}")
    return path


def _content(place: str) -> bytes:
    try:
        with open(place, "rb") as file:
            return _unpacked(file, place) if place.lower().endswith(".gz") else _read(file, place)
    except FileNotFoundError as error:
        raise FileFormatError(f"There is no file {place!r}. Check the path.") from error
    except (OSError, UnicodeEncodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise FileFormatError(f"The file {place!r} cannot be read: {why}.") from error


def _unpacked(file: BinaryIO, place: str) -> bytes:
    try:
        with gzip.GzipFile(fileobj=file) as unpacked:
            return _read(unpacked, place)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise FileFormatError(
            f"The file {place!r} is damaged or not compressed by gzip ({error})."
        ) from error


def _read(file: BinaryIO | gzip.GzipFile, place: str) -> bytes:
    content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise FileFormatError(f"The file {place!r} holds more than {MOST_BYTES} bytes.")
    return content


def _decoded(content: bytes, called: str) -> str:
    if content.startswith(_GZIP):
        raise FileFormatError(f"{called} is compressed. Let its name end in .bif.gz.")
    if not content.strip():
        raise FileFormatError(f"{called} is empty.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileFormatError(
            f"{called}, line {line}: byte {error.start} is not UTF-8. Save the file as UTF-8."
        ) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _warn_rounded(worst: Rounded, line: int, called: str) -> None:
    warnings.warn(
        TamisWarning(
            f"{called}: not all probabilities sum to 1; those of {worst.about} (line {line}) miss "
            f"it by {worst.miss:.3g}. Rows were divided by their sums."
        ),
        # The caller of BayesianNetwork.read.
        stacklevel=5,
    )


NAMES = ("orchard", "night_shift", "m1", "m2", "diamond")

_SHIPPED = package_files("tamis.network") / "shipped"


def example_parts(name: str) -> Parts:
    """The parts of a network by its name."""
    if name not in NAMES:
        raise SettingError(f"there is no example {name!r}; there are {', '.join(NAMES)}")
    return parse_bif(_shipped(name), f"the example {name!r}")


def descriptions() -> dict[str, str]:
    """What each example shows, in a sentence."""
    return {name: _shipped(name).decode().split("\n", 1)[0].lstrip("/ ") for name in NAMES}


def _shipped(name: str) -> bytes:
    return (_SHIPPED / f"{name}.bif").read_bytes()
