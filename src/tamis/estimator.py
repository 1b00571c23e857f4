"""TAM: the front door, in the manner of scikit-learn; thin."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from tamis.choices import BoundarySearch, SourceOfTable
from tamis.counting.opening import open_blocks, opened, require_rows_here
from tamis.decisions.rule import Rule
from tamis.errors import DataError, PluginError, SettingError
from tamis.information.estimators import AnyEstimator
from tamis.information.interface import Source
from tamis.information.own_test import PairTest
from tamis.knowledge import Knowledge
from tamis.learning import learn, with_path
from tamis.opening import read_opened
from tamis.plugins import require_callable
from tamis.progress import showing
from tamis.result import Explanation, Result, Run, Trace
from tamis.settings import Settings
from tamis.tables import Table
from tamis.tables.kinds import Told
from tamis.tables.table import AnyTable, with_rows

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes

    from tamis.bootstrap import Confidence as Bootstrapped
    from tamis.comparison import Comparison
    from tamis.drawing import Confidence
    from tamis.forecast import Forecast
    from tamis.identifiability import RecoveryCheck
    from tamis.network import Network
    from tamis.rescoring import Rescored
    from tamis.tables.plan import Plan


@cache
def _parameters(model: type[BaseEstimator]) -> list[str]:
    """The names of a model's parameters, which scikit-learn reads from its signature."""
    names: list[str] = model._get_param_names()
    return names


class TAM(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Learn one DAG from a table.

    Parameters
    ----------
    search : {"auto", "sequential", "sieve", "node", "layer", "reference"}
        "auto" runs several of the others on the same table, keeps the DAG of largest penalised
        likelihood and refines its order where the likelihood clearly asks for it. The others say
        how the next nodes are found: "node" and "layer" are the paper's testing and masking,
        short and general; "sieve" masks by every less uncertain node; "sequential" takes the
        least uncertain node, one at a time; "reference" agrees with the authors' program.
    alpha : float or None
        Of the tests: about this number of false parents is expected in the whole graph.
        None is 0.02 for "auto", and more, up to 0.5, where the edges found with that are
        weak; the other searches have their own, see the rules.
    entropy : {"grassberger", "plugin", "miller-madow", "jackknife", "minimax"}, estimator, callable
        How entropies are estimated; None is "grassberger" ("minimax" for "reference"). A function
        ``f(counts) -> nats`` of the counts of a table is called on every table, which takes longer
        than the others, which are sums over cells.
    boundary_rule, masking_rule : rule of `tamis.rules`, float or callable
        When a gain counts as dependence, in the parents' selection and in masking; a number
        is a fixed threshold in nats, and a function ``f(source, x, y, given) -> p`` a test, which
        is held against the alpha of the rule that it replaces. None is Permutation(0.001) for
        parents and Permutation(0.01) for masking, in the sieve Permutation(0.05); 0.005 and
        0.001 nats for "reference"; by ``alpha`` for "auto". "sequential" does no masking. FTest
        stands for Permutation with "gaussian" and "copula" information, ChiSquared with
        "conditional-gaussian", LocalPermutation with "neighbours" and "mixed", and 0.04 nats with
        "lipschitz"; PValue, the source's own test, with a source from outside.
    boundary : {"pps", "none"} or callable
        Whether to condition on a boundary found by PPS or on the whole ancestral set. A function
        ``f(source, target, candidates) -> members`` is any other Markov boundary search: it is
        called for every remaining node after every layer, and what it finds are the parents.
        search="auto" is then "node".
    backward : {"one", "together", "none"} or bool
        How superfluous parents are removed: one at a time, all at once, or not at all; None
        is the search's default, True is "one", False is "none".
    max_boundary : int or None
        The largest boundary PPS may build; with "lipschitz" information 2, and no more.
    look_ahead : int or None
        The most candidates that are tried together where no single one passes, so that the
        parents of a parity are found. None is as many as a budget allows for "auto", and as pays,
        and 1, none, for the others. Sets that are too many to count are looked for on a sample of
        the rows. The cost grows like d to the power of ``look_ahead`` + 1.
    information : str, Source or callable
        What is known of the table: "counts" of levels; the moments of numbers, "gaussian" (linear
        dependence; exact for Gaussian columns), of their ranks, "copula" (monotone dependence),
        or of numbers within the cells of levels, "conditional-gaussian"; nearest "neighbours" of
        numbers, or of numbers and levels, "mixed" (any smooth dependence, slower); smoothed
        densities, "lipschitz" (the paper's choice, at most two parents a node). "auto" takes
        what the columns are: levels are counted, numbers with measurements among them have
        moments, and measurements beside labels have them within cells; whole numbers are read
        both ways by search="auto", which keeps what explains them better.
        "neighbours", "mixed" and "lipschitz" have no likelihood to choose between graphs: with
        them search="auto" is "sequential". See docs/continuous.md for when to use which.
        A `tamis.Source` answers in place of a table, and a function ``f(table) -> Source`` makes
        one of the table that is fitted, a `tamis.TableView`; see docs/bring-your-own.md.
    source : mapping or None
        The settings of the information by name, such as {"k": 10}: ``k``, ``shuffles`` and
        ``seed`` of "neighbours" and "mixed"; ``thin`` of "conditional-gaussian", the rows that a
        cell needs for moments of its own; ``shrinkage`` of "gaussian", a number
        or "auto"; ``shrinkage`` and ``seed`` of "copula"; those of
        `tamis.information.lipschitz.Smoothing`. The others have none.
    knowledge : Knowledge, mapping, path or None
        What is known about the arrows: required and forbidden ones, tiers, sources and sinks. The
        search keeps to it; see `tamis.Knowledge`.
    refine : bool
        Whether search="auto" looks for the equivalence class by likelihood and for the likeliest
        DAG in it (see docs/directions.md), or keeps the best of the paper's searches as it is.
    units : {"unknown", "same"}
        Whether the numbers of measured columns are in one unit. "same" asserts that their
        entropies can be compared, as the paper's conditions do; otherwise they decide between
        directions only as far as the table itself shows that they carry information.
    types : mapping, Plan or None
        The kinds of columns by name, where they are not what `tamis.inspect` finds: "category",
        "ordinal", "number", or "ignore" for one that is left out; a list of its levels from low
        to high makes a column ordinal in this order. A plan of `tamis.inspect` does the same.
    missing : {"error", "drop", "level", "pairwise", "drop-anyway"}
        What is done about missing values: they are refused; rows that have any are left out, as
        long as that is at most half of them, or with "drop-anyway" also if it is more; categories
        have a level of their own for them; each test uses what is present, which is also what
        "level" does for numbers. See docs/missing-and-weights.md.
    memory : int, str or None
        The bytes that the process may take, such as "2GB", while it reads files in blocks, for
        counts or moments: a packed file of `tamis pack`, a folder or a pattern (None is 2GB), and
        with a limit also a single CSV or Parquet file. See docs/scale.md.
    n_jobs : int or None
        Threads used for counting; None is all cores. The result does not depend on it.

    Attributes
    ----------
    graph_ : networkx.DiGraph
        The DAG; each edge carries ``gain`` (nats), ``p_value``, ``step``, ``gain_given_rest``,
        ``entropy_gap``, by how many nats its parent was less uncertain than its child,
        ``warrant``, what its direction rests on, and ``direction_probability``.
        "lipschitz" information has no tests: there ``p_value`` is nan.
    cpdag_ : networkx.DiGraph
        What all Markov equivalent DAGs share; an undirected edge is there in both directions.
    ranking_ : list of Run
        What "auto" tried, the answer first, with scores and the condition each rests on.
    adjacency_ : ndarray of shape (d, d)
        ``adjacency_[i, j] == 1`` where column i is a parent of column j.
    layers_ : list of lists of names
        The layers as the search found them; for "sequential" and a refined order, which find
        none, those of the DAG. Every edge points to a later layer.
    order_, parents_, entropies_, trace_
        The order of admission, each node's parents, its conditional entropy at admission, and
        every decision.
    network_ : BayesianNetwork or GaussianNetwork
        The DAG with the law of each column given its parents: tables, or coefficients.
    result_ : Result
        All of this, frozen; what `save` writes and `tamis.load` reads.
    """

    def __init__(
        self,
        search: str = "auto",
        *,
        alpha: float | None = None,
        entropy: str | AnyEstimator | Callable[..., float] | None = None,
        boundary_rule: float | Rule | PairTest | None = None,
        masking_rule: float | Rule | PairTest | None = None,
        boundary: str | BoundarySearch = "pps",
        backward: str | bool | None = None,
        max_boundary: int | None = None,
        look_ahead: int | None = None,
        information: str | Source | SourceOfTable = "auto",
        source: Mapping[str, Any] | None = None,
        knowledge: Knowledge | Mapping[str, Any] | str | os.PathLike[str] | None = None,
        refine: bool = True,
        units: str = "unknown",
        types: Mapping[str, Told] | Plan | None = None,
        missing: str = "error",
        memory: int | str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.search = search
        self.alpha = alpha
        self.entropy = entropy
        self.boundary_rule = boundary_rule
        self.masking_rule = masking_rule
        self.boundary = boundary
        self.backward = backward
        self.max_boundary = max_boundary
        self.look_ahead = look_ahead
        self.information = information
        self.source = source
        self.knowledge = knowledge
        self.refine = refine
        self.units = units
        self.types = types
        self.missing = missing
        self.memory = memory
        self.n_jobs = n_jobs

    def fit(
        self,
        X: object = None,
        y: object = None,
        *,
        sample_weight: object = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Self:
        """Learn the DAG of a table: data frame, array, mapping or path. ``y`` is ignored.

        A packed file, a folder or a pattern such as "folder/*.parquet" is counted in blocks; a Dask
        data frame is counted by the workers of the current client, see docs/dask.md.

        ``sample_weight`` is a sequence with a number for each row, or the name of the column that
        holds them, which is then no variable. Whole numbers say how often a row occurs; others
        are survey weights. See docs/missing-and-weights.md.
        ``progress`` is called with the number of nodes admitted and the number of all. In a
        notebook a bar is shown without it, once the work has taken a second.

        Where ``information`` is a `tamis.Source`, every answer is the source's and there need be
        no table; one with the same columns gives the result its levels and networks their
        parameters. If anything fails, what an earlier fit has found stays.
        """
        require_callable("progress", progress)
        settings = self._settings()
        table: AnyTable | None = None
        with self._alone(settings), showing("admitting columns", progress) as heard:
            if X is None and settings.own_information is not None:
                result = learn(None, settings, heard)
            else:
                with opened(
                    X,
                    memory=settings.memory,
                    missing=settings.missing,
                    information=settings.read_as,
                    weights=sample_weight,
                    types=settings.types,
                ) as given:
                    table = read_opened(given, settings, sample_weight)
                    result = with_path(learn(table, settings, heard), X)
        # For what is fitted and drawn later: the codes of the columns, a byte or two a cell.
        self._learned_from = table, settings
        self._network: Network | None = None
        self.result_: Result = result
        self.feature_names_in_: NDArray[np.object_] = np.array(result.names, dtype=object)
        self.n_features_in_: int = len(result.names)
        self.ranking_: list[Run] = list(result.ranking)
        self.adjacency_: NDArray[np.int8] = result.adjacency
        self.layers_: list[list[str]] = [list(layer) for layer in result.layers]
        self.order_: list[str] = list(result.order)
        self.parents_: dict[str, list[str]] = {k: list(v) for k, v in result.parents.items()}
        self.entropies_: dict[str, float] = dict(result.entropies)
        self.trace_: Trace = result.trace
        return self

    def _repr_html_inner(self) -> str:
        """What a notebook shows: the answer once there is one, and before it the parameters."""
        if hasattr(self, "result_"):
            return self.result_._repr_html_()
        return str(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:  # noqa: ANN401 - as IPython has it
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        # scikit-learn leaves HTML out where its users have said so.
        return bundle | {"text/html": self._repr_html_inner()} if "text/html" in bundle else bundle

    def _settings(self) -> Settings:
        return Settings(**{name: getattr(self, name) for name in _parameters(type(self))})  # type: ignore[arg-type]

    @contextmanager
    def _alone(self, settings: Settings) -> Iterator[None]:
        """Refuse a fit from within a fit: what is from outside must not call what calls it, from
        whatever thread and with whatever parameters."""
        at_work: dict[object, tuple[str, ...]] = self.__dict__.setdefault("_at_work", {})
        plugged = next(filter(None, (*at_work.values(), settings.from_outside)), ())
        if at_work and plugged:
            raise PluginError(
                f"fit was called by what it calls itself ({', '.join(plugged)}), or by a second "
                "thread while it was at work: learn with another model there"
            )
        key = object()
        at_work[key] = settings.from_outside
        try:
            yield
        finally:
            del at_work[key]

    def __getstate__(self) -> dict[str, Any]:
        """Rows that are elsewhere stay there when a model is copied or stored."""
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_at_work", None)
        table, _ = state.get("_learned_from", (None, None))
        if table is not None and table.rows != "memory":
            del state["_learned_from"]
        return state

    def _whence(self) -> tuple[AnyTable, Settings]:
        """The table that was learned from, and what was asked of it."""
        check_is_fitted(self)
        if not hasattr(self, "_learned_from"):
            raise SettingError(
                "The model is a copy, and the rows it was learned from were never held in memory, "
                "which this needs: read the table itself, or a sample of its rows"
            )
        table, settings = self._learned_from
        if table is None:
            raise SettingError(
                f"The model was learned from {settings.read_as} and not from rows, which this "
                "needs: fit with a table of the same columns"
            )
        return table, settings

    def _rows(self) -> tuple[Table, Settings]:
        """The table, if its rows are in memory."""
        table, settings = self._whence()
        return with_rows(table), settings

    def forecast(self, X: object, *, sample_weight: object = None) -> Forecast:
        """What `fit` would take, in memory and time, and how weak a dependence it could see."""
        from tamis.forecast import forecast

        settings = self._settings()
        require_rows_here(X)
        given = open_blocks(
            X,
            memory=settings.memory,
            missing=settings.missing,
            information=settings.read_as,
            types=settings.types,
        )
        return forecast(read_opened(given, settings, sample_weight), settings)

    @property
    def graph_(self) -> nx.DiGraph[str]:
        """The DAG, anew each time."""
        return self._found.graph

    @property
    def cpdag_(self) -> nx.DiGraph[str]:
        """What all Markov equivalent DAGs share."""
        return self._found.cpdag

    @property
    def network_(self) -> Network:
        """The DAG with the law of each column given its parents.

        Tables for levels (`tamis.BayesianNetwork`); linear regressions for numbers, and regressions
        in the cells of levels where there are both (`tamis.GaussianNetwork`). It is fitted when
        first asked for, to the rows that the graph was learned from, with a prior worth one row.
        ``tamis.handover.fitted_network`` fits it to other rows, and with other priors.
        """
        check_is_fitted(self)
        from tamis.handover import fitted_network

        if self._network is None:
            self._network = fitted_network(self.result_, self._whence()[0])
        return self._network

    def score(self, X: object, y: object = None) -> float:
        """The mean log-likelihood of rows under the fitted network, in nats a row.

        The larger the better, so that `sklearn.model_selection.cross_val_score` and `GridSearchCV`
        choose by it. Probabilities of levels and densities of numbers are multiplied: densities are
        per unit, so scores of the same columns in the same units can be compared.

        Parameters
        ----------
        X : table
            Rows, as `fit` takes them; at least one. Other columns than those of the graph are
            ignored, and one that is absent raises ``DataError``.
        y : ignored

        Returns
        -------
        float
            Finite. A label that was never seen while learning counts as one more level of its
            column, with the share that one row spread over all levels would give it; a
            ``TamisWarning`` names it. Rows with missing values raise ``DataError``, unless
            ``missing`` is "drop", which leaves them out with a warning, or "level", which has
            learned them as a level.

        Examples
        --------
        >>> import tamis
        >>> rows = {"a": [0, 0, 1, 1] * 20, "b": [0, 0, 1, 1] * 20}
        >>> round(tamis.TAM().fit(rows).score(rows), 2)
        -0.7
        """
        check_is_fitted(self)
        from tamis.network.scoring import mean_log_likelihood

        if isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] < self.n_features_in_:
            # In scikit-learn's words: an array has no names to tell what is absent.
            raise DataError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input: pass the columns that were learned from"
            )
        _, settings = self._whence()
        return mean_log_likelihood(
            self.network_,
            X,
            n_learned=self.result_.n_rows or 0,
            drop_missing=settings.missing in ("drop", "drop-anyway"),
        )

    def recovery_check(
        self,
        n_simulations: int = 50,
        *,
        seed: int = 1,
        equivalent_sample_size: float = 1.0,
        conditions: str | bool = "quick",
        progress: Callable[[int, int], None] | None = None,
    ) -> RecoveryCheck:
        """How often the model comes back from tables drawn from itself: plausibility, not proof.

        The network of the learned graph is fitted (`network_`), and ``n_simulations`` tables of
        the same number of rows are drawn from it and learned with the same settings. What does not
        come back even then is beyond this number of rows.

        Parameters
        ----------
        n_simulations : int
            How many tables are drawn and learned.
        seed : int
            The same seed draws the same tables on every machine.
        equivalent_sample_size : float
            The rows that the prior of the fitted network is worth.
        conditions : {"quick", "all", False}
            Which of the paper's conditions are checked on the fitted network; "all" can take
            minutes beyond some dozens of columns. Columns of numbers have no such check.
        progress : callable or None
            Called with the number of tables learned so far and of all.

        Returns
        -------
        RecoveryCheck
        """
        check_is_fitted(self)
        from tamis.identifiability.recovery import recovery_check

        require_callable("progress", progress)
        table, settings = self._rows()
        if table.missing or table.weights is not None:
            raise SettingError(
                "recovery_check draws complete rows of equal weight, and the model was learned "
                "from rows with missing values or survey weights: fit with missing='drop' or "
                "'level', without such weights"
            )
        return recovery_check(
            table,
            self.result_,
            settings,
            n_simulations=n_simulations,
            seed=seed,
            equivalent_sample_size=equivalent_sample_size,
            conditions=conditions,
            progress=progress,
        )

    def bootstrap(
        self,
        n: int = 200,
        *,
        seed: int = 1,
        scheme: str = "half",
        search: str | None = None,
        resume: str | os.PathLike[str] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Bootstrapped:
        """How sure each arrow is: its share of ``n`` resampled tables.

        ``scheme`` "half" draws half of the rows without replacement, "rows" as many as there are
        with replacement, which makes arrows of columns with several levels look too sure. A
        column may have two parents more than any has in the graph. ``search`` None is the one
        that found the graph (for "auto" the one it chose; a refined graph is refined each time).
        ``resume`` names a file that keeps what is done, so that an interrupted run goes on where
        it was. The outcome has ``edges``, ``skeleton(a, b)``, ``direction(a, b)``, ``layers``
        and ``graph(threshold)``; give it to
        `plot` and `report`.
        """
        from tamis.bootstrap import bootstrap

        table, settings = self._rows()
        return bootstrap(
            table, self.result_, settings, n, seed=seed, scheme=scheme, search=search,
            resume=resume, progress=progress,
        )  # fmt: skip

    def with_edges(
        self,
        X: object,
        *,
        add: Iterable[tuple[str, str]] = (),
        remove: Iterable[tuple[str, str]] = (),
        turn: Iterable[tuple[str, str]] = (),
        sample_weight: object = None,
    ) -> Rescored:
        """What it costs to change some arrows, in nats of the penalised log-likelihood.

        The score is the one that the search compares graphs by, so turning an arrow that every
        equivalent graph may turn costs nothing.

        Parameters
        ----------
        X : table
            The table that was learned from, or another with the same columns.
        add, remove, turn : iterable of (parent, child)
            The changes. An arrow to turn is named as it points now.
        sample_weight : str, sequence or None
            The weights of the rows, as `fit` takes them.

        Returns
        -------
        tamis.rescoring.Rescored
            The changed graph with its score, before and after, in all and by column; print it.

        Examples
        --------
        >>> import tamis
        >>> rows = {"a": [0, 0, 1, 1] * 20, "b": [0, 0, 1, 1] * 20}
        >>> model = tamis.TAM().fit(rows)
        >>> edge = tuple(model.graph_.edges)[0]
        >>> model.with_edges(rows, turn=[edge])
        <Rescored: 1 arrow changed, no better and no worse>
        """
        check_is_fitted(self)
        from tamis.rescoring import with_edges

        return with_edges(
            self.result_.parents, self._settings_chosen(), X, add=add, remove=remove, turn=turn,
            weights=sample_weight,
        )  # fmt: skip

    def _settings_chosen(self) -> Settings:
        """The settings of the fit, with the information that was chosen."""
        if not hasattr(self, "_learned_from"):
            return Settings.from_dict(self.result_.settings)
        settings: Settings = self._learned_from[1]
        if settings.own_information is not None:
            return settings
        return settings.on(self.result_.settings["information"])

    def explain(self, name: str) -> Explanation:
        """The tests that put a column where it is; print it."""
        return self._found.explain(name)

    def save(self, *paths: str | os.PathLike[str]) -> None:
        """Write files by their endings: .json, .dot, .graphml, .csv; .svg, .png or .pdf, the
        picture; .bif, the fitted network."""
        # Only a fitted network needs the table.
        fitted = any(os.fspath(path).lower().endswith(".bif") for path in paths)
        self._found.save(*paths, data=self._whence()[0] if fitted else None)

    def plot(self, ax: Axes | None = None, *, confidence: Confidence | None = None) -> Axes:
        """Draw the graph with matplotlib: layers from left to right, width by gain, dashed where
        nothing supports a direction. With ``confidence`` lines are as strong as they are sure."""
        return self._found.plot(ax, confidence=confidence)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        recovery: RecoveryCheck | None = None,
        confidence: Confidence | None = None,
        command: str | None = None,
    ) -> None:
        """Write all there is to see into one HTML file that needs no network."""
        self._found.report(path, recovery=recovery, confidence=confidence, command=command)

    def compare(self, *others: object) -> Comparison:
        """Compare the graph with others: what appeared, vanished and turned; see `compare`."""
        return self._found.compare(*others)

    def to_networkx(self, *, fitted: bool = False) -> nx.DiGraph[str]:
        """The DAG; nodes carry layer, entropy and levels, edges their numbers.

        With ``fitted`` edges carry the coefficients of `network_` too.
        """
        return self._found.to_networkx(self.network_ if fitted else None)

    def to_dowhy(self) -> nx.DiGraph[str]:
        """The DAG as ``dowhy.CausalModel(data, treatment, outcome, graph=...)`` takes it."""
        return self._found.to_dowhy()

    def to_pgmpy(self, *, equivalent_sample_size: float = 1.0) -> Any:  # noqa: ANN401 - may be absent
        """A fitted ``pgmpy.models.DiscreteBayesianNetwork``, or, for columns of numbers, a
        ``pgmpy.models.LinearGaussianBayesianNetwork``."""
        table, _ = self._whence()
        return self._found.to_pgmpy(table, equivalent_sample_size=equivalent_sample_size)

    def to_pyagrum(self, *, equivalent_sample_size: float = 1.0) -> Any:  # noqa: ANN401 - may be absent
        """A fitted ``pyagrum.BayesNet``; for columns of levels."""
        table, _ = self._whence()
        return self._found.to_pyagrum(table, equivalent_sample_size=equivalent_sample_size)

    @property
    def _found(self) -> Result:
        """The result, if there is one: it does what does not need the rows."""
        check_is_fitted(self)
        return self.result_
