"""TAM: the front door, in the manner of scikit-learn; thin."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tamis.choices import BoundarySearch, SourceOfTable
from tamis.counting.opening import open_blocks, opened, require_rows_here
from tamis.decisions.rule import Rule
from tamis.errors import DataError, PluginError, SettingError
from tamis.information.estimators import AnyEstimator, EstimatorName
from tamis.information.interface import Source
from tamis.information.outside import PairTest
from tamis.knowledge import Knowledge
from tamis.learning import learn, with_path
from tamis.opening import read_opened
from tamis.parameters import Backward, Boundary, KindName, Search, Units, require
from tamis.progress import showing
from tamis.result import Explanation, Result, Run, Trace
from tamis.settings import Settings
from tamis.tables import Table
from tamis.tables.assemble import Missing
from tamis.tables.kinds import Told
from tamis.tables.table import AnyTable, with_rows

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes

    from tamis.bootstrap import Confidence as Bootstrapped
    from tamis.bootstrap import Scheme
    from tamis.comparison import Comparison
    from tamis.drawing import Confidence
    from tamis.forecast import Forecast
    from tamis.identifiability import RecoveryCheck
    from tamis.identifiability.recovery import Conditions
    from tamis.network import Network
    from tamis.rescoring import Rescored
    from tamis.tables.plan import Plan

    class BaseEstimator:
        """What TAM takes from scikit-learn, whose own classes have no types: below them, whatever
        is asked of a model would pass as right."""

        @classmethod
        def _get_param_names(cls) -> list[str]: ...
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...  # noqa: D102
        def set_params(self, **params: Any) -> Self: ...  # noqa: ANN401, D102
        def _repr_html_inner(self) -> str: ...
        def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]: ...  # noqa: ANN401
        def __getstate__(self) -> dict[str, Any]: ...

else:
    from sklearn.base import BaseEstimator


@cache
def _parameters(model: type[BaseEstimator]) -> list[str]:
    """The names of a model's parameters, which scikit-learn reads from its signature."""
    return model._get_param_names()


class TAM(BaseEstimator):
    """Learn one DAG from a table.

    Parameters
    ----------
    search : {"auto", "sequential", "node", "layer", "reference", "paper"}
        How the graph is found. "auto" looks for the equivalence class with the best score, over
        orders of the columns, and for the DAG in it whose noise is most even. "node" and "layer"
        are the paper's algorithms, in the short and in the general form: they test and mask.
        "sequential" takes the least uncertain column, one at a time. "paper" is the paper's
        experiment as stated, and "reference" reproduces the authors' program.
    alpha : float or None
        About the number of false parents to expect in the whole graph, for searches that test:
        their defaults are those of ``boundary_rule``. "auto" has a score and no alpha.
    entropy : {"grassberger", "plugin", "miller-madow", "jackknife", "minimax"}, estimator, callable
        How entropies are estimated. None is "grassberger", and "minimax" for "reference". The
        estimators of tamis are sums over cells. A function ``f(counts) -> nats`` need not be: it is
        called on every table of counts, which takes longer.
    boundary_rule, masking_rule : rule of `tamis.rules`, float, callable or None
        When information counts as dependence: in the choice of parents, and in masking. A number is
        a fixed threshold in nats. A function ``f(source, x, y, given) -> p`` is a test, compared
        with the alpha of the rule that it replaces. None is Permutation(0.001) for parents and
        Permutation(0.01) for masking; 0.005 and 0.001 nats for "reference" and "paper". "auto" has
        none, and "sequential" a score unless a rule is given; it does no masking.
        Permutation is replaced by FTest with "gaussian" and "copula" information, by ChiSquared
        with "conditional-gaussian", by LocalPermutation with "neighbours" and "mixed", by 0.04 nats
        with "lipschitz", and by PValue, the source's own test, with a source of your own.
    boundary : {"pps", "none"} or callable
        What to condition on: a boundary found by PPS, or the whole ancestral set. A function
        ``f(source, target, candidates) -> members`` is any other Markov boundary search. It is
        called for every remaining node after every layer, and the members that it returns are the
        parents. With a function, search="auto" means "node".
    backward : {"one", "together", "none"} or bool
        How superfluous parents are removed: one at a time, all at once, or not at all. None is the
        default of the search, True is "one", False is "none".
    max_boundary : int or None
        The most parents that may be selected for a column. With "lipschitz" information it is 2,
        and cannot be larger.
    look_ahead : int or None
        None lets "auto" try sets of candidates together where no single one raises the score, as
        far as its budget allows, so that the parents of a parity are found; 1 does not. The
        searches that test look at single candidates.
    information : str, Source or callable
        How dependence is measured. "counts" counts levels. "gaussian" uses the moments of numbers
        (linear dependence; exact for Gaussian columns), "copula" the moments of their ranks
        (monotone dependence), "conditional-gaussian" the moments of numbers within the cells of
        levels. "neighbours" uses nearest neighbours of numbers, "mixed" of numbers and levels (any
        smooth dependence, but slower). "lipschitz" smooths densities (the paper's choice, at most
        two parents a node). "auto" goes by the columns: counts for levels, moments for numbers if
        at least one column is continuous, moments within cells for continuous columns beside
        labels. Whole numbers are tried as levels and as numbers by search="auto", which keeps what
        explains them better. "neighbours", "mixed" and "lipschitz" have no likelihood to compare
        graphs by, so with them search="auto" means "sequential". See docs/continuous.md for when to
        use which. A `tamis.Source` answers in place of a table, and a function ``f(table) ->
        Source`` makes one from the table that is fitted, a `tamis.TableView`; see
        docs/bring-your-own.md.
    source : mapping or None
        Settings of the information by name, such as {"k": 10}: ``k``, ``shuffles`` and ``seed`` of
        "neighbours" and "mixed"; ``thin`` of "conditional-gaussian", the number of rows that a cell
        needs for moments of its own; ``shrinkage`` of "gaussian", a number or "auto";
        ``shrinkage`` and ``seed`` of "copula"; the fields of
        `tamis.information.lipschitz.Smoothing`. The others have no settings.
    knowledge : Knowledge, mapping, path or None
        What is known about the arrows: required and forbidden arrows, tiers, sources and sinks. The
        search respects it; see `tamis.Knowledge`.
    edge_price : float
        What an edge costs in the score of "auto" and "sequential", in units of the logarithm of the
        number of columns: more gives fewer edges.
    units : {"unknown", "same"}
        Whether all continuous columns are in one unit. "same" asserts that their entropies can be
        compared, as the paper's conditions do. With "unknown" the entropies decide between
        directions only as far as the table itself shows that they carry information.
    types : mapping, Plan or None
        The kinds of columns by name, where they differ from what `tamis.inspect` finds: "category",
        "ordinal", "number", or "ignore" to leave a column out. A list of levels from low to high
        makes a column ordinal in this order. A plan of `tamis.inspect` can be passed as it is.
    missing : {"error", "drop", "level", "pairwise", "drop-anyway"}
        What to do about missing values. "error" refuses them. "drop" leaves out incomplete rows if
        they are at most half of all rows; "drop-anyway" leaves them out even if they are more.
        "level" makes missing a level of its own for categories and works like "pairwise" for
        numbers. "pairwise" lets each test use the values that are present. See
        docs/missing-and-weights.md.
    memory : int, str or None
        The memory that the process may use, such as "2GB", while it reads files in blocks: a packed
        file of `tamis pack`, a folder or a pattern (None is 2GB), and, if a limit is given, a
        single CSV or Parquet file too. See docs/scale.md.
    n_jobs : int or None
        Threads used for counting; None is all cores. The result does not depend on it.

    Attributes
    ----------
    graph_ : networkx.DiGraph
        The DAG. Each edge carries ``gain`` (conditional mutual information in nats), ``p_value``,
        ``step``, ``gain_given_rest``, ``entropy_gap`` (by how many nats the parent was less
        uncertain than the child), ``warrant`` (what the direction rests on) and
        ``direction_probability``. "lipschitz" information has no tests: there ``p_value`` is nan.
    cpdag_ : networkx.DiGraph
        The CPDAG: what all Markov equivalent DAGs share. An undirected edge is there in both
        directions.
    ranking_ : list of Run
        What "auto" tried, the answer first, with scores and the condition each search rests on.
    adjacency_ : ndarray of shape (d, d)
        ``adjacency_[i, j] == 1`` where column i is a parent of column j.
    layers_ : list of lists of names
        The layers as the search found them. "auto" and "sequential" find none: there they are the
        layers of the DAG. Every edge points to a later layer.
    order_, parents_, entropies_, trace_
        The order of admission, each node's parents, its conditional entropy at admission, and
        every decision.
    network_ : BayesianNetwork or GaussianNetwork
        The DAG with the distribution of each column given its parents: tables, or coefficients.
    result_ : Result
        The whole answer, frozen. `save` writes it and `tamis.load` reads it.

    Examples
    --------
    >>> import tamis
    >>> orchard = tamis.BayesianNetwork.example("orchard").sample(500, seed=1)
    >>> model = tamis.TAM().fit(orchard)
    >>> model.layers_[0], model.parents_["fruit"]
    (['frost', 'bees'], ['bees', 'blossom'])
    >>> sorted({edge["warrant"] for *_, edge in model.graph_.edges(data=True)})
    ['equivalence', 'none']
    """

    def __init__(
        self,
        search: Search = "auto",
        *,
        alpha: float | None = None,
        entropy: EstimatorName | AnyEstimator | Callable[..., float] | None = None,
        boundary_rule: float | Rule | PairTest | None = None,
        masking_rule: float | Rule | PairTest | None = None,
        boundary: Boundary | BoundarySearch = "pps",
        backward: Backward | bool | None = None,
        max_boundary: int | None = None,
        look_ahead: int | None = None,
        information: KindName | Literal["auto"] | Source | SourceOfTable = "auto",
        source: Mapping[str, Any] | None = None,
        knowledge: Knowledge | Mapping[str, Any] | str | os.PathLike[str] | None = None,
        edge_price: float = 1.0,
        units: Units = "unknown",
        types: Mapping[str, Told] | Plan | None = None,
        missing: Missing = "error",
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
        self.edge_price = edge_price
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
        """Learn the DAG of a table.

        If the fit fails, an earlier fit of the same model is kept.

        Parameters
        ----------
        X : data frame, array, mapping or path
            The table. A packed file, a folder or a pattern such as "folder/*.parquet" is counted in
            blocks. A Dask data frame is counted by the workers of the current client; see
            docs/dask.md. X may be None if ``information`` is a `tamis.Source`, which answers every
            question itself; a table with the same columns then gives the result its levels and
            networks their parameters.
        y : ignored
            Here so that scikit-learn can pass it.
        sample_weight : sequence, str or None
            A number for each row, or the name of the column that holds them, which is then not a
            variable. Whole numbers say how often a row occurs; others are survey weights. See
            docs/missing-and-weights.md.
        progress : callable or None
            Called with the number of columns admitted and the number of all columns. Without it, a
            notebook shows a progress bar once the work has taken a second.

        Returns
        -------
        TAM
            The fitted model itself.

        Raises
        ------
        DataError
            If the table cannot be learned from. The message names the column and the cure.
        SettingError
            If a parameter, or a combination of parameters, has no meaning.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20, "coin": [0, 1] * 40}
        >>> tamis.TAM().fit(rows).parents_
        {'rain': [], 'wet': ['rain'], 'coin': []}
        """
        require(progress=progress)
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
        """Estimate the memory of a fit, and the weakest dependence that it is likely to see.

        Parameters
        ----------
        X : data frame, array, mapping or path
            The table, as `fit` takes it.
        sample_weight : sequence, str or None
            The weights of the rows, as `fit` takes them.

        Returns
        -------
        tamis.forecast.Forecast
            Print it.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20}
        >>> print(str(tamis.TAM().forecast(rows)).splitlines()[0])
        table    80 rows, 2 columns
        """
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
    def trace_(self) -> Trace:
        """Every decision of the search."""
        return self._found.trace

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
        """Give the mean log-likelihood of rows under the fitted network, in nats a row.

        Larger is better, so `sklearn.model_selection.cross_val_score` and `GridSearchCV` can choose
        by it. Probabilities of levels and densities of numbers are multiplied. Densities are per
        unit, so only scores of the same columns in the same units can be compared.

        Parameters
        ----------
        X : data frame, array, mapping or path
            At least one row, as `fit` takes them. Columns that are not in the graph are ignored; a
            column of the graph that is absent raises ``DataError``.
        y : ignored
            Here so that scikit-learn can pass it.

        Returns
        -------
        float
            Always finite. A label that was never seen while learning counts as one more level of
            its column, with the share that one row spread over all levels would give it; a
            ``TamisWarning`` names it. Rows with missing values raise ``DataError``, unless
            ``missing`` is "drop", which leaves them out with a warning, or "level", which has
            learned them as a level.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20}
        >>> round(tamis.TAM().fit(rows).score(rows), 2)
        -0.7
        """
        check_is_fitted(self)
        from tamis.network.rows import mean_log_likelihood

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
        conditions: Conditions | bool = "quick",
        progress: Callable[[int, int], None] | None = None,
    ) -> RecoveryCheck:
        """Check how often the model comes back from tables drawn from itself.

        This is plausibility, not proof.

        The network of the learned graph is fitted (`network_`). Then ``n_simulations`` tables with
        the same number of rows are drawn from it and learned with the same settings. What does not
        come back even then cannot be found with this number of rows.

        Parameters
        ----------
        n_simulations : int
            The number of tables that are drawn and learned.
        seed : int
            The same seed draws the same tables on every machine.
        equivalent_sample_size : float
            The rows that the prior of the fitted network is worth.
        conditions : {"quick", "all", False}
            Which of the paper's conditions are checked on the fitted network; "all" can take
            minutes with more than a few dozen columns. Networks with columns of numbers are not
            checked.
        progress : callable or None
            Called with the number of tables learned so far and the number of all tables.

        Returns
        -------
        RecoveryCheck
            Print it, or pass it to `report`.

        Examples
        --------
        >>> import tamis
        >>> orchard = tamis.BayesianNetwork.example("orchard").sample(500, seed=1)
        >>> model = tamis.TAM(search="node").fit(orchard)
        >>> model.recovery_check(2, conditions=False).n_simulations
        2
        """
        check_is_fitted(self)
        from tamis.identifiability.recovery import recovery_check

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
        scheme: Scheme = "half",
        search: Search | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Bootstrapped:
        """Say how sure each arrow is: the share of resampled tables that show it.

        Parameters
        ----------
        n : int
            The number of resamples to learn.
        seed : int
            The same seed draws the same rows.
        scheme : {"half", "rows"}
            "half" draws half of the rows without replacement. "rows" draws as many rows as there
            are, with replacement, which makes arrows between columns with several levels look too
            sure.
        search : str or None
            The search for the resamples. None is that of the model. In a resample a column may
            have at most two parents more than the largest family of the graph.
        progress : callable or None
            Called with the number of resamples learned so far and the number of all resamples.

        Returns
        -------
        Confidence
            Shares of arrows and layers; pass it to `plot` and `report`.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20, "coin": [0, 1] * 40}
        >>> confidence = tamis.TAM().fit(rows).bootstrap(10)
        >>> confidence.skeleton("rain", "wet"), confidence.skeleton("rain", "coin")
        (1.0, 0.0)
        """
        from tamis.bootstrap import bootstrap

        table, settings = self._rows()
        return bootstrap(
            table, self.result_, settings, n, seed=seed, scheme=scheme, search=search,
            progress=progress,
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
        """Say what it costs to change some arrows, in nats of the penalised log-likelihood.

        The score is the one that the search compares graphs by. Turning an arrow that points either
        way within the equivalence class costs nothing.

        Parameters
        ----------
        X : data frame, array, mapping or path
            The table that was learned from, or another with the same columns.
        add, remove, turn : iterable of (parent, child)
            The changes. An arrow to turn is named as it points now.
        sample_weight : sequence, str or None
            The weights of the rows, as `fit` takes them.

        Returns
        -------
        tamis.rescoring.Rescored
            The changed graph with its score, before and after, in total and by column; print it.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20}
        >>> model = tamis.TAM().fit(rows)
        >>> model.with_edges(rows, turn=[("rain", "wet")])
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
        >>> print(str(tamis.TAM().fit(rows).explain("wet")).splitlines()[0])
        wet: layer 2 of 2, number 2 of 2 admitted, conditional entropy 0.0000 nats
        """
        return self._found.explain(name)

    def save(self, *paths: str | os.PathLike[str]) -> None:
        """Write the answer to files, in the format that each file name ends in.

        All files are written whole, or none is.

        Parameters
        ----------
        *paths : str or path
            .json is the whole result, for `tamis.load`; .dot, .graphml and .csv are the graph;
            .svg, .png and .pdf are its picture; .bif is the fitted network.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20}
        >>> tamis.TAM().fit(rows).save("run.json", "edges.csv")
        >>> tamis.load("run.json").parents["wet"]
        ('rain',)
        """
        for path in paths:
            require(path=path)
        # Only a fitted network needs the table.
        fitted = any(os.fspath(path).lower().endswith(".bif") for path in paths)
        self._found.save(*paths, data=self._whence()[0] if fitted else None)

    def plot(self, ax: Axes | None = None, *, confidence: Confidence | None = None) -> Axes:
        """Draw the graph with matplotlib, layers from left to right.

        Lines are the wider the larger the gain. Each kind of warrant has a line style of its own.

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
        >>> axes = tamis.TAM().fit(rows).plot()
        >>> axes.figure.savefig("graph.png")
        """
        return self._found.plot(ax, confidence=confidence)

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
            What `recovery_check` found.
        confidence : Confidence or None
            What `bootstrap` found.
        command : str or None
            How the result was made, shown on the page.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20}
        >>> tamis.TAM().fit(rows).report("page.html")
        """
        self._found.report(path, recovery=recovery, confidence=confidence, command=command)

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
        >>> found = tamis.TAM().fit(rows).compare({"rain": ["wet"], "wet": []})
        >>> found.changes().turned
        (('wet', 'rain'),)
        """
        return self._found.compare(*others)

    def to_networkx(self, *, fitted: bool = False) -> nx.DiGraph[str]:
        """Convert the DAG to networkx.

        Parameters
        ----------
        fitted : bool
            Whether edges carry the coefficients of `network_` too.

        Returns
        -------
        networkx.DiGraph
            Nodes carry layer, entropy and levels; edges carry what ``graph_`` has.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20}
        >>> graph = tamis.TAM().fit(rows).to_networkx()
        >>> list(graph.edges), graph.nodes["wet"]["layer"]
        ([('rain', 'wet')], 2)
        """
        require(fitted=fitted)
        return self._found.to_networkx(self.network_ if fitted else None)

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
        >>> print(tamis.TAM().fit(rows).to_dowhy())
        DiGraph with 2 nodes and 1 edges
        """
        return self._found.to_dowhy()

    def to_pgmpy(self, *, equivalent_sample_size: float = 1.0) -> Any:  # noqa: ANN401 - may be absent
        """Convert the fitted network to pgmpy.

        Parameters
        ----------
        equivalent_sample_size : float
            Rows that are spread evenly over the cells of every table.

        Returns
        -------
        pgmpy.models.DiscreteBayesianNetwork or pgmpy.models.LinearGaussianBayesianNetwork
            The second for columns of numbers.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20}
        >>> list(tamis.TAM().fit(rows).to_pgmpy().edges())
        [('rain', 'wet')]
        """
        table, _ = self._whence()
        return self._found.to_pgmpy(table, equivalent_sample_size=equivalent_sample_size)

    def to_pyagrum(self, *, equivalent_sample_size: float = 1.0) -> Any:  # noqa: ANN401 - may be absent
        """Convert the fitted network to pyAgrum; its columns must be levels.

        Parameters
        ----------
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
        >>> tamis.TAM().fit(rows).to_pyagrum().size()
        2
        """
        table, _ = self._whence()
        return self._found.to_pyagrum(table, equivalent_sample_size=equivalent_sample_size)

    @property
    def _found(self) -> Result:
        """The result, if there is one: it does what does not need the rows."""
        check_is_fitted(self)
        return self.result_
