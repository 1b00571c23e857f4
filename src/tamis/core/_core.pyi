from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Codes = NDArray[np.uint8] | NDArray[np.uint16]
Sets = Sequence[Sequence[Sequence[int]]]

class Judge:
    def family(self, target: int, given: Iterable[int]) -> tuple[float, float]: ...
    def scores_with(
        self, target: int, given: Iterable[int], candidates: Sequence[int]
    ) -> NDArray[np.float64]: ...

class Table(Judge):
    def __init__(
        self,
        columns: Iterable[Codes],
        levels: Iterable[int],
        weights: ArrayLike | None = None,
        edge_price: float = 0.0,
    ) -> None: ...
    def interactions(
        self, most_members: int = 6, most_words: float = 2e7
    ) -> list[list[list[int]]]: ...

class OrderSearch:
    def __init__(
        self,
        judge: Judge,
        required: Sequence[Sequence[int]] = (),
        forbidden: Sequence[Sequence[int]] = (),
        interactions: Sets = (),
        evenness: float = 1.0,
        seed: int = 0,
    ) -> None: ...
    def best(self) -> tuple[list[int], list[list[int]], list[float], bool, int]: ...
    def loss_without(self, parent: int, child: int) -> float: ...
