"""The sources that read numbers, by name: the settings of each, and how it reads a table.

A source is imported when it is asked for: what some of them need takes longer to import than most
tables take to learn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tamis.errors import SettingError
from tamis.information.interface import Source
from tamis.tables.table import Table

Written = dict[str, Any]
"""Settings by name: numbers, words and truth values, as JSON holds them."""


@dataclass(frozen=True)
class Kind:
    """``defaults`` are all the settings there are; ``check`` refuses values without meaning and
    gives the others as they are recorded."""

    defaults: Written
    check: Callable[[Written], Written]
    read: Callable[[Table, Written, int | None], Source]


def source_settings(information: str, given: Mapping[str, Any] | None) -> Written | None:
    """The settings of a source with nothing left open; None for one that has none, which moments
    have not unless they are shrunk."""
    if given is not None and not isinstance(given, Mapping):
        raise SettingError(f"source must be a mapping such as {{'seed': 1}}, not {given!r}")
    wanted = dict(given or {})
    if information not in _KINDS:
        if wanted:
            raise SettingError(f"information={information!r} has no settings: leave source out")
        return None
    kind = _KINDS[information]()
    unknown = [name for name in wanted if name not in kind.defaults]
    if unknown:
        raise SettingError(
            f"source: information={information!r} has no setting {unknown[0]!r}; it has "
            f"{', '.join(kind.defaults)}"
        )
    try:
        return kind.check({**kind.defaults, **wanted}) or None
    except SettingError as error:
        raise SettingError(f"source: {error}") from None


def open_source(
    information: str, table: Table, settings: Written | None, n_jobs: int | None
) -> Source:
    """The source of this name, about this table.

    Where values are missing, Gaussian columns are read by maximum likelihood, as far as they are
    seen often enough; all others, and those, by each test's own rows.
    """
    settings = settings or {}
    if table.weights is not None:
        _require_weighted(information, settings)
    if table.missing:
        from tamis.information.incomplete import IncompleteGaussian, enough_present
        from tamis.information.own_rows import OwnRows

        if information == "gaussian" and (table.weights is not None or enough_present(table)):
            return IncompleteGaussian.from_table(table, **settings)
        return OwnRows(table, lambda part: open_source(information, part, settings, n_jobs))
    if table.weights is not None:
        from tamis.information.gaussian import weighted_gaussian

        return weighted_gaussian(table, table.weights, **settings)
    return _KINDS[information]().read(table, settings, n_jobs)


def _require_weighted(information: str, settings: dict[str, Any]) -> None:
    """Refuse sources of numbers that know no weights."""
    if information != "gaussian":
        raise SettingError(
            f"information={information!r} takes every row as one, and these have survey weights: "
            "use information='counts' or 'gaussian', or whole weights, which repeat rows"
        )
    if settings.get("shrinkage") == "auto":
        raise SettingError(
            "source: shrinkage='auto' goes by the spread of equal rows: with survey weights give "
            "a number from 0 to 1"
        )


def _gaussian() -> Kind:
    from tamis.information.gaussian import GaussianInformation

    return Kind(
        {"shrinkage": 0.0},
        _shrunk,
        lambda table, settings, _: GaussianInformation.from_table(table, **settings),
    )


def _copula() -> Kind:
    from tamis.information.ranked import CopulaInformation

    return Kind(
        {"shrinkage": 0.0, "seed": 0},
        _ranked,
        lambda table, settings, _: CopulaInformation.from_table(table, **settings),
    )


def _neighbours() -> Kind:
    from tamis.information.neighbours import FOR_GAINS, NeighbourInformation

    return _nearest(NeighbourInformation.from_table, FOR_GAINS)


def _mixed() -> Kind:
    from tamis.information.neighbours import FOR_MIXED, MixedInformation

    return _nearest(MixedInformation.from_table, FOR_MIXED)


def _nearest(read: Callable[..., Source], k: int) -> Kind:
    from tamis.information.neighbours import SHUFFLES

    return Kind(
        {"k": k, "shuffles": SHUFFLES, "seed": 0},
        _shuffled,
        lambda table, settings, n_jobs: read(table, **settings, n_jobs=n_jobs),
    )


def _conditional_gaussian() -> Kind:
    from tamis.information.conditional_gaussian import THIN, ConditionalGaussianInformation

    return Kind(
        {"thin": THIN},
        _filled,
        lambda table, settings, n_jobs: ConditionalGaussianInformation.from_table(
            table, **settings, n_jobs=n_jobs
        ),
    )


def _lipschitz() -> Kind:
    from tamis.information.lipschitz import LipschitzInformation
    from tamis.information.smoothed_entropy import Smoothing

    return Kind(
        Smoothing().to_dict(),
        _smoothed,
        lambda table, settings, _: LipschitzInformation.from_table(table, Smoothing(**settings)),
    )


_KINDS = {
    "gaussian": _gaussian,
    "copula": _copula,
    "neighbours": _neighbours,
    "mixed": _mixed,
    "conditional-gaussian": _conditional_gaussian,
    "lipschitz": _lipschitz,
}


def _shuffled(settings: Written) -> Written:
    from tamis.information.neighbours import MOST_SHUFFLES
    from tamis.plugins import whole

    bounds = {"k": (1, None), "shuffles": (2, MOST_SHUFFLES), "seed": (0, None)}
    return {name: whole(name, value, *bounds[name]) for name, value in settings.items()}


def _shrunk(settings: Written) -> Written:
    from tamis.information.gaussian import checked_or_auto

    shrinkage = checked_or_auto(settings["shrinkage"])
    # Results were written before there was shrinkage; without it they still look the same.
    return {"shrinkage": shrinkage} if shrinkage else {}


def _filled(settings: Written) -> Written:
    from tamis.plugins import whole

    return {"thin": whole("thin", settings["thin"], 3)}


def _ranked(settings: Written) -> Written:
    from tamis.information.gaussian import checked_or_auto
    from tamis.plugins import whole

    shrinkage = checked_or_auto(settings["shrinkage"])
    return {"shrinkage": shrinkage, "seed": whole("seed", settings["seed"], 0)}


def _smoothed(settings: Written) -> Written:
    from tamis.information.smoothed_entropy import Smoothing

    try:
        return dict(Smoothing(**settings).to_dict())
    except OverflowError:
        raise SettingError("one of the numbers is too large for a float") from None
