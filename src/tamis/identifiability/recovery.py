"""The empirical answer: tables are drawn from a network and learned, to see what comes back.

The recovery check of a learned model asks: if the model were the truth, would it be found again?
The network of the learned graph is fitted, the conditions are checked on it where it has tables,
tables of the same size are drawn from it and learned anew. A graph that does not come back from
its own data was not within reach of these rows; one that does come back is plausible, not proven:
another graph may fit as well and come back as surely.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tamis.atomic import check_place, write_files
from tamis.errors import SettingError
from tamis.handover import fitted_network
from tamis.identifiability.check import check
from tamis.identifiability.report import Check
from tamis.learning import learn
from tamis.metrics import Edge, edge_distance
from tamis.network import BayesianNetwork, GaussianNetwork, Network
from tamis.parameters import require
from tamis.plugins import is_whole
from tamis.progress import showing
from tamis.result import Result, show
from tamis.settings import Settings
from tamis.tables import Label, Table
from tamis.tables.table import ColumnKind

ROWS = (100, 300, 1_000, 3_000, 10_000, 30_000)
"""The sample sizes that are tried unless others are asked for."""

Progress = Callable[[int, int], None]
"""Called with the number of tables learned so far and the number of all."""


@dataclass(frozen=True)
class Point:
    """What came back from tables of one size."""

    rows: int
    tables: int
    recovered: float
    """The share of tables whose whole graph came back."""
    low: float
    high: float
    """A 95% interval for that share (Wilson)."""
    distance: float
    """The mean structural Hamming distance."""
    skeleton: float
    """The mean number of pairs that are joined in one graph and not in the other."""

    def to_dict(self) -> dict[str, float]:
        """Convert it to what JSON can hold."""
        return asdict(self)


@dataclass(frozen=True, repr=False)
class Simulation:
    """The points, the search that was tried, and the seed that draws the same tables again."""

    search: str
    seed: int
    points: tuple[Point, ...]

    def __repr__(self) -> str:
        sizes = ", ".join(f"{one.recovered:.0%} of {one.rows:,} rows" for one in self.points[:8])
        return f"<Simulation with search {self.search!r}: whole graphs back from {sizes}>"

    def to_dict(self) -> dict[str, object]:
        """Convert it to what JSON can hold."""
        return {
            "search": self.search,
            "seed": self.seed,
            "points": [point.to_dict() for point in self.points],
        }

    def save_plot(self, path: str) -> None:
        """Draw recovery and distance against rows (.png, .svg or .pdf); needs matplotlib."""
        from tamis.drawing.pictures import ENDINGS, rendered, require_matplotlib

        ending = next((ending for ending in ENDINGS if path.endswith(ending)), None)
        if ending is None:
            raise SettingError(f"a plot must end in {' or '.join(ENDINGS)}, not {path!r}")
        check_place(path)
        require_matplotlib()
        from matplotlib.figure import Figure

        rows = [point.rows for point in self.points]
        figure = Figure(figsize=(8, 3.2), layout="constrained")
        left, right = figure.subplots(1, 2)
        left.fill_between(
            rows,
            [point.low for point in self.points],
            [point.high for point in self.points],
            alpha=0.2,
            linewidth=0,
            label="95% interval",
        )
        left.plot(rows, [point.recovered for point in self.points], "o-")
        left.set(ylim=(-0.03, 1.03), ylabel="share of graphs recovered exactly")
        left.legend(loc="best", frameon=False)
        right.plot(rows, [point.distance for point in self.points], "o-", label="edges (SHD)")
        right.plot(rows, [point.skeleton for point in self.points], "s--", label="skeleton only")
        right.set(ylabel="mean distance")
        right.set_ylim(bottom=0)
        right.legend(loc="best", frameon=False)
        for axis in (left, right):
            axis.set(xscale="log", xlabel="rows")
            axis.grid(alpha=0.3)
        figure.suptitle(f"search {self.search}, {self.points[0].tables} tables a size")
        write_files({path: rendered(figure, ending)})


def simulate(
    network: BayesianNetwork,
    settings: Settings,
    *,
    rows: Sequence[int] = ROWS,
    repeats: int = 20,
    seed: int = 1,
    progress: Progress | None = None,
) -> Simulation:
    """Probability of exact recovery and expected distance against the number of rows."""
    if not isinstance(rows, list | tuple) or not rows:
        raise SettingError(f"rows must be a list of numbers of rows, not {rows!r}")
    sizes = [whole_number("rows", n, least=1) for n in rows]
    repeats = whole_number("repeats", repeats, least=1)
    seed = whole_number("seed", seed, least=0)
    true = set(network.graph.edges)
    points = []
    for place, n in enumerate(sizes):
        learned = []
        for repeat in range(repeats):
            table = sampled_table(network, n, seed_of(seed, n, repeat))
            learned.append(relearn(table, settings))
            if progress is not None:
                progress(place * repeats + repeat + 1, len(sizes) * repeats)
        points.append(_point(n, learned, true))
    return Simulation(settings.search, seed, tuple(points))


def seed_of(seed: int, rows: int, repeat: int) -> int:
    """A seed for each table, the same on every machine."""
    return int(np.random.SeedSequence([seed, rows, repeat]).generate_state(1, np.uint64)[0])


def relearn(table: Table, settings: Settings) -> set[Edge]:
    """The edges learned from one table."""
    result = learn(table, settings, price_knowledge=False)
    return {(edge.parent, edge.child) for edge in result.edges}


def sampled_table(
    network: Network,
    n: int,
    seed: int,
    *,
    kinds: Mapping[str, ColumnKind] | None = None,
    told: frozenset[str] = frozenset(),
) -> Table:
    """Rows of a network as a table; levels that happen not to occur are left out of it.

    Columns of levels have the ``kinds`` that they had in the table that was learned from, and those
    that a user has ``told`` stay so.
    """
    levels: list[tuple[Label, ...]] = []
    codes: list[NDArray[np.int64]] = []
    continuous: dict[int, NDArray[np.float64]] = {}
    for k, drawn in enumerate(network.sample_codes(n, seed)):
        if not network.levels[k]:
            continuous[k] = drawn
            levels.append(())
            codes.append(np.zeros(n, dtype=np.int64))
            continue
        seen, own = np.unique(drawn, return_inverse=True)
        levels.append(tuple(network.levels[k][int(code)] for code in seen))
        codes.append(own)
    widest = max(1, *map(len, levels))
    return Table(
        network.names,
        tuple(levels),
        np.array(codes, dtype=np.min_scalar_type(widest)),
        continuous=continuous,
        kinds=tuple(
            "number" if k in continuous else (kinds or {}).get(name, "category")
            for k, name in enumerate(network.names)
        ),
        told=frozenset(k for k, name in enumerate(network.names) if name in told),
    )


def returned(graphs: Sequence[set[Edge]]) -> dict[Edge, float]:
    """In which share of the graphs each edge is."""
    counts = Counter(edge for edges in graphs for edge in edges)
    return {edge: count / len(graphs) for edge, count in sorted(counts.items())}


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """A 95% interval for a probability, from how often something happened."""
    z = 1.959963984540054
    share = successes / trials
    middle = share + z * z / (2 * trials)
    reach = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    # Rounding must not put the share itself outside.
    return min(share, max(0.0, (middle - reach) / scale)), max(share, (middle + reach) / scale)


def _point(n: int, learned: Sequence[set[Edge]], true: set[Edge]) -> Point:
    distances = [edge_distance(edges, true) for edges in learned]
    skeletons = [len(_joined(edges) ^ _joined(true)) for edges in learned]
    exact = distances.count(0)
    return Point(
        n,
        len(learned),
        exact / len(learned),
        *wilson(exact, len(learned)),
        float(np.mean(distances)),
        float(np.mean(skeletons)),
    )


def _joined(edges: set[Edge]) -> set[frozenset[str]]:
    return {frozenset(edge) for edge in edges}


def whole_number(parameter: str, value: object, *, least: int) -> int:
    """The value, if it is a whole number that is large enough."""
    if not is_whole(value) or value < least:
        raise SettingError(f"{parameter} must be a whole number, {least} or more, not {value!r}")
    return int(value)


Conditions = Literal["quick", "all"]


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
        from tamis.identifiability.report import recovery_in_html

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
