"""A learned DAG with its reasons, in the names of the user's table: frozen, and all there is.

Everything a person, a report or an export can ask is answered from here; nothing is counted
again.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tamis.constants import in_force
from tamis.errors import SettingError
from tamis.parameters import require
from tamis.plugins import shortened
from tamis.tables.table import Label

# What a result can do beyond telling itself is done by rooms that know results. Its methods import
# them when they are called, and nothing of them is needed to load this file.
if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes

    from tamis.bootstrap import Confidence as Bootstrapped
    from tamis.bootstrap import Scheme
    from tamis.comparison import Comparison
    from tamis.drawing import Confidence
    from tamis.identifiability import RecoveryCheck
    from tamis.network import Network
    from tamis.parameters import Search
    from tamis.rescoring import Rescored
    from tamis.result.explanation import Explanation


LATER = {"later": True}
"""Marks fields that are written only where they differ from their default."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One test of independence and how it came out.

    ``value`` is what the rule compared with ``threshold``, in ``unit`` ("nats": dependent
    above; "p": dependent below). ``margin`` is how far the decision was from going the other
    way: positive for dependent, negative for independent; nats, or the natural logarithm of
    threshold over p-value.
    """

    target: str
    others: tuple[str, ...]
    given: tuple[str, ...]
    gain: float
    value: float
    threshold: float
    margin: float
    unit: str
    dependent: bool
    n_rows: int | None = field(default=None, metadata=LATER)
    """How many rows the test was made on, where that is not all of them."""

    def __str__(self) -> str:
        from tamis.result.explanation import sentence

        return sentence(self)

    @property
    def distance(self) -> float:
        """How far the decision was from going the other way, comparable between rules.

        The margins of p-values and of log-likelihoods are logarithms; those of fixed thresholds
        become so to first order when divided by the threshold.
        """
        if self.unit == "nats" and self.threshold > 0:
            return abs(self.margin) / self.threshold
        return abs(self.margin)


@dataclass(frozen=True, slots=True)
class Admitted:
    """When a node entered and how uncertain it was then; who came next, and the closest call.

    A ``round`` finds one layer in the masking searches and one node in "sequential".
    """

    name: str
    round: int
    entropy: float
    runner_up: str | None
    runner_up_entropy: float | None
    closest: Verdict | None


@dataclass(frozen=True, slots=True)
class Masked:
    """In which round a node was kept out, and by which test."""

    name: str
    round: int
    entropy: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Selection:
    """How a node's parents were chosen: steps taken, runner-up refused, and what the backward
    phase removed and retained."""

    name: str
    taken: tuple[Verdict, ...]
    refused: Verdict | None
    removed: tuple[Verdict, ...]
    retained: tuple[Verdict, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Trace:
    """Every decision of a run, in the order it was made."""

    admissions: tuple[Admitted, ...]
    maskings: tuple[Masked, ...]
    selections: tuple[Selection, ...]

    def __repr__(self) -> str:
        return (
            f"<Trace: {len(self.admissions)} admissions, {len(self.maskings)} maskings, "
            f"{len(self.selections)} selections>"
        )

    def verdicts(self) -> Iterator[Verdict]:
        """All tests on record."""
        for admission in self.admissions:
            if admission.closest is not None:
                yield admission.closest
        for masking in self.maskings:
            yield masking.verdict
        for selection in self.selections:
            yield from selection.taken
            if selection.refused is not None:
                yield selection.refused
            yield from selection.removed
            yield from selection.retained


@dataclass(frozen=True, slots=True)
class Edge:
    """parent → child. ``gain`` is I(parent; child | parents taken before), in nats, the number
    that admitted it, with the p-value of its test; ``gain_given_rest`` conditions on all the
    other parents. ``step`` counts from 1; it is 0 where no boundary search was made.
    ``entropy_gap`` is how much less uncertain the parent was than the child, in nats, given the
    parent's own parents.

    ``warrant`` is what the direction rests on: "given" by background knowledge, alone or because
    all equivalent graphs that agree with it have the direction; "equivalence", all
    equivalent graphs have it; "entropy", the noise entropies give it a probability of at least
    0.9; "none", less than that. ``direction_probability`` is that probability; of a direction that
    the whole class has, it says how much the likelihood would lose without it."""

    parent: str
    child: str
    gain: float
    p_value: float
    step: int
    gain_given_rest: float
    entropy_gap: float
    warrant: str
    direction_probability: float

    @property
    def is_claimed(self) -> bool:
        """Whether anything speaks for the direction."""
        return self.warrant != "none"

    def __eq__(self, other: object) -> bool:
        return self._compared() == other._compared() if isinstance(other, Edge) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._compared())

    def _compared(self) -> tuple[object, ...]:
        """All fields; two edges without a test are equal, although nan is no number's equal."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        if math.isnan(self.p_value):
            values["p_value"] = None
        return tuple(values.values())


@dataclass(frozen=True, slots=True)
class Run:
    """One search that "auto" tried: on which reading, the penalised log-likelihood of its DAG in
    nats, and the condition under which it finds the truth."""

    search: str
    information: str
    score: float
    n_edges: int
    rests_on: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Engine:
    """How a table was counted whose rows were not in memory.

    ``name`` is "blocks", a packed file or files in blocks, or "dask", the workers of a cluster. A
    round is one batch of questions to all ``partitions``; ``bytes_moved`` are those of the blocks
    that were read, or, about, of the questions and answers that went between workers.
    """

    name: str
    partitions: int
    rounds: int
    bytes_moved: int


_one_at_a_time = RLock()
"""Held while a field of a result is worked out."""


@dataclass(frozen=True, repr=False)
class Result:
    """One learned DAG, from `tamis.TAM` or from a file by `tamis.load`.

    A result that is stored or copied holds no rows. Methods that need rows, such as `bootstrap` and
    `fitted_network`, take the table as an argument.

    Attributes
    ----------
    names : tuple of str
        The columns in the order of the table.
    levels : mapping
        The labels of each column; none for numbers.
    n_rows : int or None
        The number of rows; None if a distribution was known and no rows were counted.
    settings : mapping
        What was run, in full.
    layers : tuple of tuples of str
        The layers of the graph, first to last.
    order : tuple of str
        The order of admission, which is a topological order of the DAG.
    parents : mapping
        The parents of each column.
    entropies : mapping
        The conditional entropy of each column when it was admitted, in nats.
    edges : tuple of Edge
        The arrows with their numbers and warrants.
    trace : Trace
        Every decision of the search.
    ranking : tuple of Run
        What "auto" tried, the answer first; other searches have none.
    warnings : tuple of str
        What the analyst should know about the run.
    engine : Engine or None
        What counted the rows if they were not in memory. Equality of results ignores it.
    kinds : mapping or None
        The kind of each column, "category", "ordinal" or "number"; None if all are categories.
    read_from : str or None
        The path of the table as the user wrote it, if it came from a file. Equality ignores it.
    left_open : tuple of str
        Which of the settings "search" and "information" were left to tamis. Equality ignores it.
    knowledge_cost : float or None
        By how many nats of penalised log-likelihood the graph found without the knowledge is
        better; 0 if it is no better. None if there is no knowledge that rules anything out, if the
        information has no likelihood, if the boundary search is not from tamis, and in older files.

    Examples
    --------
    >>> import tamis
    >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20}
    >>> result = tamis.TAM().fit(rows).result_
    >>> result
    <Result of search 'auto': 2 columns, 80 rows, 2 layers, 1 edges>
    >>> edge = result.edges[0]
    >>> edge.parent, edge.child, edge.warrant
    ('rain', 'wet', 'none')
    """

    names: tuple[str, ...]
    levels: Mapping[str, tuple[Label, ...]]
    n_rows: int | None
    settings: Mapping[str, Any]
    layers: tuple[tuple[str, ...], ...]
    order: tuple[str, ...]
    parents: Mapping[str, tuple[str, ...]]
    entropies: Mapping[str, float]
    edges: tuple[Edge, ...]
    trace: Trace
    ranking: tuple[Run, ...] = ()
    warnings: tuple[str, ...] = field(default=())
    engine: Engine | None = field(default=None, compare=False, metadata=LATER)
    kinds: Mapping[str, str] | None = field(default=None, metadata=LATER)
    read_from: str | None = field(default=None, compare=False, metadata=LATER)
    left_open: tuple[str, ...] = field(default=(), compare=False, metadata=LATER)
    knowledge_cost: float | None = field(default=None, metadata=LATER)

    if not TYPE_CHECKING:  # or whatever is asked of a result would pass as right

        def __getattr__(self, name: str) -> object:
            """A field that was put off, by the constants that were in force for the search."""
            own = vars(self)
            told = own.get("_told", {})
            if name in told:
                # Constants first: who varies them may read results too, and would wait for somebody
                # who reads one and waits for the constants.
                with in_force(self.settings["constants"]), _one_at_a_time:
                    if name in told:
                        own[name] = told[name]()
                        del told[name]
            if name in own:
                return own[name]
            raise AttributeError(f"a result has no {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        """All fields."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def __repr__(self) -> str:
        rows = "a known law" if self.n_rows is None else f"{self.n_rows} rows"
        n_edges = sum(map(len, self.parents.values()))
        return (
            f"<Result of search {self.settings['search']!r}: {len(self.names)} columns, "
            f"{rows}, {len(self.layers)} layers, {n_edges} edges>"
        )

    def _repr_html_(self) -> str:
        from tamis.report.notebook import result_in_html

        return result_in_html(self)

    @property
    def search(self) -> str:
        """The search whose DAG this is: of those that "auto" tried, the chosen one."""
        named: str = self.settings["search"]
        return next((run.search for run in self.ranking if run.chosen), named)

    @property
    def required(self) -> tuple[tuple[str, str], ...]:
        """The arrows (parent, child) that were there by knowledge, whatever the tests say."""
        knowledge = self.settings.get("knowledge") or {}
        return tuple(sorted((parent, child) for parent, child in knowledge.get("required", ())))

    @property
    def cpdag(self) -> nx.DiGraph[str]:
        """What all Markov equivalent DAGs share; an undirected edge is there both ways."""
        from tamis.metrics.equivalence import to_cpdag
        from tamis.result.graph import DiGraph

        return DiGraph(to_cpdag(self.graph))

    @property
    def graph(self) -> nx.DiGraph[str]:
        """The DAG; nodes carry layer, entropy and kind where kinds differ, edges their numbers."""
        from tamis.result.graph import DiGraph

        graph = DiGraph()
        layer_of = {name: j for j, layer in enumerate(self.layers, start=1) for name in layer}
        for name in self.names:
            kind = {} if self.kinds is None else {"kind": self.kinds[name]}
            graph.add_node(name, layer=layer_of[name], entropy=self.entropies[name], **kind)
        for edge in self.edges:
            graph.add_edge(
                edge.parent,
                edge.child,
                gain=edge.gain,
                p_value=edge.p_value,
                step=edge.step,
                gain_given_rest=edge.gain_given_rest,
                entropy_gap=edge.entropy_gap,
                warrant=edge.warrant,
                direction_probability=edge.direction_probability,
            )
        return graph

    @property
    def adjacency(self) -> NDArray[np.int8]:
        """A[i, j] = 1 where names[i] → names[j]."""
        position = {name: i for i, name in enumerate(self.names)}
        adjacency = np.zeros((len(self.names), len(self.names)), dtype=np.int8)
        for child, parents in self.parents.items():
            for parent in parents:
                adjacency[position[parent], position[child]] = 1
        return adjacency

    def closest_directions(self, most: int = 5) -> list[Edge]:
        """List the edges whose directions are least certain.

        Parameters
        ----------
        most : int
            How many to list.

        Returns
        -------
        list of Edge
            The least probable direction first.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20}
        >>> edge = tamis.TAM().fit(rows).result_.closest_directions(1)[0]
        >>> edge.parent, edge.child, edge.direction_probability
        ('rain', 'wet', 0.5)
        """
        require(most=most)
        return sorted(self.edges, key=lambda e: (e.direction_probability, e.parent, e.child))[:most]

    def closest_calls(self, most: int = 5) -> list[Verdict]:
        """List the decisions that came nearest to going the other way.

        A question that was asked several times is listed once, where it came nearest. The distance
        from the threshold is a share of it for fixed thresholds, and in log units for the other
        rules.

        Parameters
        ----------
        most : int
            How many to list.

        Returns
        -------
        list of Verdict
            The nearest first.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20, "coin": [0, 1] * 40}
        >>> nearest = tamis.TAM().fit(rows).result_.closest_calls(1)[0]
        >>> nearest.target, nearest.others
        ('rain', ('coin',))
        """
        require(most=most)
        verdicts = sorted(
            self.trace.verdicts(), key=lambda v: (v.distance, v.target, v.others, v.given)
        )
        found: dict[object, Verdict] = {}
        for one in verdicts:
            about = frozenset((one.target, *one.others)), frozenset(one.given)
            found.setdefault(about, one)
        return list(found.values())[:most]

    def answer(self, *parts: str) -> Explanation:
        """Say in sentences what was found.

        Parameters
        ----------
        *parts : str
            Any of "found", "told", "directions", "weakest", "how" and "steps"; by default the first
            four.

        Returns
        -------
        Explanation
            Plain text, a paragraph for each part; print it.

        Examples
        --------
        >>> import tamis
        >>> table = {"rain": [0, 1] * 50, "wet": [0, 1] * 50, "coin": [0, 0, 1, 1] * 25}
        >>> print(str(tamis.TAM().fit(table).result_.answer("found"))[:56])
        In this table (100 rows, 3 columns) tamis found 1 arrow.
        """
        from tamis.result.explanation import Explanation
        from tamis.result.sentences import AT_FIRST, PARTS, answer

        asked = parts or AT_FIRST
        unknown = [part for part in asked if not isinstance(part, str) or part not in PARTS]
        if unknown:
            raise SettingError(
                f"an answer has no part {shortened(unknown[0])}; there are {', '.join(PARTS)}"
            )
        said = [" ".join(map(str, answer(self, part))) for part in asked]
        return Explanation("\n\n".join(filter(None, said)))

    def explain(self, name: str) -> Explanation:
        """Explain which tests put a column where it is.

        Parameters
        ----------
        name : str
            The column.

        Returns
        -------
        Explanation
            Plain text; print it.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20}
        >>> print(str(tamis.TAM().fit(rows).result_.explain("wet")).splitlines()[-1])
          rain -> wet: open, probability 0.50
        """
        from tamis.result.explanation import explain

        return explain(self, name)

    def with_edges(
        self,
        table: object,
        *,
        add: Iterable[tuple[str, str]] = (),
        remove: Iterable[tuple[str, str]] = (),
        turn: Iterable[tuple[str, str]] = (),
        sample_weight: object = None,
    ) -> Rescored:
        """Say what it costs to change some arrows, in nats of the penalised log-likelihood.

        Parameters
        ----------
        table : data frame, array, mapping or path
            The table that was learned from, or another with the same columns.
        add, remove, turn : iterable of (parent, child)
            The changes. An arrow to turn is named as it points now.
        sample_weight : sequence, str or None
            The weights of the rows, as ``TAM.fit`` takes them.

        Returns
        -------
        tamis.rescoring.Rescored
            The changed graph with its score, before and after, in total and by column; print it.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20}
        >>> result = tamis.TAM().fit(rows).result_
        >>> result.with_edges(rows, turn=[("rain", "wet")])
        <Rescored: 1 arrow changed, no better and no worse>
        """
        from tamis.rescoring import with_edges
        from tamis.settings import Settings

        return with_edges(
            self.parents, Settings.from_dict(self.settings), table, add=add, remove=remove,
            turn=turn, weights=sample_weight,
        )  # fmt: skip

    def plot(self, ax: Axes | None = None, *, confidence: Confidence | None = None) -> Axes:
        """Draw the graph with matplotlib, layers from left to right.

        Parameters
        ----------
        ax : matplotlib axes or None
            Where to draw. Without it a figure is made that grows with the graph.
        confidence : Confidence or None
            What `bootstrap` found: lines are then as strong as their arrows are sure.

        Returns
        -------
        matplotlib axes
            The axes that hold the drawing.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20}
        >>> axes = tamis.TAM().fit(rows).result_.plot()
        >>> axes.figure.savefig("graph.png")
        """
        from tamis.drawing.pictures import plot

        return plot(self, ax, confidence=confidence)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        recovery: RecoveryCheck | None = None,
        confidence: Confidence | None = None,
        command: str | None = None,
    ) -> None:
        """Write the whole answer as one HTML file that needs no network.

        Parameters
        ----------
        path : str or path
            Where the page goes; it must end in .html or .htm.
        recovery : RecoveryCheck or None
            What `tamis.TAM.recovery_check` found.
        confidence : Confidence or None
            What `bootstrap` found.
        command : str or None
            How the result was made, shown on the page.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20}
        >>> tamis.TAM().fit(rows).result_.report("page.html")
        """
        from tamis.report import write_report

        write_report(self, path, recovery=recovery, confidence=confidence, command=command)

    def save(self, *paths: str | os.PathLike[str], data: object = None) -> None:
        """Write the result to files, in the format that each file name ends in.

        All files are written whole, or none is.

        Parameters
        ----------
        *paths : str or path
            .json is the whole result, for `tamis.load`; .dot, .graphml and .csv are the graph;
            .svg, .png and .pdf are its picture; .bif is the fitted network.
        data : data frame, array, mapping, path or None
            The rows that the tables of a .bif file are counted from; other files need none.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20}
        >>> result = tamis.TAM().fit(rows).result_
        >>> result.save("run.json", "network.bif", data=rows)
        >>> tamis.load("run.json") == result
        True
        """
        from tamis.handover import save

        save(self, data, *paths)

    def compare(self, *others: object) -> Comparison:
        """Compare the graph with others: which arrows appeared, vanished and turned.

        Parameters
        ----------
        *others : result, model, graph or path
            Any graph that `tamis.compare` takes.

        Returns
        -------
        Comparison
            This graph comes first.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20}
        >>> tamis.TAM().fit(rows).result_.compare({"rain": [], "wet": []}).changes().vanished
        (('rain', 'wet'),)
        """
        from tamis.comparison import compare_graphs

        return compare_graphs([self, *others])

    def bootstrap(
        self,
        data: object,
        n: int = 200,
        *,
        sample_weight: object = None,
        n_jobs: int | None = None,
        seed: int = 1,
        scheme: Scheme = "half",
        search: Search | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Bootstrapped:
        """Say how sure each arrow is: the share of resampled tables that show it.

        Parameters
        ----------
        data : data frame, array, mapping or path
            The table that the result was learned from, since a result holds no rows.
        n : int
            The number of resamples to learn.
        sample_weight : sequence, str or None
            The weights of the rows, if the result was learned with any.
        n_jobs : int or None
            Threads; None is all cores.
        seed, scheme, search, progress
            As in `tamis.TAM.bootstrap`.

        Returns
        -------
        Confidence
            Shares of arrows and layers, for `plot` and `report`.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20}
        >>> tamis.TAM().fit(rows).result_.bootstrap(rows, 10).skeleton("rain", "wet")
        1.0
        """
        from tamis.bootstrap import bootstrap, read_again

        table, settings = read_again(self, data, sample_weight, n_jobs)
        return bootstrap(
            table, self, settings, n, seed=seed, scheme=scheme, search=search,
            progress=progress,
        )  # fmt: skip

    def fitted_network(self, data: object, *, equivalent_sample_size: float = 1.0) -> Network:
        """Fit the distribution of each column given its parents.

        Columns of levels get tables, columns of numbers regressions.

        Parameters
        ----------
        data : data frame, array, mapping or path
            The rows to fit, with the columns of the result, which holds no rows itself.
        equivalent_sample_size : float
            Rows that the prior is worth; see ``tamis.handover.fitted_network``.

        Returns
        -------
        BayesianNetwork or GaussianNetwork
            The DAG with its tables, or with coefficients.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20}
        >>> tamis.TAM().fit(rows).result_.fitted_network(rows)
        <BayesianNetwork: 2 variables, 1 edges, 3 parameters>
        """
        from tamis.handover import fitted_network

        return fitted_network(self, data, equivalent_sample_size=equivalent_sample_size)

    def to_networkx(self, network: Network | None = None) -> nx.DiGraph[str]:
        """Convert the DAG to networkx.

        Parameters
        ----------
        network : Network or None
            A fitted network of this graph, whose coefficients the edges then carry.

        Returns
        -------
        networkx.DiGraph
            Nodes carry layer, entropy and levels; edges carry their numbers.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20}
        >>> list(tamis.TAM().fit(rows).result_.to_networkx().edges)
        [('rain', 'wet')]
        """
        from tamis.handover import to_networkx

        return to_networkx(self, network)

    def to_dowhy(self) -> nx.DiGraph[str]:
        """Convert the DAG to what DoWhy takes.

        Returns
        -------
        networkx.DiGraph
            For ``dowhy.CausalModel(data, treatment, outcome, graph=...)``.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20}
        >>> print(tamis.TAM().fit(rows).result_.to_dowhy())
        DiGraph with 2 nodes and 1 edges
        """
        from tamis.handover import to_dowhy

        return to_dowhy(self)

    def to_pgmpy(self, data: object = None, *, equivalent_sample_size: float = 1.0) -> Any:  # noqa: ANN401 - a class of a library that may be absent
        """Convert the DAG to pgmpy, with its probabilities if there are rows to count.

        Parameters
        ----------
        data : data frame, array, mapping, path or None
            The rows to count. Without them only the graph is converted.
        equivalent_sample_size : float
            Rows that are spread evenly over the cells of every table.

        Returns
        -------
        pgmpy.models.DiscreteBayesianNetwork, LinearGaussianBayesianNetwork or pgmpy.base.DAG
            The fitted network, of levels or of numbers; without ``data`` the graph.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20}
        >>> list(tamis.TAM().fit(rows).result_.to_pgmpy().edges())
        [('rain', 'wet')]
        """
        from tamis.handover import to_pgmpy, to_pgmpy_graph

        if data is None:
            return to_pgmpy_graph(self)
        return to_pgmpy(self, data, equivalent_sample_size=equivalent_sample_size)

    def to_pyagrum(self, data: object, *, equivalent_sample_size: float = 1.0) -> Any:  # noqa: ANN401 - as above
        """Convert the DAG with its probabilities to pyAgrum; its columns must be levels.

        Parameters
        ----------
        data : data frame, array, mapping or path
            The rows to count, since a result holds none.
        equivalent_sample_size : float
            Rows that are spread evenly over the cells of every table.

        Returns
        -------
        pyagrum.BayesNet
            The DAG with its tables.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20}
        >>> tamis.TAM().fit(rows).result_.to_pyagrum(rows).size()
        2
        """
        from tamis.handover import to_pyagrum

        return to_pyagrum(self, data, equivalent_sample_size=equivalent_sample_size)

    def require(self, name: str) -> None:
        """Refuse a name that is not a column, and suggest the nearest that is.

        Parameters
        ----------
        name : str
            The name to look for.

        Raises
        ------
        SettingError
            If the result has no such column.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20}
        >>> tamis.TAM().fit(rows).result_.require("rian")
        Traceback (most recent call last):
        ...
        tamis.errors.SettingError: there is no column 'rian'; did you mean 'rain'?
        """
        if not isinstance(name, str) or name not in self.parents:
            raise SettingError(f"there is no column {name!r}; {suggest(name, self.names)}")


def put_off(result: Result, **told: Callable[[], object]) -> Result:
    """The result, of which these fields are worked out when they are first read or stored."""
    for name in told:
        del vars(result)[name]
    vars(result)["_told"] = told
    return result


def suggest(name: object, names: tuple[str, ...]) -> str:
    """What to say to somebody who named a column that is not there."""
    from difflib import get_close_matches

    close = get_close_matches(str(name), names, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    shown = ", ".join(repr(n) for n in names[:10])
    return f"the columns are {shown}" + (", ..." if len(names) > 10 else "")
