"""How well rows fit a network, and what brute force knows about one."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy import stats


def p_values(network, data):
    """Pearson's test of every row of every table that is met often enough."""
    found = []
    columns = [np.asarray(data[name]).astype(int) for name in network.names]
    for k, table in enumerate(network.tables):
        counts = np.zeros(table.shape, dtype=int)
        np.add.at(counts, tuple(columns[j] for j in (*network.parents[k], k)), 1)
        rows = zip(
            counts.reshape(-1, table.shape[-1]), table.reshape(-1, table.shape[-1]), strict=True
        )
        for seen, row in rows:
            possible = row > 0
            assert not seen[~possible].any()
            if possible.sum() > 1 and seen.sum() * row[possible].min() >= 5:
                expected = seen.sum() * row[possible]
                found.append(stats.chisquare(seen[possible], expected).pvalue)
    return np.array(found)


def fits(network, data):
    """Whether the rows may come from the network: the p-values are uniform, the least included."""
    found = p_values(network, data)
    assert len(found) > len(network.names) / 2
    uniform = stats.kstest(found, "uniform").pvalue > 0.001
    return bool(uniform and found.min() * len(found) > 0.001)


def even(counts, possible):
    """Whether things that were counted are equally likely, all ``possible`` of them."""
    assert len(counts) == possible
    return stats.chisquare(list(counts.values())).pvalue > 0.001


def joint(network):
    """The probability of every combination of levels, an axis a variable."""
    shape = [len(levels) for levels in network.levels]
    found = np.ones(shape)
    for cell in product(*map(range, shape)):
        for k, table in enumerate(network.tables):
            found[cell] *= table[tuple(cell[j] for j in (*network.parents[k], k))]
    return found


def mutual_information(network, one, other):
    """I(one ; other) in nats, from the joint distribution."""
    kept = (network.names.index(one), network.names.index(other))
    rest = tuple(k for k in range(len(network.names)) if k not in kept)
    pair = joint(network).sum(axis=rest)
    return stats.entropy(pair.ravel(), np.outer(pair.sum(axis=1), pair.sum(axis=0)).ravel())
