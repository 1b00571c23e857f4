"""The algorithms of the paper as printed, to be read beside it.

Ming Gao and Bryon Aragam, "Efficient Bayesian network structure learning via local Markov boundary
search", NeurIPS 2021, arXiv:2110.06082. Here are Algorithm 1 (`algorithm_1`), Algorithm 2 (`pps`),
Algorithm 3, the full TAM of appendix A (`tam`), Algorithm 4, the general TAM of appendix C.2
(`tam_general`), and Algorithm 5, the backward phase of IAMB in appendix C.5 (`iamb_backward`).

The symbols are the paper's. X is any source of information about the variables V = {0, ..., d-1};
A[j] is the ancestral set, L[j] a layer, S the nodes masked while a layer is found, m a Markov
boundary, tau the remaining nodes in order of conditional entropy; kappa and omega are thresholds in
nats. The comment at the end of a line is the number of its step. "open" marks a choice that the
text does not make, and says what is done here; "slip" marks a misprint, and says what is printed.

They run on any source, with any boundary search (docs/bring-your-own.md), and `tamis.check` runs
them on known networks. The searches of `tamis.search.tam` do the same with tests in place of
thresholds and without starting over after every layer; docs/paper-map.md goes through the rest of
the paper.
"""
# ruff: noqa: E741, E743, N802 -- H, I and l are the paper's own symbols

from __future__ import annotations

from collections.abc import Callable, Collection

from tamis.information.interface import Context, Floats, Source

Nodes = set[int]
Parents = dict[int, Nodes]
"""The graph G: the parents of each node."""
MarkovBoundary = Callable[[Source, int, Nodes], Collection[int]]
"""``MB(X, k, A)``, any search for the Markov boundary of X_k in A."""


def algorithm_1(X: Source, omega: float, MB: MarkovBoundary) -> tuple[Parents, list[Nodes]]:
    """Algorithm 1 (`alg:uneq:short`): learning DAG structure.

    Returns the graph and, as the general version does, the layers. ``MB`` is what the algorithm
    "assumes that we can learn" (section 4); theorem `thm:nopps` takes `iamb_backward`.
    """
    V = set(range(X.n_variables))
    G: Parents = {}  # 1
    j = 0  # 1
    L: list[Nodes] = [set()]  # 2
    A: list[Nodes] = [set()]  # 2
    while V - A[j]:  # 3
        h = {k: H(X, k, A[j]) for k in V - A[j]}  # 3(a)
        L.append(set())  # 3(b)
        S: Nodes = set()  # 3(b)
        tau = sorted(h, key=lambda k: (h[k], k))  # 3(b); open: equals by position
        while tau:  # 3(c), the TAM step
            first = tau[0]
            L[j + 1] |= {first}  # 3(c)i
            I_hat = {k: I(X, k, A[j])[first] for k in V - (A[j] | L[j + 1] | S)}  # 3(c)ii
            S |= {k for k in I_hat if I_hat[k] >= omega}  # 3(c)iii
            tau = [k for k in tau if k not in L[j + 1] | S]  # 3(c)iv
        for k in L[j + 1]:
            G[k] = set(MB(X, k, A[j]))  # 3(d)
        A.append(A[j] | L[j + 1])  # 2, for j + 1
        j += 1  # 3(e)
    return G, L[1:]  # 4


def pps(X: Source, k: int, A: Collection[int], kappa: float) -> tuple[float, Nodes]:
    """Algorithm 2 (`alg:pps`): the possible parental set, IAMB's forward phase.

    Returns the conditional entropy and the Markov boundary of X_k in A.
    """
    m: Nodes = set()  # 1
    while left := sorted(set(A) - m):  # 1
        I_hat = I(X, k, m)  # 1(a), of all l at once
        # slip: the argmax is printed over l not in A \ m; open: of equals the first is taken.
        best = max(left, key=lambda l: I_hat[l])  # 1(b)
        if not I_hat[best] > kappa:  # 1(b); m does not change any more
            break
        m |= {best}  # 1(b)
    h = H(X, k, m)  # 2
    return h, m  # 3


def tam(
    X: Source, omega: float, kappa: float, MB: MarkovBoundary | None = None
) -> tuple[Parents, list[Nodes]]:
    """Algorithm 3 (`alg:uneq:withpps`): the TAM algorithm for learning DAGs.

    Returns the graph and the layers. ``MB`` takes the place of PPS, and then ``kappa`` has none:
    PPS "can be replaced with any Markov boundary recovery algorithm" (section 5.1).
    """
    V = set(range(X.n_variables))
    G: Parents = {}  # 1
    j = 0  # 1
    L: list[Nodes] = [set()]  # 2
    A: list[Nodes] = [set()]  # 2
    while V - A[j]:  # 3
        h: dict[int, float] = {}
        m: Parents = {}
        for k in V - A[j]:  # 3(a)
            if MB is None:
                h[k], m[k] = pps(X, k, A[j], kappa)  # 3(a)
            else:
                m[k] = set(MB(X, k, A[j]))  # 3(a), with section 5.1
                h[k] = H(X, k, m[k])  # 3(a)
        L.append(set())  # 3(b)
        S: Nodes = set()  # 3(b)
        tau = sorted(h, key=lambda k: (h[k], k))  # 3(b); open: equals by position
        while tau:  # 3(c), the TAM step
            first = tau[0]
            L[j + 1] |= {first}  # 3(c)i
            I_hat = {k: I(X, k, m[k])[first] for k in V - (A[j] | L[j + 1] | S)}  # 3(c)ii
            S |= {k for k in I_hat if I_hat[k] >= omega}  # 3(c)iii
            tau = [k for k in tau if k not in L[j + 1] | S]  # 3(c)iv
        for k in L[j + 1]:
            G[k] = m[k]  # 3(d)
        A.append(A[j] | L[j + 1])  # 2, for j + 1
        j += 1  # 3(e)
    return G, L[1:]  # 4


def tam_general(X: Source, omega: float) -> list[Nodes]:
    """Algorithm 4 (`alg:uneq`): the TAM algorithm, general version. Returns the layers."""
    V = set(range(X.n_variables))
    L: list[Nodes] = [set()]  # 1
    A: list[Nodes] = [set()]  # 1
    j = 0  # 2
    while V - A[j]:  # 2; open: no end is printed, here it is when all nodes are in a layer
        h = {k: H(X, k, A[j]) for k in V - A[j]}  # 2(a)
        L.append(set())  # 2(b)
        S: Nodes = set()  # 2(b)
        tau = sorted(h, key=lambda k: (h[k], k))  # 2(b); open: equals by position
        while tau:  # 2(c), the TAM step
            L[j + 1] |= {tau[0]}  # 2(c)i
            tested = V - (A[j] | L[j + 1] | S)  # 2(c)ii
            # I(X_k ; L_{j+1} | A_j) by the chain rule, which any source can answer.
            I_hat = {k: h[k] - H(X, k, A[j] | L[j + 1]) for k in tested}  # 2(c)ii
            S |= {k for k in I_hat if I_hat[k] >= omega}  # 2(c)iii
            tau = [k for k in tau if k not in L[j + 1] | S]  # 2(c)iv
        A.append(A[j] | L[j + 1])  # 1, for j + 1
        j += 1  # 2
    return L[1:]  # 3


def iamb_backward(X: Source, k: int, A: Collection[int], kappa: float) -> Nodes:
    """Algorithm 5 (`alg:iamb`): the backward phase of the IAMB algorithm.

    All members are judged given all others, and leave together: of two that stand in for each
    other none stays.
    """
    m = set(A)  # 1
    m = m - {l for l in m if I(X, k, m - {l})[l] < kappa}  # 2
    return m  # 3


def H(X: Source, k: int, S: Collection[int]) -> float:
    """H(X_k | S) by the source's estimator."""
    return float(X.entropies([Context(k, tuple(sorted(S)))])[0])


def I(X: Source, k: int, S: Collection[int]) -> Floats:
    """I(X_k ; X_l | S) for every l, by the source's estimator."""
    row: Floats = X.cmi([Context(k, tuple(sorted(S)))])[0]
    return row
