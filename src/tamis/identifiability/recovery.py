"""The recovery check of a learned model: if the model were the truth, would it be found again?

The network of the learned graph is fitted, the conditions are checked on it where it has tables,
tables of the same size are drawn from it and learned anew. A graph that does not come back from
its own data was not within reach of these rows; one that does come back is plausible, not proven:
another graph may fit as well and come back as surely.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tamis.handover import fitted_network
from tamis.identifiability.check import check
from tamis.identifiability.report import Check
from tamis.identifiability.simulation import (
    relearn,
    returned,
    sampled_table,
    seed_of,
    wilson,
)
from tamis.metrics import Edge, edge_distance
from tamis.network import BayesianNetwork, GaussianNetwork, Network
from tamis.parameters import require
from tamis.progress import showing
from tamis.result import Result, show
from tamis.settings import Settings
from tamis.tables import Table

Conditions = Literal["quick", "all"]
Progress = Callable[[int, int], None]
"""Called with the number of tables learned so far and the number of all."""


@dataclass(frozen=True, repr=False)
class RecoveryCheck:
    """How often a learned model comes back from tables drawn from itself.

    This is plausibility, not proof. `tamis.TAM.recovery_check` makes it.

    Attributes
    ----------
    n_rows : int
        The rows of each simulated table.
    n_simulations : int
        The number of simulated tables.
    seed : int
        The seed that they were drawn with.
    recovered : float
        The share of tables from which the whole graph came back.
    low, high : float
        A 95% interval for that share (Wilson).
    edges : dict from (parent, child) to float
        For each learned edge, how often it came back as it is.
    turned : dict from (parent, child) to float
        For each learned edge, how often it came back the other way round.
    others : dict from (parent, child) to float
        Edges that are not in the model but were learned, and how often.
    distance : float
        The mean structural Hamming distance between the model and what came back.
    network : Network
        The fitted model that the tables were drawn from.
    check : Check or None
        The paper's conditions on that network; None if they were not asked for, or if some columns
        are numbers, since the conditions are checked on tables of probabilities.

    Examples
    --------
    >>> import tamis
    >>> orchard = tamis.BayesianNetwork.example("orchard").sample(500, seed=1)
    >>> found = tamis.TAM(search="node").fit(orchard).recovery_check(2, conditions=False)
    >>> found.low <= found.recovered <= found.high
    True
    """

    n_rows: int
    n_simulations: int
    seed: int
    recovered: float
    low: float
    high: float
    edges: dict[Edge, float]
    turned: dict[Edge, float]
    others: dict[Edge, float]
    distance: float
    network: Network
    check: Check | None

    def to_dict(self) -> dict[str, object]:
        """Convert everything but the network to what JSON can hold.

        Returns
        -------
        dict
            The shares, the interval and the check.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20}
        >>> found = tamis.TAM().fit(rows).recovery_check(2, conditions=False)
        >>> found.to_dict()["n_simulations"]
        2
        """
        return {
            "format": "tamis recovery check",
            "version": 1,
            "n_rows": self.n_rows,
            "n_simulations": self.n_simulations,
            "seed": self.seed,
            "recovered": self.recovered,
            "interval": [self.low, self.high],
            "distance": self.distance,
            "edges": _listed(self.edges),
            "turned": _listed(self.turned),
            "others": _listed(self.others),
            "check": None if self.check is None else self.check.to_dict(),
        }

    def __repr__(self) -> str:
        return (
            f"<RecoveryCheck: the whole graph came back from {self.recovered:.0%} of "
            f"{self.n_simulations} tables of {self.n_rows} rows>"
        )

    def _repr_html_(self) -> str:
        from tamis.identifiability.notebook import recovery_in_html

        return recovery_in_html(self)

    def __str__(self) -> str:
        lines = [
            "Plausibility, not proof: what comes back from tables drawn from the model itself.",
            f"The whole graph came back from {self.recovered:.0%} of {self.n_simulations} tables "
            f"of {self.n_rows} rows (95% interval {self.low:.0%} to {self.high:.0%}); "
            f"on average {self.distance:.2g} edges differed.",
        ]
        for (parent, child), share in sorted(self.edges.items(), key=lambda item: item[1]):
            turned = self.turned[parent, child]
            way = f", the other way round in {turned:.0%}" if turned else ""
            lines.append(f"  {show(parent)} -> {show(child)}: in {share:.0%}{way}")
        if isinstance(self.network, GaussianNetwork):
            lines.append(
                f"The tables were drawn from a {self.network.kind} network; the paper's conditions "
                "are checked on tables of levels only."
            )
        if self.check is not None:
            lines.append(f"The fitted network: {self.check.answer}")
        return "\n".join(lines)


def recovery_check(
    table: Table,
    result: Result,
    settings: Settings,
    *,
    n_simulations: int = 50,
    seed: int = 1,
    equivalent_sample_size: float = 1.0,
    conditions: Conditions | bool = "quick",
    progress: Progress | None = None,
) -> RecoveryCheck:
    """Fit, check, simulate and learn again; see the head of this file.

    Parameters
    ----------
    table, result, settings
        The rows, what was learned from them, and what was asked for.
    n_simulations : int
        How many tables are drawn and learned.
    seed : int
        The same seed draws the same tables on every machine.
    equivalent_sample_size : float
        Rows that the prior of the fitted network is worth, so that what was never seen is rare and
        not impossible.
    conditions : {"quick", "all", False}
        Which of the paper's conditions are checked where all columns have levels.
    progress : callable or None
        Called with the number of tables learned so far and of all.

    Returns
    -------
    RecoveryCheck
    """
    settings.require_renewable("recovery_check")
    require(
        n_simulations=n_simulations,
        seed=seed,
        equivalent_sample_size=equivalent_sample_size,
        conditions=conditions,
        progress=progress,
    )
    n_simulations, seed = int(n_simulations), int(seed)
    network = fitted_network(result, table, equivalent_sample_size=equivalent_sample_size)
    kinds = dict(zip(table.names, table.kinds, strict=True))
    told = frozenset(table.names[k] for k in table.told)
    graphs = []
    with showing("learning simulated tables", progress) as heard:
        for repeat in range(n_simulations):
            own = seed_of(seed, table.n_rows, repeat)
            drawn = sampled_table(network, table.n_rows, own, kinds=kinds, told=told)
            graphs.append(relearn(drawn, settings))
            if heard is not None:
                heard(repeat + 1, n_simulations)
    true = {(edge.parent, edge.child) for edge in result.edges}
    share = returned(graphs)
    distances = [edge_distance(edges, true) for edges in graphs]
    exact = distances.count(0)
    turned = {(child, parent) for parent, child in true}
    return RecoveryCheck(
        table.n_rows,
        n_simulations,
        seed,
        exact / n_simulations,
        *wilson(exact, n_simulations),
        edges={edge: share.get(edge, 0.0) for edge in sorted(true)},
        turned={(p, k): share.get((k, p), 0.0) for p, k in sorted(true)},
        others={edge: value for edge, value in share.items() if edge not in true | turned},
        distance=sum(distances) / n_simulations,
        network=network,
        check=_checked(network, conditions),
    )


def _checked(network: Network, wanted: Conditions | bool) -> Check | None:
    """The conditions, where they can be checked and are wanted; True is "quick"."""
    if wanted is False or not isinstance(network, BayesianNetwork):
        return None
    return check(network, quick=wanted != "all")


def _listed(edges: dict[Edge, float]) -> list[dict[str, object]]:
    return [{"parent": p, "child": k, "share": share} for (p, k), share in edges.items()]
