"""Brute-force twins: the paper's definitions and algorithms, slow and obvious.

Nothing here comes from tamis. Equation, algorithm and condition names are those of the paper
(Gao and Aragam, 2021). Variables are positions 0..d-1, entropies are in nats, ``rows`` is a
list of tuples or a 2-D array of small integers, and a joint table is an array with one axis a
variable. Three shapes of function run through the file:

- ``H(target, given)`` and ``I(target, others, given)``, where ``others`` and ``given`` are
  sorted tuples, are all that the algorithms ask for (``from_rows`` and ``from_joint`` make
  them);
- ``decide(target, others, given, n_tests)`` says whether the target depends on the others,
  ``n_tests`` being the number of candidates of which the others are the best.

Sums use ``math.fsum``, which does not depend on the order of its terms: two columns with the
same counts get the same entropy to the last bit, and ties are ties.
"""
# ruff: noqa: E741, E743, N802 -- I, H and l are the paper's own symbols

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations

import numpy as np

Nodes = tuple[int, ...]
Entropy = Callable[[int, Nodes], float]
Gain = Callable[[int, Nodes, Nodes], float]
Decision = Callable[[int, Nodes, Nodes, int], bool]
Parents = dict[int, Nodes]
Score = Callable[[int, Nodes], float]


def subsets(nodes: Iterable[int]) -> list[Nodes]:
    """All sets of these nodes, the smallest first."""
    nodes = ordered(nodes)
    return [m for size in range(len(nodes) + 1) for m in combinations(nodes, size)]


def ordered(*groups: Iterable[int]) -> Nodes:
    """The union of some sets of variables, as a sorted tuple."""
    return tuple(sorted({int(k) for group in groups for k in group}))


# --- counts and entropies ------------------------------------------------------------------


def counts(rows, columns: Sequence[int]) -> Counter:
    """How often each combination of values occurs in these columns."""
    return Counter(tuple(int(row[k]) for k in columns) for row in rows)


def cells(rows, columns: Sequence[int]) -> int:
    """How many combinations could occur: the product of the observed arities."""
    return math.prod(len(counts(rows, [k])) for k in columns)


def plugin(table: Counter, cells: int) -> float:
    """- sum p ln p over the cells that occur."""
    n = sum(table.values())
    return math.fsum(-(c / n) * math.log(c / n) for c in table.values())


def miller_madow(table: Counter, cells: int) -> float:
    """The plug-in, with its bias of about (occupied cells - 1) / 2n added back."""
    return plugin(table, cells) + (len(table) - 1) / (2 * sum(table.values()))


def entropy(rows, columns: Sequence[int], estimator=plugin) -> float:
    """The joint entropy of some columns; that of no column is 0."""
    if not columns:
        return 0.0
    return estimator(counts(rows, columns), cells(rows, columns))


def from_rows(rows, estimator=plugin) -> tuple[Entropy, Gain]:
    """H and I of a table of rows."""

    @cache
    def joint_entropy(columns: Nodes) -> float:
        return entropy(rows, columns, estimator)

    return _from_joint_entropy(joint_entropy)


def exact_entropy(joint: np.ndarray, variables: Sequence[int]) -> float:
    """The joint entropy of some variables of a known distribution."""
    rest = tuple(axis for axis in range(joint.ndim) if axis not in variables)
    return math.fsum(-p * math.log(p) for p in joint.sum(axis=rest).ravel().tolist() if p > 0)


def from_joint(joint: np.ndarray) -> tuple[Entropy, Gain]:
    """H and I of a known distribution."""

    @cache
    def joint_entropy(variables: Nodes) -> float:
        return exact_entropy(joint, variables) if variables else 0.0

    return _from_joint_entropy(joint_entropy)


def from_covariance(covariance: np.ndarray) -> tuple[Entropy, Gain]:
    """H and I of Gaussian variables, from determinants."""

    @cache
    def joint_entropy(variables: Nodes) -> float:
        block = covariance[np.ix_(variables, variables)]
        constant = len(variables) * math.log(2 * math.pi * math.e)
        return (constant + math.log(np.linalg.det(block))) / 2

    return _from_joint_entropy(joint_entropy)


def _from_joint_entropy(joint_entropy: Callable[[Nodes], float]) -> tuple[Entropy, Gain]:
    def H(target: int, given: Nodes) -> float:
        return joint_entropy(ordered([target], given)) - joint_entropy(ordered(given))

    def I(target: int, others: Nodes, given: Nodes) -> float:
        return H(target, given) - H(target, ordered(given, others))

    return H, I


# --- tests of independence -----------------------------------------------------------------


def pearson(table: np.ndarray) -> float:
    """X2 = sum (seen - expected)^2 / expected of one table without empty lines."""
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return float(((table - expected) ** 2 / expected).sum())


def permutation_moments(table: np.ndarray) -> tuple[Fraction, Fraction]:
    """Mean and variance of X2 when the rows of one stratum are shuffled.

    In exact fractions, because whether the variance is 0 matters. It is when either side has
    one level or as many levels as rows, but also when, say, one side is 1 and N - 1 rows and
    the other is even: then X2 is the same wherever the single row goes.
    """
    a, b = ([int(m) for m in table.sum(axis=axis)] for axis in (1, 0))
    N, r, s = sum(a), len(a), len(b)
    if N < 2:
        return Fraction(0), Fraction(0)
    mean = Fraction(N * (r - 1) * (s - 1), N - 1)
    if N == 2:
        return mean, Fraction(0)
    v_r, v_s = (Fraction((N - q) * (q - 1), N - 1) for q in (r, s))
    w_r, w_s = ((N * sum(Fraction(1, x) for x in m) - len(m) ** 2) / (N - 2) for m in (a, b))
    variance = Fraction(N**2, N - 1) * w_r * w_s
    if N > 3:
        variance += Fraction(2 * N, N - 3) * (v_r - w_r) * (v_s - w_s)
    return mean, variance


def permutation_moments_by_enumeration(table: np.ndarray) -> tuple[float, float]:
    """The same two moments, over all N! shuffles of the rows of one stratum; N up to 7."""
    x = [i for i, j in np.ndindex(table.shape) for _ in range(table[i, j])]
    y = [j for i, j in np.ndindex(table.shape) for _ in range(table[i, j])]
    values = []
    for shuffled in permutations(x):
        shuffled_table = np.zeros(table.shape)
        for i, j in zip(shuffled, y, strict=True):
            shuffled_table[i, j] += 1
        values.append(pearson(shuffled_table))
    return float(np.mean(values)), float(np.var(values))


def strata_evidence(rows, k: int, others: int | Nodes, given) -> dict[str, float]:
    """All that a decision rule may know of the test of k against the others given S.

    A stratum in which every shuffle gives the same X2 has no variance and is left out of X2,
    its mean and its variance.
    """
    others = (others,) if isinstance(others, int) else others
    strata: dict[tuple, list] = {}
    for row in rows:
        z = tuple(int(row[c]) for c in given)
        strata.setdefault(z, []).append((int(row[k]), tuple(int(row[c]) for c in others)))
    evidence = dict.fromkeys(("plugin", "df", "pearson", "null_mean", "null_variance"), 0.0)
    for pairs in strata.values():
        table = _two_way(pairs)
        (r, s), N = table.shape, len(pairs)
        evidence["plugin"] += N / len(rows) * _mutual_information(table)
        evidence["df"] += (r - 1) * (s - 1)
        mean, variance = permutation_moments(table)
        if variance > 0:
            evidence["pearson"] += pearson(table)
            evidence["null_mean"] += float(mean)
            evidence["null_variance"] += float(variance)
    return evidence


def _two_way(pairs: list) -> np.ndarray:
    xs, ys = (sorted(set(side)) for side in zip(*pairs, strict=True))
    table = np.zeros((len(xs), len(ys)), dtype=int)
    for x, y in pairs:
        table[xs.index(x), ys.index(y)] += 1
    return table


def _mutual_information(table: np.ndarray) -> float:
    N, a, b = table.sum(), table.sum(axis=1), table.sum(axis=0)
    return math.fsum(
        table[i, j] / N * math.log(table[i, j] * N / (a[i] * b[j]))
        for i, j in np.ndindex(table.shape)
        if table[i, j] > 0
    )


# --- Markov boundaries ---------------------------------------------------------------------


def pps(
    I: Gain,
    H: Entropy,
    target: int,
    candidates: Sequence[int],
    decide: Decision,
    order=sorted,
) -> tuple[float, Nodes]:
    """Algorithm alg:pps: the conditional entropy and the boundary, grown greedily.

    ``order`` arranges the candidates; of equal gains the first one wins, by default the
    smallest variable. (The paper's step (b) prints the argmax over l not in A \\ m.)
    """
    m: Nodes = ()
    while True:
        left = [l for l in order(candidates) if l not in m]
        if not left:
            break
        gains = [I(target, (l,), m) for l in left]
        best = left[gains.index(max(gains))]
        if not decide(target, (best,), m, len(left)):
            break
        m = ordered(m, [best])
    return H(target, m), m


def iamb_backward(
    I: Gain, target: int, members: Sequence[int], decide: Decision, simultaneous: bool = True
) -> Nodes:
    """Algorithm alg:iamb: members that the others make superfluous are dropped.

    As printed, all members are judged once, each given all others, and the refused ones leave
    together. One at a time, only the refused member of smallest gain leaves, the smallest
    variable first of equals, and the rest are judged anew until none is refused.
    """
    m = ordered(members)
    while True:
        refused = [l for l in m if not decide(target, (l,), ordered(set(m) - {l}), len(m))]
        if not refused:
            return m
        if simultaneous:
            return ordered(set(m) - set(refused))
        weakest = min(refused, key=lambda l: (I(target, (l,), ordered(set(m) - {l})), l))
        m = ordered(set(m) - {weakest})


# --- the searches --------------------------------------------------------------------------


@dataclass(frozen=True)
class Decide:
    """The three decisions of a search, each True for dependence."""

    grow: Decision
    """PPS: the best candidate enters the boundary."""
    retain: Decision
    """Backward phase: the member stays in the boundary."""
    mask: Decision
    """TAM step: the node is masked."""


def thresholds(I: Gain, kappa: float, omega: float, search: str = "node") -> Decide:
    """The paper's decisions: grow above kappa, retain from kappa on, mask from omega on.

    The authors' program ("reference") grows from kappa on and masks above omega.
    """

    def above(bar: float) -> Decision:
        return lambda k, others, given, n_tests: I(k, others, given) > bar

    def from_on(bar: float) -> Decision:
        return lambda k, others, given, n_tests: I(k, others, given) >= bar

    if search == "reference":
        return Decide(grow=from_on(kappa), retain=from_on(kappa), mask=above(omega))
    return Decide(grow=above(kappa), retain=from_on(kappa), mask=from_on(omega))


def tam(
    H: Entropy,
    I: Gain,
    d: int,
    decide: Decide,
    search: str = "node",
    boundary: str = "pps",
    prune: bool = False,
    simultaneous: bool = True,
) -> tuple[list[list[int]], Parents]:
    """The layers, each in order of admission, and the parents of every node.

    ``search`` says who enters the next layer (below). ``boundary`` says what m_jk is: "pps"
    (Algorithm alg:uneq:withpps), "iamb" (PPS, then the backward phase, every round) or
    "none" (Algorithm alg:uneq:short: all of A_j, the parents by the backward phase).
    ``prune`` sends the parents that PPS found through the backward phase, once, at the end.
    Of equal entropies the smallest variable comes first.
    """
    order = list if search == "reference" else sorted
    layers: list[list[int]] = []
    parents: Parents = {}
    A: list[int] = []
    while len(A) < d:
        h: dict[int, float] = {}
        m: dict[int, Nodes] = {}
        for k in set(range(d)) - set(A):
            if boundary == "none":
                h[k], m[k] = H(k, ordered(A)), ordered(A)
            else:
                h[k], m[k] = pps(I, H, k, A, decide.grow, order)
            if boundary == "iamb":
                m[k] = iamb_backward(I, k, m[k], decide.retain, simultaneous)
                h[k] = H(k, m[k])
        tau = sorted(h, key=lambda k: (h[k], k))
        if search == "general":
            layer = by_layer(tau, m, decide.mask, h)
        else:
            layer = NEXT_LAYER[search](tau, m, decide.mask)
        for k in layer:
            if boundary == "none" or prune:
                parents[k] = iamb_backward(I, k, m[k], decide.retain, simultaneous)
            else:
                parents[k] = m[k]
        layers.append(layer)
        A += layer
    return layers, parents


def by_node(tau: list[int], m: dict[int, Nodes], mask: Decision) -> list[int]:
    """TAM step of alg:uneq:withpps: each admitted node masks those that depend on it."""
    layer: list[int] = []
    while tau:
        first, *rest = tau
        layer.append(first)
        tau = [k for k in rest if not mask(k, (first,), m[k], 1)]
    return layer


def by_layer(
    tau: list[int], m: dict[int, Nodes], mask: Decision, h: dict[int, float] | None = None
) -> list[int]:
    """TAM step of alg:uneq: the whole layer so far masks those that depend on it.

    With ``h``, "general", all that tie with the first enter with it (appendix D).
    """
    layer: list[int] = []
    while tau:
        first = [k for k in tau if k == tau[0] or (h is not None and h[k] == h[tau[0]])]
        layer += first
        rest = [k for k in tau if k not in first]
        tau = [k for k in rest if not mask(k, ordered(layer), m[k], 1)]
    return layer


def by_sieve(tau: list[int], m: dict[int, Nodes], mask: Decision) -> list[int]:
    """A node enters if it depends on no node before it in tau, admitted or not."""
    return [k for i, k in enumerate(tau) if not any(mask(k, (l,), m[k], i) for l in tau[:i])]


def by_entropy(tau: list[int], m: dict[int, Nodes], mask: Decision) -> list[int]:
    """The node of least conditional entropy alone (Theorem thm:ident:unequal1)."""
    return tau[:1]


NEXT_LAYER = {
    "node": by_node,
    "layer": by_layer,
    "reference": by_layer,
    "sieve": by_sieve,
    "sequential": by_entropy,
}


# --- known networks ------------------------------------------------------------------------


def joint_of(arities: Sequence[int], parents: Parents, tables: dict[int, np.ndarray]):
    """P(x) = prod P(x_k | pa(k)), cell by cell; a table's last axis is the node itself."""
    joint = np.ones(tuple(arities))
    for x in np.ndindex(joint.shape):
        for k, table in tables.items():
            joint[x] *= table[(*(x[p] for p in parents[k]), x[k])]
    return joint


def random_network(
    rng: np.random.Generator,
    d: int,
    max_arity: int = 2,
    density: float = 0.5,
    max_parents: int = 3,
    floor: float = 0.05,
    noise: float | None = None,
) -> tuple[Parents, dict[int, np.ndarray], np.ndarray]:
    """Parents, conditional tables and joint table of a random network, all cells positive.

    Every probability in a table is at least ``floor``. With ``noise`` all nodes have
    ``max_arity`` levels, and given its parents a node takes one level with probability
    1 - noise, the others equally often: H(X_k | pa(k)) is the same for all (cond:equal).
    """
    place = [int(k) for k in rng.permutation(d)]
    parents: Parents = {}
    for i, k in enumerate(place):
        chosen = [p for p in place[:i] if rng.random() < density]
        parents[k] = ordered(int(p) for p in rng.permutation(chosen)[:max_parents])
    low = max_arity if noise is not None else 2
    arities = [int(r) for r in rng.integers(low, max_arity + 1, size=d)]
    tables = {}
    for k in range(d):
        shape = (*(arities[p] for p in parents[k]), arities[k])
        tables[k] = _random_table(rng, shape, floor, noise)
    return parents, tables, joint_of(arities, parents, tables)


def _random_table(rng, shape: Nodes, floor: float, noise: float | None) -> np.ndarray:
    """A conditional table in which every parent makes a difference somewhere."""
    r, n_rows = shape[-1], math.prod(shape[:-1])
    while True:
        if noise is None:
            table = floor + (1 - r * floor) * rng.dirichlet(np.ones(r), size=n_rows)
        else:
            table = np.full((n_rows, r), noise / (r - 1))
            table[range(n_rows), rng.integers(r, size=n_rows)] = 1 - noise
        table = table.reshape(shape)
        if all(np.ptp(table, axis=parent).any() for parent in range(len(shape) - 1)):
            return table


# --- graphs --------------------------------------------------------------------------------


def true_layers(parents: Parents) -> list[list[int]]:
    """L_1 holds the sources; L_j the sources of what is left without the layers before."""
    layers: list[list[int]] = []
    done: set[int] = set()
    while len(done) < len(parents):
        layers.append(sorted(sources(parents, done)))
        done |= set(layers[-1])
    return layers


def sources(parents: Parents, A: Iterable[int]) -> set[int]:
    """The nodes outside A whose parents all lie in A."""
    A = set(A)
    return {k for k in parents if k not in A and set(parents[k]) <= A}


def ancestors(parents: Parents, k: int) -> set[int]:
    """an(k), without k."""
    return set(parents[k]).union(*(ancestors(parents, p) for p in parents[k]))


def ancestral_sets(parents: Parents) -> list[Nodes]:
    """All sets of nodes that hold the parents of their members, the empty set among them."""
    return [
        A
        for size in range(len(parents) + 1)
        for A in combinations(sorted(parents), size)
        if all(set(parents[k]) <= set(A) for k in A)
    ]


def topological_orders(parents: Parents, begun: Nodes = ()) -> Iterator[Nodes]:
    """Every order of the nodes that puts parents first."""
    if len(begun) == len(parents):
        yield begun
    for k in sorted(sources(parents, begun)):
        yield from topological_orders(parents, (*begun, k))


# --- conditions on a known network ---------------------------------------------------------


@dataclass(frozen=True)
class Conditions:
    """Which conditions a known network meets, and which searches they prove right.

    With exact information, both thresholds equal to ``tolerance``, ``positive``, ``minimal``:
    "node" needs ``main``, "layer" and "reference" ``general``, "sequential" ``greedy``,
    "sieve" ``sieve``. With boundary="pps" the first three also need ``pps``, the other two
    ``pps_everywhere``; with "none", or to prune, all need ``backward``.
    """

    positive: bool
    """Every cell of the joint table has positive probability."""
    minimal: bool
    """No edge can be removed: I(X_k ; X_p | pa(k) \\ p) > 0."""
    nondegenerate: bool
    """cond:mi: I(X_k ; pa(k) | A) > 0 for ancestral A without all of pa(k)."""
    equal: bool
    """cond:equal (C3): H(X_k | pa(k)) is the same for all nodes."""
    main: bool
    """cond:ident:main: C1 and C2, by one and the same ancestor."""
    general: bool
    """thm:ident:unequal2: U1 and U2, by one and the same ancestor."""
    uneq1: bool | None
    """cond:uneq1, over all topological orderings; None above six nodes."""
    greedy: bool
    """Taking the least conditional entropy, ties in any way, never takes a child first."""
    sieve: bool
    """The sieve admits only nodes whose parents have all been admitted before; a gain up to
    ``tolerance`` counts as none."""
    pps: bool
    """cond:pps given the canonical A_j, and in it always a gain above 0 to go on with."""
    pps_everywhere: bool
    """The same given every ancestral set."""
    pps_as_printed: bool
    """cond:pps given the canonical A_j, to the letter: it is empty when A_j = MB(k; A_j)."""
    backward: bool
    """Delta_I > 0, given every ancestral A that holds pa(k): I(X_k ; X_p | A \\ p) > 0."""


def check_conditions(joint: np.ndarray, parents: Parents, tolerance: float = 1e-9) -> Conditions:
    """Every condition by its definition; a strict inequality must hold by ``tolerance``."""
    H, I = from_joint(joint)
    network = (H, I, parents, tolerance)
    canonical = [(k, A) for A in canonical_sets(parents) for k in sorted(set(parents) - set(A))]
    everywhere = [(k, A) for A in ancestral_sets(parents) for k in sorted(set(parents) - set(A))]
    own = [H(k, parents[k]) for k in parents]
    return Conditions(
        positive=bool((joint > 0).all()),
        minimal=all(
            I(k, (p,), ordered(set(parents[k]) - {p})) > tolerance
            for k in parents
            for p in parents[k]
        ),
        nondegenerate=all(
            I(k, ordered(set(parents[k]) - set(A)), A) > tolerance
            for k, A in everywhere
            if set(parents[k]) - set(A)
        ),
        equal=max(own) - min(own) <= tolerance,
        main=all_have_important_ancestors(*network, together=False),
        general=all_have_important_ancestors(*network, together=True),
        uneq1=any(orders_by_unequal_entropy(*network, tau) for tau in topological_orders(parents))
        if len(parents) <= 6
        else None,
        greedy=greedy_is_topological(*network),
        sieve=sieve_is_topological(*network),
        pps=all(pps_condition(I, k, A, tolerance) for k, A in canonical),
        pps_everywhere=all(pps_condition(I, k, A, tolerance) for k, A in everywhere),
        pps_as_printed=all(
            pps_condition(I, k, A, tolerance, as_printed=True) for k, A in canonical
        ),
        backward=all(
            I(k, (p,), ordered(set(A) - {p})) > tolerance
            for k, A in everywhere
            if set(parents[k]) <= set(A)
            for p in parents[k]
        ),
    )


def canonical_sets(parents: Parents) -> list[Nodes]:
    """A_0, A_1, ..., without the last, which holds all nodes."""
    layers = true_layers(parents)
    return [ordered(*layers[:j]) for j in range(len(layers))]


def all_have_important_ancestors(
    H: Entropy, I: Gain, parents: Parents, tolerance: float, together: bool
) -> bool:
    """cond:ident:main; ``together`` lets the ancestors of smaller entropy help (U2)."""
    layers = true_layers(parents)
    for j, A in enumerate(canonical_sets(parents)):
        for k in ordered(*layers[j + 1 :]):
            an_j = ancestors(parents, k) & set(layers[j])

            def important(i: int, k: int = k, A: Nodes = A, an_j: set[int] = an_j) -> bool:
                helpers = {l for l in an_j if together and H(l, A) <= H(i, A) + tolerance}
                return H(i, A) < H(k, A) - tolerance and I(k, ordered(helpers, [i]), A) > tolerance

            if not any(important(i) for i in an_j):
                return False
    return True


def orders_by_unequal_entropy(
    H: Entropy, I: Gain, parents: Parents, tolerance: float, tau: Nodes
) -> bool:
    """cond:uneq1 for one ordering, as printed."""
    layer_of = {k: j for j, layer in enumerate(true_layers(parents)) for k in layer}
    own = {k: H(k, parents[k]) for k in parents}
    for j, k in enumerate(tau):
        before = ordered(tau[:j])
        for l in tau[j + 1 :]:
            missing = ordered(set(parents[l]) - set(before))
            unequal = own[k] < own[l] + I(l, missing, before) - tolerance
            equal = layer_of[k] == layer_of[l] and abs(own[k] - own[l]) <= tolerance
            if not (unequal or equal):
                return False
    return True


def greedy_is_topological(H: Entropy, I: Gain, parents: Parents, tolerance: float) -> bool:
    """Follow the least conditional entropy down every branch that a tie opens."""

    @cache
    def safe_from(A: Nodes) -> bool:
        left = set(parents) - set(A)
        if not left:
            return True
        least = min(H(k, A) for k in left)
        tied = {k for k in left if H(k, A) <= least + tolerance}
        return tied <= sources(parents, A) and all(safe_from(ordered(A, [k])) for k in tied)

    return safe_from(())


def sieve_is_topological(H: Entropy, I: Gain, parents: Parents, tolerance: float) -> bool:
    """Follow the sieve; where tied nodes depend on each other its path is not certain."""
    A: Nodes = ()
    while len(A) < len(parents):
        left = set(parents) - set(A)
        linked = [(l, k) for l, k in permutations(left, 2) if I(k, (l,), A) > tolerance]
        if any(abs(H(l, A) - H(k, A)) <= tolerance for l, k in linked):
            return False
        layer = left - {k for l, k in linked if H(l, A) < H(k, A)}
        if not layer <= sources(parents, A):
            return False
        A = ordered(A, layer)
    return True


def markov_boundary(I: Gain, k: int, A: Nodes, tolerance: float) -> Nodes:
    """MB(X_k ; A): the smallest m with X_k independent of the rest of A given m."""
    return next(
        m
        for size in range(len(A) + 1)
        for m in combinations(A, size)
        if I(k, ordered(set(A) - set(m)), m) <= tolerance
    )


def pps_condition(I: Gain, k: int, A: Nodes, tolerance: float, as_printed: bool = False) -> bool:
    """cond:pps for one node: from each proper subset of MB, a member gains the most."""
    boundary = markov_boundary(I, k, A, tolerance)
    outside = set(A) - set(boundary)
    for size in range(len(boundary)):
        for m in combinations(boundary, size):
            inside = max(I(k, (c,), m) for c in set(boundary) - set(m))
            rivals = [I(k, (l,), m) for l in outside]
            if not as_printed:
                rivals.append(0.0)
            if rivals and inside <= max(rivals) + tolerance:
                return False
    return True


# --- scores of families, and orders ----------------------------------------------------------


@cache
def log_regret(n_levels: int, n: int) -> float:
    """ln C(r, n): what the best of all laws on r levels explains of n rows by chance."""
    few, more = (
        1.0,
        math.fsum(math.comb(n, h) * (h / n) ** h * (1 - h / n) ** (n - h) for h in range(n + 1)),
    )
    for r in range(1, n_levels):
        few, more = more, more + n / r * few
    return math.log(few)


def two_part_score(rows, arities: Sequence[int], price: float) -> Score:
    """The score of a family: likelihood, less a table of all cells or of those that occur."""
    n = len(rows)

    @cache
    def fit(members: Nodes) -> float:
        table, size = counts(rows, members), math.prod(arities[k] for k in members)
        which = math.log(math.comb(size, len(table))) + log_regret(len(table), n)
        likelihood = math.fsum(c * math.log(c) for c in table.values())
        return likelihood - min(log_regret(size, n), which)

    return lambda k, given: fit(ordered(given, [k])) - fit(ordered(given)) - price * len(given)


def greedy_parents(score: Score, k: int, candidates: Iterable[int]) -> Nodes:
    """Grow by the largest gain, then drop those without whom the score is largest."""

    def best(sets: Iterable[Nodes], given: Nodes) -> Nodes:
        return max([given, *sets], key=lambda s: score(k, s) + (s == given) * 1e-6)

    def end(given: Nodes, neighbours: Callable[[Nodes], list[Nodes]]) -> Nodes:
        better = best(neighbours(given), given)
        return given if better == given else end(better, neighbours)

    grown = end((), lambda s: [ordered(s, [l]) for l in ordered(candidates) if l not in s])
    return end(grown, lambda s: [ordered(set(s) - {l}) for l in s])


def best_parents(score: Score, k: int, candidates: Iterable[int]) -> Nodes:
    """The set of parents with the largest score."""
    return max(subsets(candidates), key=lambda s: score(k, s))


def best_total(score: Score, d: int, choose=best_parents, may_follow=bool) -> float:
    """The largest score along any order that may be, each node choosing among those before it."""
    known = {
        (k, A): score(k, choose(score, k, A)) for k in range(d) for A in subsets({*range(d)} - {k})
    }
    return max(
        math.fsum(known[k, ordered(order[:i])] for i, k in enumerate(order))
        for order in permutations(range(d))
        if may_follow(order)
    )


# --- regressions ---------------------------------------------------------------------------


def least_squares(rows: Sequence[Sequence[float]], values: Sequence[float]) -> list[float]:
    """The intercept and the slopes of a linear regression, exactly, by the normal equations."""
    design = [[Fraction(1), *map(Fraction, row)] for row in rows]
    width = len(design[0])
    system = [
        [sum(one[i] * one[j] for one in design) for j in range(width)]
        + [sum(one[i] * Fraction(y) for one, y in zip(design, values, strict=True))]
        for i in range(width)
    ]
    for i in range(width):
        pivot = next(r for r in range(i, width) if system[r][i])
        system[i], system[pivot] = system[pivot], system[i]
        system[i] = [x / system[i][i] for x in system[i]]
        for r in range(width):
            if r != i:
                system[r] = [
                    x - system[r][i] * y for x, y in zip(system[r], system[i], strict=True)
                ]
    return [float(line[-1]) for line in system]


def normal_log_density(x: float, mean: float, deviation: float) -> float:
    """ln of the density of the normal law at x."""
    return -(((x - mean) / deviation) ** 2) / 2 - math.log(deviation * math.sqrt(2 * math.pi))
