"""What each public parameter may be, stated once: settings and methods ask here.

A value of the wrong type is refused by the parameter's name, in one sentence. What goes together
with what is for the room that knows it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import NamedTuple

from tamis.constants import constants
from tamis.defaults import BACKWARD, BOUNDARY, KINDS, SEARCHES, UNITS
from tamis.errors import SettingError
from tamis.information.interface import Source
from tamis.plugins import is_number, is_whole, qualified_name, shortened
from tamis.tables.assemble import MISSING

MOST_REPEATS = 10**6
"""Resamples or simulated tables beyond this would take years."""
SCHEMES = ("half", "rows")
CONDITIONS = ("quick", "all")


class Parameter(NamedTuple):
    """What a parameter must be, in words, and whether a value is that."""

    wanted: str
    fits: Callable[[object], bool]


def require(**given: object) -> None:
    """Refuse values that their parameters cannot have; the first is told."""
    for name, value in given.items():
        parameter = PARAMETERS[name]
        if not parameter.fits(value):
            told = f"not {shortened(value)}"
            if isinstance(value, type):
                told = f"and {qualified_name(value)} is a class: pass what it makes"
            raise SettingError(f"{name} must be {parameter.wanted}, {told}")


def _word(choices: tuple[str, ...], otherwise: str = "") -> Parameter:
    """One of these words."""
    listed = ", ".join(map(repr, choices))
    return Parameter(
        f"one of {listed}{otherwise}", lambda value: isinstance(value, str) and value in choices
    )


def _whole(least: int, most: int | None = None) -> Parameter:
    upto = "on" if most is None else f"to {most:,}"
    return Parameter(
        f"a whole number from {least} {upto}",
        lambda value: is_whole(value) and least <= value and (most is None or value <= most),
    )


def _or(first: Parameter, wanted: str, fits: Callable[[object], bool]) -> Parameter:
    return Parameter(f"{first.wanted}{wanted}", lambda value: first.fits(value) or fits(value))


def _none_or(parameter: Parameter) -> Parameter:
    return Parameter(
        f"None or {parameter.wanted}", lambda value: value is None or parameter.fits(value)
    )


def _made_by(maker: str, module: str, name: str) -> Parameter:
    """An object of this class, which nobody has if its module was never loaded."""

    def fits(value: object) -> bool:
        kind = getattr(sys.modules.get(module), name, None)
        return kind is not None and isinstance(value, kind)

    return Parameter(maker, fits)


def _is_network(value: object) -> bool:
    from tamis.network import BayesianNetwork, GaussianNetwork  # networkx takes long to import

    return isinstance(value, BayesianNetwork | GaussianNetwork)


def _is_called(value: object) -> bool:
    return callable(value) and not isinstance(value, type)


_FUNCTION = Parameter("a function", callable)
_FLAG = Parameter("True or False", lambda value: isinstance(value, bool))
_TEXT = Parameter("a string", lambda value: isinstance(value, str))
_PATH = Parameter("the path of a file", lambda value: isinstance(value, str | os.PathLike))

PARAMETERS = {
    # Settings of a run; what is not here is checked by the room that reads it.
    "search": _word(SEARCHES),
    "boundary": _or(
        _word(BOUNDARY), ", or a function f(source, target, candidates) -> members", _is_called
    ),
    "information": _or(
        _word(("auto", *KINDS)),
        ", or a tamis.Source, or a function of a table that gives one",
        lambda value: isinstance(value, Source) or _is_called(value),
    ),
    "backward": _word(BACKWARD),
    "missing": _word(MISSING),
    "units": _word(UNITS),
    "refine": _FLAG,
    "max_boundary": _none_or(_whole(0, 2**63 - 1)),
    "look_ahead": Parameter(
        "1 (single candidates) or the size of the largest sets tried where no single one passes, "
        f"up to {constants.largest_set}",
        lambda value: value is None or (is_whole(value) and 1 <= value <= constants.largest_set),
    ),
    # Parameters of methods.
    "n": _whole(1, MOST_REPEATS),
    "n_simulations": _whole(1, MOST_REPEATS),
    "seed": _whole(0),
    "most": _whole(0, 2**63 - 1),
    "threshold": Parameter(
        "a share above 0 and up to 1", lambda value: is_number(value, 0, 1) and value > 0
    ),
    "equivalent_sample_size": Parameter(
        "a number from 0 on", lambda value: is_number(value, 0)
    ),
    "scheme": Parameter(
        "'half' (of the rows, none twice) or 'rows' (as many as there are, with replacement)",
        lambda value: isinstance(value, str) and value in SCHEMES,
    ),
    "conditions": Parameter(
        "'quick', 'all' or False",
        lambda value: isinstance(value, bool) or (isinstance(value, str) and value in CONDITIONS),
    ),
    "resume": Parameter(_PATH.wanted, lambda value: value is None or _PATH.fits(value)),
    "path": _PATH,
    "progress": _none_or(_FUNCTION),
    "quick": _FLAG,
    "fitted": _FLAG,
    "command": _none_or(_TEXT),
    "ax": _none_or(_made_by("matplotlib axes", "matplotlib.axes", "Axes")),
    "result": _made_by("a result, such as TAM.result_", "tamis.result.model", "Result"),
    "network": _none_or(
        Parameter(
            "a fitted network, such as TAM.network_",
            _is_network,
        )
    ),
    "recovery": _none_or(
        _made_by(
            "what recovery_check() returns", "tamis.identifiability.recovery", "RecoveryCheck"
        )
    ),
}  # fmt: skip
"""The parameters by name: one name means one thing wherever it is public."""
