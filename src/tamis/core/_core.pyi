from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Codes = NDArray[np.uint8] | NDArray[np.uint16]
Floats = NDArray[np.float64]
Sets = Sequence[Sequence[Sequence[int]]]
Ask = Callable[[int, list[int], list[int] | None], ArrayLike]

class Judge:
    def family(self, target: int, given: Iterable[int]) -> tuple[float, float]: ...
    def scores_with(
        self, target: int, given: Iterable[int], candidates: Sequence[int]
    ) -> Floats: ...

class Table(Judge):
    def __init__(
        self,
        columns: Iterable[Codes],
        levels: Iterable[int],
        weights: ArrayLike | None = None,
        edge_price: float = 0.0,
    ) -> None: ...
    def family_of(
        self, cells: Iterable[int], strata: Iterable[int], n_states: float, n_levels: int
    ) -> tuple[float, float]: ...
    def interactions(
        self, most_members: int = 6, most_words: float = 2e7
    ) -> list[list[list[int]]]: ...

class Moments(Judge):
    def __init__(self, covariance: ArrayLike, n_rows: float, price: float) -> None: ...

class Asked(Judge):
    def __init__(self, n_nodes: int, n_rows: float, ask: Ask) -> None: ...

class Dag(NamedTuple):
    order: list[int]
    parents: list[list[int]]
    scores: list[float]
    noise: list[float]

class OrderSearch:
    n_starts: int
    def __init__(
        self,
        judge: Judge,
        required: Sequence[Sequence[int]] = (),
        forbidden: Sequence[Sequence[int]] = (),
        interactions: Sets = (),
        seed: int = 0,
        most_parents: int | None = None,
    ) -> None: ...
    def first(self) -> Dag: ...
    def best(self) -> Dag: ...
    def loss_without(self, parent: int, child: int) -> float: ...
