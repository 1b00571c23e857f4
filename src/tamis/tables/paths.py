"""The files that hold a table together: one, those of a folder, or those that a pattern finds."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence

from tamis.errors import FileFormatError
from tamis.tables.refusals import listed, shown, shown_path

TEXT_ENDINGS = (".csv", ".tsv", ".txt")
PARQUET_ENDINGS = (".parquet", ".pq")
ARROW_ENDINGS = (".feather", ".arrow", ".ipc")
EXCEL_ENDINGS = (".xlsx",)
PACKED_ENDING = ".tamis"
STREAMED_ENDINGS = TEXT_ENDINGS + PARQUET_ENDINGS + ARROW_ENDINGS
"""Files that can be read in batches."""

_CODECS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
"""Endings that may follow that of a text file."""

_MAGIC = re.compile(rb"(?P<gzip>\x1f\x8b)|(?P<zstd>\x28\xb5\x2f\xfd)|(?P<bz2>BZh[1-9]1AY&SY)")
"""How compressed files begin."""

STREAMED = ", ".join((".csv", ".csv.gz", ".csv.zst", *STREAMED_ENDINGS[1:]))
SUPPORTED = ", ".join((STREAMED, *EXCEL_ENDINGS))
"""Endings as messages list them."""


SMALL_BYTES = 2**26
"""Files that are together no larger than this may be read into memory without asking."""


def are_small(paths: Sequence[str]) -> bool:
    """Whether files are small enough to be read into memory where their rows are needed."""
    return sum(map(os.path.getsize, paths)) <= SMALL_BYTES


def is_several(source: str) -> bool:
    """Whether a path may stand for several files: a folder, or a pattern that no file is called."""
    return os.path.isdir(source) or (glob.has_magic(source) and not os.path.exists(source))


def ending_of(path: str) -> str:
    """The ending of a path in small letters: of compressed text, the one that says it is text."""
    start, ending = os.path.splitext(path)
    if ending.lower() in _CODECS:
        inner = os.path.splitext(start)[1].lower()
        return inner if inner in TEXT_ENDINGS else ending.lower()
    return ending.lower()


def codec_of(path: str) -> str | None:
    """How a file of text is compressed: by the last of its endings, or else by how it begins, as
    some programs unpack the name alone."""
    named = _CODECS.get(os.path.splitext(path)[1].lower())
    if named is not None or not os.path.isfile(path):
        return named
    with open(path, "rb") as file:
        begins = _MAGIC.match(file.read(10))
    return None if begins is None else begins.lastgroup


def find_parts(source: str) -> list[str]:
    """The files in the order of their names, all of one kind."""
    if not is_several(source):
        found = [source]
        if os.path.exists(source) and not os.path.isfile(source):
            raise FileFormatError(
                f"{shown_path(source)} is no file but a pipe or a device, which can be read but "
                "once, and here that is not enough. Write the table into a file first."
            )
        if not os.path.isfile(source):
            raise FileFormatError(f"There is no file {shown_path(source)}. Check the path.")
    elif os.path.isdir(source):
        found = [os.path.join(source, name) for name in os.listdir(source)]
    else:
        found = glob.glob(source, recursive=True)
    parts = sorted(
        path for path in found if ending_of(path) in STREAMED_ENDINGS and os.path.isfile(path)
    )
    if not parts:
        seen = "is a directory without a" if os.path.isdir(source) else "leads to no"
        raise FileFormatError(
            f"{shown_path(source)} {seen} file that ends in one of {STREAMED}. Check the path; "
            "folders within a folder are found by a pattern such as 'folder/**/*.parquet'."
        )
    kinds = sorted({ending_of(path) for path in parts})
    families = (TEXT_ENDINGS, PARQUET_ENDINGS, ARROW_ENDINGS)
    if sum(any(kind in family for kind in kinds) for family in families) > 1:
        raise FileFormatError(
            f"{shown_path(source)} leads to files of several kinds ({listed(map(shown, kinds))}). "
            "Use a pattern that finds one kind, such as 'folder/*.parquet'."
        )
    return parts
