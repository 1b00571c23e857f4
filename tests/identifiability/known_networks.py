"""Networks for the tests of the conditions: random ones, and one for each way to fail."""

from __future__ import annotations

import numpy as np

import naive
from tamis.network import BayesianNetwork, GaussianNetwork
from tamis.network.laws import CellLaw, Regression, Variable


def network_of(parents: naive.Parents, tables: dict[int, np.ndarray]) -> BayesianNetwork:
    d = len(parents)
    return BayesianNetwork(
        tuple(f"x{k}" for k in range(d)),
        tuple(tuple(f"l{v}" for v in range(tables[k].shape[-1])) for k in range(d)),
        tuple(tuple(parents[k]) for k in range(d)),
        tuple(tables[k] for k in range(d)),
    )


def random_network(
    seed: int, d: int, **options
) -> tuple[BayesianNetwork, naive.Parents, np.ndarray]:
    parents, tables, joint = naive.random_network(np.random.default_rng(seed), d, **options)
    return network_of(parents, tables), parents, joint


def binary(p: float) -> list[float]:
    return [1 - p, p]


def parity_polytree() -> BayesianNetwork:
    """A polytree, every cell positive and every edge needed, in which no single parent of the
    last node informs about it: it is the noisy parity of two fair coins."""
    parents = {0: (), 1: (), 2: (1,), 3: (0,), 4: (0, 2)}
    tables = {
        0: np.array(binary(0.5)),
        1: np.array(binary(0.5)),
        2: np.array([binary(0.3), binary(0.7)]),
        3: np.array([binary(0.2), binary(0.8)]),
        4: np.array([[binary(0.2), binary(0.8)], [binary(0.8), binary(0.2)]]),
    }
    return network_of(parents, tables)


def two_arrows() -> BayesianNetwork:
    """Two arrows side by side, all nodes equally uncertain given their parents (C3)."""
    turn = np.array([binary(0.2), binary(0.8)])
    tables = {0: np.array(binary(0.2)), 1: turn, 2: np.array(binary(0.2)), 3: turn}
    return network_of({0: (), 1: (0,), 2: (), 3: (2,)}, tables)


def superfluous_edge(chained: bool) -> BayesianNetwork:
    """x0 -> x2 <- x1, with x0 -> x1 or without, where x0 -> x2 makes no difference."""
    turn = np.array([binary(0.2), binary(0.7)])
    tables = {0: np.array(binary(0.3)), 1: np.array(binary(0.4)), 2: np.stack([turn, turn])}
    if chained:
        tables[1] = turn
    return network_of({0: (), 1: (0,) if chained else (), 2: (0, 1)}, tables)


ROWS = {
    2: [[0.8, 0.2], [0.2, 0.8], [0.5, 0.5], [1.0, 0.0], [0.0, 1.0], [0.9, 0.1]],
    3: [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.0]],
}


def coarse_network(seed: int, d: int) -> tuple[BayesianNetwork, naive.Parents, np.ndarray]:
    """A network whose rows come from a short list: zeros, certainties, ties, superfluous edges
    and constant nodes are common."""
    rng = np.random.default_rng(seed)
    place = rng.permutation(d).tolist()
    parents = {
        k: naive.ordered(p for p in place[:i] if rng.random() < 0.5) for i, k in enumerate(place)
    }
    arities = [int(r) for r in rng.choice([2, 2, 3], size=d)]
    lists = {r: [ROWS[r][i] for i in rng.choice(5, size=3, replace=False)] for r in ROWS}
    tables = {}
    for k in range(d):
        shape = tuple(arities[p] for p in parents[k])
        rows = [lists[arities[k]][i] for i in rng.integers(3, size=int(np.prod(shape)))]
        tables[k] = np.array(rows).reshape(*shape, arities[k])
    return network_of(parents, tables), parents, naive.joint_of(arities, parents, tables)


def parity_and_a_third() -> BayesianNetwork:
    """Condition 1 holds, and only the PPS condition fails: two of three parents are fair coins of
    which nothing but the parity matters."""
    table = np.zeros((2, 2, 2, 2))
    for a, b, c in np.ndindex(2, 2, 2):
        table[a, b, c] = binary(0.25 + 0.4 * (a ^ b) + 0.2 * c)
    tables = {
        0: np.array(binary(0.5)),
        1: np.array(binary(0.5)),
        2: np.array(binary(0.1)),
        3: table,
    }
    return network_of({0: (), 1: (), 2: (), 3: (0, 1, 2)}, tables)


def ordering_across_layers() -> BayesianNetwork:
    """Unequal entropy and C2 hold, C1 fails: against Lemma lem:uneq2main, because the ordering
    takes x1 of the second layer before x2 of the first."""
    table = np.array([[binary(0.02), binary(0.98)], [binary(0.05), binary(0.95)]])
    tables = {
        0: np.array(binary(0.02)),
        1: np.array([binary(0.1), binary(0.9)]),
        2: np.array(binary(0.3)),
        3: table,
    }
    return network_of({0: (), 1: (0,), 2: (), 3: (1, 2)}, tables)


def different_ancestors() -> BayesianNetwork:
    """C1 holds by one source and C2 by the other, so Condition 1 fails though both hold."""
    table = np.zeros((2, 2, 4, 2))
    for a, c, u in np.ndindex(2, 2, 4):
        table[a, c, u] = binary(0.15 + 0.25 * (a + c) + 0.05 * u)
    tables = {
        0: np.array(binary(0.1)),
        1: np.full(4, 0.25),
        2: np.array([binary(0.3), binary(0.6)]),
        3: np.array([binary(0.6), binary(0.3)]),
        4: table,
    }
    return network_of({0: (), 1: (), 2: (0,), 3: (0,), 4: (2, 3, 1)}, tables)


def against_the_main_theorem() -> BayesianNetwork:
    """Binary, positive, minimal; Condition 1 and the PPS condition hold, all gaps are positive; and
    masking with PPS fails. Given x1, which is all of x4's boundary in the first layer, x2 says
    nothing about x4; given x0 and x1, it does. So x4 enters the second layer beside its parent."""

    def table(ones: list[list[float]]) -> np.ndarray:
        return np.array([[binary(p) for p in row] for row in ones])

    tables = {
        0: np.array(binary(5 / 14)),
        1: np.array(binary(0.15)),
        2: table([[0.1, 5 / 6], [0.3, 0.25]]),
        3: table([[0.5, 0.2], [0.5, 0.9]]),
        4: table([[0.1, 0.5], [0.5, 0.1]]),
    }
    return network_of({0: (), 1: (), 2: (0, 1), 3: (0, 1), 4: (2, 3)}, tables)


def noisy_xor() -> BayesianNetwork:
    """The noisy exclusive or of two fair coins: a positive, minimal, binary polytree."""
    tables = {
        0: np.array(binary(0.5)),
        1: np.array(binary(0.5)),
        2: np.array([[binary(0.1), binary(0.9)], [binary(0.9), binary(0.1)]]),
    }
    return network_of({0: (), 1: (), 2: (0, 1)}, tables)


def silent_chain() -> BayesianNetwork:
    """x0 -> x1 -> x2 with three levels in the middle: x2 is independent of x0."""
    tables = {
        0: np.array(binary(0.5)),
        1: np.array([[0.5, 0.25, 0.25], [0.3, 0.35, 0.35]]),
        2: np.array([binary(0.5), binary(0.2), binary(0.8)]),
    }
    return network_of({0: (), 1: (0,), 2: (1,)}, tables)


def copied_parent() -> BayesianNetwork:
    """x1 is x0 and a coin, so it tells x0 exactly and stands in for it as a parent of x3."""
    tables = {
        0: np.array(binary(0.1)),
        1: np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]]),
        2: np.array([binary(0.2), binary(0.7)]),
        3: np.array([[binary(0.3), binary(0.6)], [binary(0.5), binary(0.8)]]),
    }
    return network_of({0: (), 1: (0,), 2: (0,), 3: (0, 2)}, tables)


def mod_diamond() -> BayesianNetwork:
    """The paper's MOD model on a diamond: x3 = x1 + x2 + noise, in which x0 cancels."""
    turn = np.array([binary(0.8), binary(0.2)])
    tables = {0: np.array(binary(0.8)), 1: turn, 2: turn, 3: np.stack([turn, turn[::-1]])}
    return network_of({0: (), 1: (0,), 2: (0,), 3: (1, 2)}, tables)


def linear_network(
    weights: dict[str, dict[str, float]], variances: dict[str, float]
) -> GaussianNetwork:
    """A linear Gaussian network with mean 0: the weights of the parents of each node."""
    names = tuple(variances)
    laws = []
    for name in names:
        slopes = tuple(weights[name].values())
        own, among = Variable(name, ()), tuple(Variable(p, ()) for p in weights[name])
        unknown = (np.inf,) * len(slopes)
        one = Regression(0.0, slopes, variances[name] ** 0.5, unknown, 0.0, np.inf, 0)
        laws.append(CellLaw(own, among, np.zeros((), dtype=np.int64), (one,), (1.0,) * len(among)))
    parents = tuple(tuple(names.index(p) for p in weights[name]) for name in names)
    return GaussianNetwork(names, ((),) * len(names), parents, tuple(laws))


def unfaithful_gaussian(half: float = 0.5) -> GaussianNetwork:
    """The example of app. C.7; ``half`` is the variance that N(0, 1/2) stands for."""
    weights = {"W": {}, "Z": {}, "X": {"W": 1.0, "Z": 0.5}, "Y": {"X": 1.0, "Z": -0.5}}
    return linear_network(weights, {"W": half, "Z": 1.0, "X": half, "Y": 1.0})
