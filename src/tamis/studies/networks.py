"""The files of published networks: from pgmpy's wheel, or from a folder of BIF files."""

from __future__ import annotations

import gzip
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from tamis.errors import SettingError

_PLACE = ("utils", "example_models")
"""Where pgmpy 1.1.0, the last release with the networks inside, keeps them."""


def network_files(folder: str | None = None) -> dict[str, Path]:
    """All networks there are, by name: the BIF files of a folder, or those in pgmpy."""
    if folder is None:
        spec = find_spec("pgmpy")
        roots = [] if spec is None else spec.submodule_search_locations or []
        places = [Path(root, *_PLACE) for root in roots]
    else:
        places = [Path(folder)]
    found = (path for place in places for path in sorted(place.rglob("*.bif*")))
    return {path.name.split(".")[0]: path for path in found}


@cache
def network_file(name: str, folder: str | None = None) -> Path:
    """The file of one network; a refusal that says where it was looked for."""
    found = network_files(folder)
    if name in found:
        return found[name]
    if folder is not None:
        raise SettingError(f"networks: the folder {folder!r} has no {name}.bif or {name}.bif.gz")
    raise SettingError(
        f"the network {name!r} is not here: pip install 'pgmpy==1.1.0', whose wheel holds the "
        "networks of the bnlearn repository, or give a folder of BIF files (networks)"
    )


@cache
def size_of(name: str, folder: str | None = None) -> int:
    """The number of its variables, without reading its tables."""
    path = network_file(name, folder)
    content = path.read_bytes()
    text = gzip.decompress(content) if path.suffix == ".gz" else content
    return len(re.findall(rb"^\s*variable\s", text, re.MULTILINE))
