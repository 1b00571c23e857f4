"""The baselines by name, and whether their libraries are there."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from tamis.baselines.agrum import MIIC, HillClimbing, Tabu
from tamis.baselines.boss import BOSS
from tamis.baselines.equal_variance import EqualVariance
from tamis.baselines.flop import FLOP
from tamis.baselines.ges import GES
from tamis.baselines.interface import Baseline
from tamis.baselines.pc import PC
from tamis.errors import SettingError
from tamis.tables import Table

_ALL: tuple[Baseline, ...] = (
    PC(),
    PC(name="pc-g2", test="gsq", alpha=0.05),
    GES(),
    GES(name="ges-bic", score="bic"),
    HillClimbing(),
    Tabu(),
    MIIC(),
    BOSS(),
    EqualVariance(),
    FLOP(),
    PC(name="pc-fisher-z", test="fisherz", alpha=0.05),
    GES(name="ges-gaussian", score="gaussian"),
)

BASELINES: Mapping[str, Baseline] = {baseline.name: baseline for baseline in _ALL}


def available() -> dict[str, bool]:
    """List all baselines, and whether their libraries are installed.

    Returns
    -------
    dict
        For each name, whether the method can run.

    Examples
    --------
    >>> import tamis
    >>> tamis.baselines.available()["equal-variance"]
    True
    """
    return {name: not missing_modules(baseline) for name, baseline in BASELINES.items()}


def find_baseline(baseline: str | Baseline) -> Baseline:
    """The baseline of that name; one that is no name is taken as it is."""
    if not isinstance(baseline, str):
        return baseline
    if baseline not in BASELINES:
        raise SettingError(f"there is no baseline {baseline!r}; there are {', '.join(BASELINES)}")
    return BASELINES[baseline]


def missing_modules(baseline: Baseline) -> list[str]:
    """The libraries of a baseline that are not installed; nothing is imported."""
    libraries = dict.fromkeys(module.partition(".")[0] for module in baseline.modules)
    return [library for library in libraries if find_spec(library) is None]


def needed_by(baseline: Baseline) -> str | None:
    """What a baseline needs and is not installed, with the extra that has it; None if nothing."""
    missing = missing_modules(baseline)
    return (
        _needed(baseline, f"{' and '.join(missing)}, which is not installed") if missing else None
    )


def require(baseline: Baseline) -> None:
    """Refuse a baseline whose libraries are not installed, and name the extra that has them."""
    needed = needed_by(baseline)
    if needed is not None:
        raise SettingError(f"the baseline {baseline.name!r} {needed}")


def import_libraries(baseline: Baseline) -> None:
    """Import what the baseline needs, so that its time is not that of importing."""
    for module in baseline.modules:
        try:
            with warnings.catch_warnings():
                # What a library warns of itself; pyAgrum crashes the interpreter where such
                # warnings are errors.
                warnings.simplefilter("ignore")
                import_module(module)
        except ImportError as error:
            needed = _needed(baseline, f"{module}, which cannot be imported ({error})")
            raise SettingError(f"the baseline {baseline.name!r} {needed}") from error


def prepare(baseline: Baseline, table: Table) -> None:
    """Everything that is no time of learning: import what the baseline needs, and let it get ready
    for the table if it has a ``prepare``, as tamis has for its compiled loops."""
    import_libraries(baseline)
    ready = getattr(baseline, "prepare", None)
    if ready is not None:
        ready(table)


def versions(baseline: Baseline) -> dict[str, str]:
    """The versions of what the baseline runs on."""
    return {package: version_of(package) for package in baseline.packages}


@cache
def version_of(package: str) -> str:
    """The version of a distribution."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def _needed(baseline: Baseline, what: str) -> str:
    return f"needs {what}" + (f": pip install 'tamis[{baseline.extra}]'" if baseline.extra else "")
