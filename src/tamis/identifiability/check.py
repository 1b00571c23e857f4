"""`tamis.check`: is this network identifiable, by how much, and with how many rows?"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from tamis.errors import SettingError
from tamis.identifiability.conditions import (
    Condition,
    directed_paths,
    equal_entropy,
    faithful,
    minimality,
    nondegeneracy,
    polyforest,
    positivity,
)
from tamis.identifiability.gaps import find_gaps, rows_needed
from tamis.identifiability.guarantees import (
    PRINTED,
    WITH_PPS,
    WITHOUT_PPS,
    SearchVerdict,
    as_printed,
    guaranteed,
    guaranteed_without_pps,
    recovered,
    searched,
)
from tamis.identifiability.known import Known
from tamis.identifiability.pps_condition import (
    Selection,
    Unselected,
    all_selections,
    pps_condition,
)
from tamis.identifiability.report import Check
from tamis.identifiability.unequal_entropy import (
    Place,
    all_places,
    main_conditions,
    unequal_entropy,
)
from tamis.network import BayesianNetwork, GaussianNetwork
from tamis.parameters import require
from tamis.plugins import is_number

Progress = Callable[[str, int, int], None]
"""Called with what is being computed, how much of it is done, and how much there is."""
Item = TypeVar("Item")

ORDER = (
    "C1", "C2", "main", "U1", "U2", "general", "C3", "unequal", "PPS", "minimal", "positivity",
    "nondegeneracy", "polyforest", "faithful",
)  # fmt: skip
"""The conditions in the order they are shown."""
LEFT_OUT = "left out of a quick check."


def check(
    network: BayesianNetwork | GaussianNetwork | str | os.PathLike[str],
    *,
    quick: bool = False,
    epsilon: float = 0.05,
    memory_limit: int | None = None,
    progress: Progress | None = None,
) -> Check:
    """Check which conditions of the paper a known network satisfies, and what follows.

    Parameters
    ----------
    network : BayesianNetwork, GaussianNetwork, str or path
        A network whose variables all have levels or are all numbers, or the path of a BIF file. Of
        numbers the entropies are differential ones, which depend on units.
    quick : bool
        Whether to leave out what takes long on networks with dozens of nodes: the PPS condition,
        faithfulness and the searches.
    epsilon : float
        The probability of failure that the theorems' sample sizes allow.
    memory_limit : int or None
        Whatever needs a table of more bytes is left undecided, and named; None is 1 GiB.
    progress : callable or None
        Called with what is being computed, how much of it is done, and how much there is.

    Returns
    -------
    Check
        Print it.

    Examples
    --------
    >>> import tamis
    >>> print(tamis.check(tamis.BayesianNetwork.example("orchard"), quick=True).identified)
    True
    """
    require(quick=quick, progress=progress)
    _require_settings(epsilon, memory_limit)
    if not isinstance(network, BayesianNetwork | GaussianNetwork):
        network = BayesianNetwork.read(network)
    known = Known(network, memory_limit)
    places = list(_watched("C1 and C2", all_places(known), sum(1 for _ in known.pairs()), progress))
    selections = _selections(known, quick, progress)
    by_key = {
        condition.key: condition for condition in _conditions(known, places, selections, quick)
    }
    gaps = find_gaps(known, places, selections)
    found = _searches(known, places, selections, quick, progress)
    return Check(
        names=known.names,
        n_edges=known.graph.number_of_edges(),
        layers=tuple(known.called(layer) for layer in known.layers),
        conditions={key: by_key[key] for key in ORDER},
        searches=found["pps"],
        without_pps=found["none"],
        printed=found["printed"],
        gaps=gaps,
        rows=rows_needed(
            known,
            gaps,
            _largest_boundary(selections),
            minimal=by_key["minimal"].holds,
            masked=found["pps"]["node"].guaranteed,
            epsilon=epsilon,
        ),
        epsilon=epsilon,
        paths=directed_paths(known),
    )


def _require_settings(epsilon: object, memory_limit: object) -> None:
    if not is_number(epsilon) or not 0 < epsilon < 1:
        raise SettingError(f"epsilon must be a number between 0 and 1, not {epsilon!r}")
    if memory_limit is not None and not is_number(memory_limit, 1, math.inf):
        raise SettingError(f"memory_limit must be a number of bytes, not {memory_limit!r}")


def _largest_boundary(selections: Sequence[Selection | Unselected]) -> int | None:
    """The paper's M, if all boundaries are known."""
    if any(isinstance(one, Unselected) for one in selections):
        return None
    return max((len(one.boundary) for one in selections if isinstance(one, Selection)), default=0)


def _selections(
    known: Known, quick: bool, progress: Progress | None
) -> list[Selection | Unselected]:
    if quick:
        return [Unselected(k, 1, LEFT_OUT) for k in known.beyond(known.canonical[1])]
    found = all_selections(known)
    total = sum(len(known.beyond(A)) for A in known.canonical[1:-1])
    return list(_watched("the PPS condition", found, total, progress))


def _conditions(
    known: Known,
    places: Sequence[Place],
    selections: Sequence[Selection | Unselected],
    quick: bool,
) -> list[Condition]:
    return [
        *main_conditions(known, places),
        equal_entropy(known),
        unequal_entropy(known),
        pps_condition(known, selections),
        positivity(known),
        minimality(known),
        nondegeneracy(known),
        polyforest(known),
        faithful(known, LEFT_OUT if quick else ""),
    ]


def _searches(
    known: Known,
    places: Sequence[Place],
    selections: Sequence[Selection | Unselected],
    quick: bool,
    progress: Progress | None,
) -> dict[str, dict[str, SearchVerdict]]:
    """The searches with PPS, those without it, and the algorithms as printed."""
    kinds = [
        *(("pps", name, name, "pps") for name in WITH_PPS),
        *(("none", name, name, "none") for name in WITHOUT_PPS),
        *(("printed", name, "node", boundary) for name, boundary in PRINTED.items()),
    ]
    found: dict[str, dict[str, SearchVerdict]] = {"pps": {}, "none": {}, "printed": {}}
    if quick:
        for group, name, search, boundary in kinds:
            found[group][name] = SearchVerdict(search, boundary, None, None, None)
        return found
    verdicts = {
        "pps": guaranteed(known, places, selections),
        "none": guaranteed_without_pps(known, places),
    }
    for group, name, search, boundary in _watched("the searches", kinds, len(kinds), progress):
        learner = as_printed(name) if group == "printed" else searched(name, boundary)
        found[group][name] = SearchVerdict(
            search, boundary, verdicts[boundary][search], *recovered(known, learner)
        )
    return found


def _watched(
    what: str, items: Iterable[Item], total: int, progress: Progress | None
) -> Iterator[Item]:
    """Yield the items, and report progress after each."""
    for done, item in enumerate(items, start=1):
        yield item
        if progress is not None:
            progress(what, done, total)
