"""The empirical answer: draw tables from a known network, learn, and see what comes back."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from tamis.errors import SettingError
from tamis.learning import learn
from tamis.metrics import Edge, edge_distance
from tamis.network import BayesianNetwork, Network
from tamis.plugins import is_whole
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
        from tamis.identifiability.plot import draw

        draw(self, path)


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
