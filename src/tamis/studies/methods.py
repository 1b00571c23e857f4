"""The methods of a study by name: tamis's own searches, baselines, and yours.

| name | what runs |
|---|---|
| a search, such as ``node`` | ``tamis.TAM("node")``; to all but ``auto`` whole numbers are labels |
| a search with ``-labels`` behind it | it is told that whole numbers are labels |
| a search with ``-gaussian`` behind it | ``tamis.TAM("node", information="gaussian")`` |
| a search with ``-pairs`` behind it | ``tamis.TAM("node", look_ahead=2)`` |
| a baseline, such as ``pc`` | ``tamis.baselines`` |
| ``package.module:NAME`` | a baseline of your own: the object NAME of a module on Python's path |
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Any

from tamis.baselines import Baseline
from tamis.baselines.own import OwnSearch
from tamis.baselines.registry import BASELINES, versions
from tamis.defaults import SEARCHES
from tamis.errors import SettingError
from tamis.studies.datasets import Dataset
from tamis.tables import Table

VARIANTS: dict[str, dict[str, Any]] = {
    "": {},
    "-labels": {},
    "-gaussian": {"information": "gaussian"},
    "-pairs": {"look_ahead": 2},
}
"""What may stand behind the name of a search, and the parameters of ``TAM`` it means."""
_SEARCHES = {search + variant: (search, variant) for search in SEARCHES for variant in VARIANTS}
_ORDER = {name: place for place, name in enumerate([*_SEARCHES, *BASELINES])}


@cache
def find_method(name: str) -> Baseline:
    """The method of a name, or a refusal that lists them all."""
    if name in _SEARCHES:
        search, variant = _SEARCHES[name]
        return OwnSearch(name, search, **VARIANTS[variant])
    if name in BASELINES:
        return BASELINES[name]
    if ":" in name:
        return _of_your_own(name)
    raise SettingError(
        f"there is no method {name!r}; there are {', '.join((*SEARCHES, *BASELINES))}, searches "
        f"with {' or '.join(filter(None, VARIANTS))} behind them, and MODULE:NAME for a baseline "
        "of your own"
    )


def table_for(name: str, data: Dataset) -> Table:
    """The table as a method of this name is to see it."""
    numbers = getattr(find_method(name), "takes_numbers", False)
    return data.table(numbers=numbers, labels=name != "auto" and not name.endswith("-gaussian"))


@cache
def library_of(name: str) -> str:
    """What a method comes from, with versions, tamis and numpy aside."""
    found = versions(find_method(name)).items()
    return "; ".join(f"{one} {number}" for one, number in found if one not in ("numpy", "tamis"))


def in_order(methods: Iterable[str]) -> tuple[str, ...]:
    """Methods as they are always listed: tamis's own, baselines, others by name."""
    return tuple(sorted(methods, key=lambda name: (_ORDER.get(name, len(_ORDER)), name)))


def _of_your_own(name: str) -> Baseline:
    module, _, attribute = name.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise SettingError(
            f"the method {name!r} cannot be imported ({error}): write MODULE:NAME, with a module "
            "on Python's path and an object in it like those of tamis.baselines"
        ) from error
    made: Baseline = found() if isinstance(found, type) else found
    return made
