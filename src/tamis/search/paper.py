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

They run on any source, with any boundary search (docs/bring-your-own.md): `tamis.check` runs them
on known networks, and `tamis.search.layered` on tables, with a test in the place of a threshold
where that is asked for (``Threshold``). docs/paper-map.md goes through the rest of the paper.
"""
# ruff: noqa: E741, E743, N802 -- H, I and l are the paper's own symbols

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from tamis.information.interface import Context, Floats, Group, Source

Nodes = set[int]
Parents = dict[int, Nodes]
"""The graph G: the parents of each node."""
MarkovBoundary = Callable[[Source, int, Nodes], Collection[int]]
"""``MB(X, k, A)``, any search for the Markov boundary of X_k in A."""
Test = Callable[[Source, Sequence[Group], int], Sequence[bool]]
"""``test(X, groups, n)``: which targets depend on their members given their sets, each group being
the best of n candidates."""
Threshold = float | Test
"""kappa or omega: a number of nats as in the paper, or a test that decides in its place."""


def nobody(left: Nodes) -> Nodes:
    """Which of the nodes that are left must wait for others of them: none, in the paper."""
    return set()


def algorithm_1(X: Source, omega: Threshold, MB: MarkovBoundary) -> tuple[Parents, list[Nodes]]:
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
            I_hat = {k: mi(k, {first}, A[j]) for k in V - (A[j] | L[j + 1] | S)}  # 3(c)ii
            S |= reaching(X, I_hat, omega)  # 3(c)iii
            settled = L[j + 1] | S  # 3(c)iv
            tau = [k for k in tau if k not in settled]  # 3(c)iv
        for k in L[j + 1]:
            G[k] = set(MB(X, k, A[j]))  # 3(d)
        A.append(A[j] | L[j + 1])  # 2, for j + 1
        j += 1  # 3(e)
    return G, L[1:]  # 4


def pps(X: Source, k: int, A: Collection[int], kappa: Threshold) -> tuple[float, Nodes]:
    """Algorithm 2 (`alg:pps`): the possible parental set, IAMB's forward phase.

    Returns the conditional entropy and the Markov boundary of X_k in A.
    """
    order = sorted(A) if isinstance(A, set) else list(A)
    m: Nodes = set()  # 1
    while left := [l for l in order if l not in m]:  # 1
        I_hat = I(X, k, m)  # 1(a), of all l at once
        # slip: the argmax is printed over l not in A \ m; open: of equals the first is taken.
        best = left[int(I_hat[left].argmax())]  # 1(b)
        if not exceeds(X, mi(k, {best}, m), I_hat[best], kappa, len(left)):  # 1(b)
            break  # m does not change any more
        m |= {best}  # 1(b)
    h = H(X, k, m)  # 2
    return h, m  # 3


def tam(
    X: Source,
    omega: Threshold,
    kappa: Threshold,
    MB: MarkovBoundary | None = None,
    waiting: Callable[[Nodes], Nodes] = nobody,
) -> tuple[Parents, list[Nodes]]:
    """Algorithm 3 (`alg:uneq:withpps`): the TAM algorithm for learning DAGs.

    Returns the graph and the layers. ``MB`` takes the place of PPS, and then ``kappa`` has none:
    PPS "can be replaced with any Markov boundary recovery algorithm" (section 5.1). Beyond the
    paper, what is known about the order of nodes can make some of those left wait for others.
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
        S = waiting(V - A[j])  # 3(b), empty in the paper
        tau = sorted(h.keys() - S, key=lambda k: (h[k], k))  # 3(b); open: equals by position
        while tau:  # 3(c), the TAM step
            first = tau[0]
            L[j + 1] |= {first}  # 3(c)i
            I_hat = {k: mi(k, {first}, m[k]) for k in V - (A[j] | L[j + 1] | S)}  # 3(c)ii
            S |= reaching(X, I_hat, omega)  # 3(c)iii
            settled = L[j + 1] | S  # 3(c)iv
            tau = [k for k in tau if k not in settled]  # 3(c)iv
        for k in L[j + 1]:
            G[k] = m[k]  # 3(d)
        A.append(A[j] | L[j + 1])  # 2, for j + 1
        j += 1  # 3(e)
    return G, L[1:]  # 4


def tam_general(
    X: Source,
    omega: Threshold,
    MB: MarkovBoundary | None = None,
    waiting: Callable[[Nodes], Nodes] = nobody,
    *,
    ties: bool = True,
) -> list[Nodes]:
    """Algorithm 4 (`alg:uneq`): the TAM algorithm, general version. Returns the layers.

    With ``MB`` a node is conditioned on its boundary in A_j, as in Algorithm 3, in place of A_j
    itself. ``ties=False`` admits one node at a time even where several have the least entropy;
    ``waiting`` is that of `tam`.
    """
    V = set(range(X.n_variables))
    L: list[Nodes] = [set()]  # 1
    A: list[Nodes] = [set()]  # 1
    j = 0  # 2
    while V - A[j]:  # 2; open: no end is printed, here it is when all nodes are in a layer
        m = {k: A[j] if MB is None else set(MB(X, k, A[j])) for k in V - A[j]}
        h = {k: H(X, k, m[k]) for k in V - A[j]}  # 2(a)
        L.append(set())  # 2(b)
        S = waiting(V - A[j])  # 2(b), empty in the paper
        tau = sorted(h.keys() - S, key=lambda k: (h[k], k))  # 2(b); open: equals by position
        while tau:  # 2(c), the TAM step
            # "If there are ties, include all the tied nodes" (appendix D).
            L[j + 1] |= {k for k in tau if k == tau[0] or (ties and h[k] == h[tau[0]])}  # 2(c)i
            I_hat = {k: mi(k, L[j + 1], m[k]) for k in V - (A[j] | L[j + 1] | S)}  # 2(c)ii
            S |= reaching(X, I_hat, omega)  # 2(c)iii
            settled = L[j + 1] | S  # 2(c)iv
            tau = [k for k in tau if k not in settled]  # 2(c)iv
        A.append(A[j] | L[j + 1])  # 1, for j + 1
        j += 1  # 2
    return L[1:]  # 3


def iamb_backward(X: Source, k: int, A: Collection[int], kappa: Threshold) -> Nodes:
    """Algorithm 5 (`alg:iamb`): the backward phase of the IAMB algorithm.

    All members are judged given all others, and leave together: of two that stand in for each
    other none stays.
    """
    m = set(A)  # 1
    I_hat = {l: mi(k, {l}, m - {l}) for l in sorted(m)}  # 2
    m = m & reaching(X, I_hat, kappa)  # 2: without those below kappa
    return m  # 3


def H(X: Source, k: int, S: Collection[int]) -> float:
    """H(X_k | S) by the source's estimator."""
    return float(X.entropies([Context(k, tuple(sorted(S)))])[0])


def I(X: Source, k: int, S: Collection[int]) -> Floats:
    """I(X_k ; X_l | S) for every l, by the source's estimator."""
    row: Floats = X.cmi([Context(k, tuple(sorted(S)))])[0]
    return row


def mi(k: int, L: Collection[int], S: Collection[int]) -> Group:
    """I(X_k ; X_L | S), to be estimated: what depends on it asks for many of them at once."""
    return Group(k, tuple(sorted(S)), tuple(sorted(L)))


def exceeds(X: Source, asked: Group, I_hat: float, kappa: Threshold, n: int) -> bool:
    """Whether I_hat > kappa, or a test finds dependence, the best of n candidates being judged."""
    return bool(kappa(X, [asked], n)[0] if callable(kappa) else I_hat > kappa)


def reaching(X: Source, I_hat: Mapping[int, Group], omega: Threshold) -> Nodes:
    """Those whose information is >= omega, or whose test finds dependence."""
    if callable(omega):
        found = omega(X, list(I_hat.values()), 1)
        return {k for k, passes in zip(I_hat, found, strict=True) if passes}
    return {k for k, one in I_hat.items() if estimate(X, one) >= omega}


def estimate(X: Source, asked: Group) -> float:
    """I(X_k ; X_L | S); of several at once by the chain rule, which any source can answer."""
    k, S, L = asked
    return float(I(X, k, S)[L[0]]) if len(L) == 1 else H(X, k, S) - H(X, k, {*S, *L})
