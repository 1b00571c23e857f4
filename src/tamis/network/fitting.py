"""The laws of a given graph, fitted to rows: tables of counts, linear regressions, log odds.

Numbers have a linear regression in every cell of their parents' levels that has rows enough, and
that of all rows elsewhere. Levels that depend on numbers have a multinomial logistic regression.
Both are in float64 to convergence, for people to read: the regressions of ``information/`` are
single-precision loops for searches, in a layer above this one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from tamis.errors import DataError, SettingError
from tamis.network.laws import (
    CellLaw,
    Floats,
    Ints,
    LogitLaw,
    Regression,
    Values,
    Variable,
    cells_of,
    main_features,
    origins_of,
)
from tamis.network.parts import (
    MOST_CELLS,
    MOST_PARENTS,
    Parts,
    arrows,
    find_cycle,
    flat_index,
)
from tamis.plugins import is_number, shortened
from tamis.tables import Table
from tamis.tables.moments import is_resolved

if TYPE_CHECKING:
    Graph = nx.DiGraph[Any] | Mapping[str, Iterable[str]]


def fit_tables(
    graph: Graph, table: Table, prior: float, equivalent_sample_size: float | None
) -> Parts:
    """The network over the nodes of the graph, in the order of the table's columns."""
    _check_priors(prior, equivalent_sample_size)
    chosen, parents = named_parents(graph, table)
    arities = [len(labels) for labels in chosen.levels]
    _check_size(chosen.names, parents, arities)
    tables = tuple(
        _conditional(chosen.codes, (*parents[k], k), arities, prior, equivalent_sample_size)
        for k in range(chosen.n_variables)
    )
    return Parts(chosen.names, chosen.levels, parents, tables)


def named_parents(graph: Graph, table: Table) -> tuple[Table, tuple[tuple[int, ...], ...]]:
    """The columns that are nodes of the graph, in the order of the table, and their parents."""
    wanted = _parents_by_name(graph, table.names)
    chosen = table.select([k for k, name in enumerate(table.names) if name in wanted])
    return chosen, _positions(wanted, chosen.names)


def conditional_table(
    own: Variable,
    parents: Sequence[Variable],
    codes: NDArray[np.int64],
    given: Sequence[NDArray[Any]],
    equivalent_sample_size: float,
) -> Floats:
    """The table of one variable given others of levels, from their codes."""
    arities = [len(one.levels) for one in (*parents, own)]
    names = [one.name for one in (*parents, own)]
    family = tuple(range(len(arities)))
    _check_size(names, [()] * len(parents) + [family[:-1]], arities)
    rows = np.array([*given, codes], dtype=np.int64)
    return _conditional(rows, family, arities, 0.0, equivalent_sample_size)


def _conditional(
    codes: NDArray[np.integer],
    family: tuple[int, ...],
    arities: Sequence[int],
    prior: float,
    equivalent_sample_size: float | None,
) -> Floats:
    shape = tuple(arities[k] for k in family)
    cells = math.prod(shape)
    if equivalent_sample_size is not None:
        prior = equivalent_sample_size / cells
    counts = np.bincount(flat_index(codes, family, arities), minlength=cells)
    rows = counts.reshape(-1, shape[-1]) + float(prior)
    total = rows.sum(axis=1, keepdims=True)
    # A configuration that was never seen, without a prior, says nothing: all levels alike.
    uniform = np.full_like(rows, 1.0 / shape[-1])
    np.divide(rows, total, out=uniform, where=total > 0)
    return uniform.reshape(shape)


def _parents_by_name(graph: Graph, columns: Sequence[str]) -> dict[str, list[str]]:
    """The parents of every node; those of a networkx graph in the order of the columns."""
    if isinstance(graph, nx.DiGraph) and not graph.is_multigraph():
        parents = {node: list(graph.predecessors(node)) for node in graph.nodes}
    elif isinstance(graph, Mapping):
        parents = {child: _parent_names(child, given) for child, given in graph.items()}
        parents = {name: [] for given in parents.values() for name in given} | parents
    else:
        raise SettingError(
            "graph must be a networkx.DiGraph or a mapping from names to lists of parents, "
            f"not {type(graph).__name__}"
        )
    _check_columns(parents, columns)
    if isinstance(graph, nx.DiGraph):
        place = {name: k for k, name in enumerate(columns)}
        return {child: sorted(given, key=place.__getitem__) for child, given in parents.items()}
    return parents


def _parent_names(child: object, given: object) -> list[str]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise SettingError(
            f"the parents of {child!r} must be a list of names, not {given!r}; "
            "write [] for a variable without parents"
        )
    names = list(given)
    if len(set(names)) < len(names):
        raise DataError(f"A parent of {child!r} is named twice: {names!r}.")
    return names


def _check_columns(parents: Mapping[str, object], columns: Sequence[str]) -> None:
    if not parents:
        raise DataError("The graph has no nodes; a network needs at least one variable.")
    known = set(columns)
    unknown = [node for node in parents if node not in known]
    if unknown:
        raise DataError(
            f"The graph has a node {unknown[0]!r} that is not a column of the table. Rename or "
            "remove the node, or add the column."
        )


def _positions(
    wanted: Mapping[str, Sequence[str]], names: Sequence[str]
) -> tuple[tuple[int, ...], ...]:
    place = {name: k for k, name in enumerate(names)}
    parents = tuple(tuple(place[parent] for parent in wanted[name]) for name in names)
    cycle = find_cycle(names, parents)
    if cycle:
        raise DataError(
            f"The graph has a cycle: {arrows(cycle)}. Only a graph without cycles has tables."
        )
    return parents


def _check_size(
    names: Sequence[str], parents: Sequence[Sequence[int]], arities: Sequence[int]
) -> None:
    sizes = [arities[k] * math.prod(arities[p] for p in given) for k, given in enumerate(parents)]
    largest = max(range(len(names)), key=sizes.__getitem__)
    if sum(sizes) > MOST_CELLS:
        raise DataError(
            f"The tables would hold {sum(sizes)} probabilities, {sizes[largest]} of them for "
            f"{names[largest]!r} with its {len(parents[largest])} parents; at most {MOST_CELLS} "
            "are fitted. Remove parents or group levels."
        )
    crowded = max(range(len(names)), key=lambda k: len(parents[k]))
    if len(parents[crowded]) > MOST_PARENTS:
        raise DataError(
            f"The variable {names[crowded]!r} has {len(parents[crowded])} parents; a table holds "
            f"at most {MOST_PARENTS}. Remove parents."
        )


def _check_priors(prior: float, equivalent_sample_size: float | None) -> None:
    check_amount("prior", prior)
    if equivalent_sample_size is None:
        return
    check_amount("equivalent_sample_size", equivalent_sample_size)
    if prior:
        raise SettingError(
            "give either prior, which is added to every cell, or equivalent_sample_size, which "
            "is spread over the cells of every table, not both"
        )


def check_amount(what: str, value: object) -> None:
    """Refuse what is no number from 0 on."""
    if not is_number(value, 0):
        raise SettingError(f"{what} must be a number from 0 on, not {shortened(value)}")


FEWEST = 10
"""A cell with fewer rows has no regression of its own, nor one with fewer than four more than it
has parents of numbers."""
SMALLEST_SCALE = 1e-6
"""Noise is at least this share of the column's standard deviation, so that no density is
infinite."""
ROWS_EACH, MOST_FEATURES, MOST_WEIGHTS = 10, 100, 400
"""Log odds have products of features if there are this many rows for each coefficient, at most
this many features, and at most this many weights in all."""
PER_ROW = 0.25
"""What one row at even odds adds to the curvature of the likelihood; the penalty on a squared
weight is this for each row of the equivalent sample size."""
LEAST_PENALTY = 1e-6
"""Keeps weights finite where a level is told perfectly and no prior is wanted."""
STEPS, CLOSE = 200, 1e-10


def fit_cells(
    own: Variable, parents: tuple[Variable, ...], values: Floats, given: Sequence[Values],
    prior: float,
) -> CellLaw:  # fmt: skip
    """The law of a number; ``prior`` rows of the variance that all rows have go to each cell."""
    numbers = [v for v, one in zip(given, parents, strict=True) if one.is_number]
    levels = [v for v, one in zip(given, parents, strict=True) if not one.is_number]
    shape = tuple(len(one.levels) for one in parents if not one.is_number)
    _require_room(own, shape)
    design = np.array(numbers, dtype=np.float64).reshape(len(numbers), len(values)).T
    means = design.mean(axis=0)
    smallest = SMALLEST_SCALE * (_deviation(values) or 1.0)
    pooled, _ = _regress(values, design, means, smallest)
    which, found = np.zeros(shape, dtype=np.int64), [pooled]
    for cell, rows in _full_cells(levels, shape, len(numbers)):
        one, df = _regress(values[rows], design[rows], means, smallest)
        scale = math.sqrt((df * one.scale**2 + prior * pooled.scale**2) / (df + prior))
        which.ravel()[cell] = len(found)
        found.append(replace(one, scale=max(scale, smallest)))
    of_parents = zip(given, parents, strict=True)
    deviations = [_deviation(v) if one.is_number else 0.0 for v, one in of_parents]
    return CellLaw(own, parents, which, tuple(found), (*deviations, _deviation(values)))


def _require_room(own: Variable, shape: tuple[int, ...]) -> None:
    cells = math.prod(shape)
    if cells > MOST_CELLS:
        raise DataError(
            f"The levels of the {len(shape)} parents of {own.name!r} make {cells} cells; at most "
            f"{MOST_CELLS} are fitted. Remove parents or group levels."
        )


def _full_cells(
    levels: Sequence[Values], shape: tuple[int, ...], q: int
) -> list[tuple[int, NDArray[np.intp]]]:
    """The cells with rows enough, and their rows."""
    if not levels:
        return []
    cell, _ = cells_of(levels, shape)
    order = np.argsort(cell, kind="stable")
    found, starts, counts = np.unique(cell[order], return_index=True, return_counts=True)
    return [
        (int(one), order[start : start + count])
        for one, start, count in zip(found, starts, counts, strict=True)
        if count >= max(FEWEST, q + 4)
    ]


def _regress(
    values: Floats, numbers: Floats, means: Floats, smallest: float
) -> tuple[Regression, int]:
    """Least squares, and the degrees of freedom that are left; what the rows do not determine
    is 0. ``means`` are those of the numbers in all rows."""
    n = len(values)
    own = numbers.mean(axis=0)
    lengths, left, singular, known = _decomposed(numbers, own)
    along = ((values - values.mean()) @ left) / singular
    slopes = (known.T @ along) / lengths
    rest = values - values.mean() - (numbers - own) @ slopes
    df = n - 1 - len(singular)
    variance = float(rest @ rest) / df if df else 0.0

    def error(direction: Floats, constant: float) -> float:
        """Of a sum of slopes, and of the mean with this variance."""
        scaled = direction / lengths
        seen = known @ scaled
        if ((scaled - seen @ known) ** 2).sum() > 1e-12 * (scaled**2).sum():
            return math.inf
        return math.sqrt(variance * (constant + float(((seen / singular) ** 2).sum())))

    units = np.eye(len(own))
    one = Regression(
        float(values.mean() - slopes @ own),
        tuple(slopes.tolist()),
        max(math.sqrt(variance), smallest),
        tuple(error(unit, 0.0) for unit in units),
        float(values.mean() + slopes @ (means - own)),
        error(means - own, 1 / n),
        n,
    )
    return one, df


def _decomposed(numbers: Floats, means: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """The lengths of columns less their means, and the singular values and vectors of these columns
    brought to one length, without those of 0."""
    centred = numbers - means
    lengths = np.sqrt((centred**2).sum(axis=0))
    # A constant is not exactly its own mean.
    constant = ~is_resolved(numbers.min(axis=0), numbers.max(axis=0))
    lengths = np.where(constant, 1.0, lengths)
    scaled = np.where(constant, 0.0, centred) / lengths
    left, singular, right = np.linalg.svd(scaled, full_matrices=False)
    speaks = singular > 1e-10 * singular.max(initial=0.0)
    return lengths, left[:, speaks], singular[speaks], right[speaks]


def _deviation(values: Values) -> float:
    """The standard deviation, as of a sample."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def fit_log_odds(
    own: Variable, parents: tuple[Variable, ...], codes: Ints, given: Sequence[Values],
    prior: float,
) -> LogitLaw:  # fmt: skip
    """The law of levels some of whose parents are numbers."""
    lines = np.array(main_features(parents, given))
    means, deviations = lines.mean(axis=1), lines.std(axis=1)
    deviations[deviations == 0] = 1.0
    features = (lines - means[:, np.newaxis]) / deviations[:, np.newaxis]
    pairs = _pairs(parents, len(codes), len(own.levels))
    every = np.array(
        [np.ones(len(codes)), *features, *(features[i] * features[j] for i, j in pairs)]
    )
    penalty = max(PER_ROW * prior, LEAST_PENALTY)
    weights, errors = _newton(own.name, every, codes, len(own.levels), penalty)
    return LogitLaw(own, parents, means, deviations, pairs, weights, errors)


def _pairs(parents: Sequence[Variable], n: int, arity: int) -> tuple[tuple[int, int], ...]:
    """The features that are multiplied: all but those of one parent of levels, if there is room."""
    origins = [place for place, _ in origins_of(parents)]
    m = len(origins)
    pairs = tuple(
        (i, j)
        for i in range(m)
        for j in range(i, m)
        if origins[i] != origins[j] or (i == j and parents[origins[i]].is_number)
    )
    width = 1 + m + len(pairs)
    room = min(n / ROWS_EACH, MOST_FEATURES, MOST_WEIGHTS / max(arity - 1, 1))
    return pairs if width <= room else ()


def _newton(
    name: str, features: Floats, codes: Ints, arity: int, penalty: float
) -> tuple[Floats, Floats]:
    """The weights of largest likelihood, less half the penalty times their squares, constants
    free; and their standard errors."""
    width = len(features)
    weights = np.zeros((arity - 1, width))
    if arity == 1:
        return weights, weights.copy()
    wanted = (codes == np.arange(1, arity)[:, np.newaxis]).astype(np.float64)
    ridge = np.tile(np.r_[LEAST_PENALTY, np.full(width - 1, penalty)], arity - 1)
    loss = _loss(features, weights, codes, ridge)
    for _ in range(STEPS):
        odds = np.exp(_odds(features, weights))
        p = odds[1:] / odds.sum(axis=0)
        gradient = ((p - wanted) @ features.T).ravel() + ridge * weights.ravel()
        curvature = _curvature(features, p) + np.diag(ridge)
        step = np.linalg.solve(curvature, gradient)
        if gradient @ step <= CLOSE:
            errors = np.sqrt(np.diag(np.linalg.inv(curvature)))
            return weights, errors.reshape(weights.shape)
        weights, loss = _lower(features, weights, codes, ridge, step, loss)
    raise DataError(
        f"The logistic regression of {name!r} did not converge in {STEPS} steps. Rescale its "
        "parents, or fit with a larger equivalent_sample_size."
    )


def _lower(
    features: Floats, weights: Floats, codes: Ints, ridge: Floats, step: Floats, loss: float
) -> tuple[Floats, float]:
    """A whole step, or the first half, quarter, … of it that does not raise the loss."""
    part = 1.0
    while True:
        tried = weights - part * step.reshape(weights.shape)
        found = _loss(features, tried, codes, ridge)
        if found <= loss or part < 1e-9:
            return tried, found
        part /= 2


def _odds(features: Floats, weights: Floats) -> Floats:
    odds = np.concatenate([np.zeros((1, features.shape[1])), weights @ features])
    return np.asarray(odds - odds.max(axis=0))


def _loss(features: Floats, weights: Floats, codes: Ints, ridge: Floats) -> float:
    odds = _odds(features, weights)
    fit = np.log(np.exp(odds).sum(axis=0)) - odds[codes, np.arange(len(codes))]
    return float(fit.sum() + 0.5 * (ridge * weights.ravel() ** 2).sum())


def _curvature(features: Floats, p: Floats) -> Floats:
    """The second derivatives, levels by levels."""
    k, width = len(p), len(features)
    found = np.empty((k, width, k, width))
    for a in range(k):
        for b in range(a, k):
            weight = p[a] * ((a == b) - p[b])
            found[a, :, b] = (features * weight) @ features.T
            found[b, :, a] = found[a, :, b].T
    return found.reshape(k * width, k * width)
