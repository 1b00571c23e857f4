# cython: language_level=3
# distutils: language=c++
"""Counting and searching, compiled: what of the C++ headers beside this file Python sees."""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.functional cimport function
from libcpp.vector cimport vector

from typing import NamedTuple

import numpy as np

from tamis.errors import SettingError

LARGEST_SUM = 2**61
"""Unseen cells may not add up to more than this, in fixed point; four such sums fit."""


cdef extern from "judge.hpp" namespace "tamis" nogil:
    cdef struct CFamily "tamis::Family":
        double score
        double noise
    cdef cppclass CJudge "tamis::Judge":
        int n_nodes()
        CFamily family(int, const vector[int]&) except +
        void scores_with(int, const vector[int]&, const vector[int]&, double*) except +

cdef extern from "table.hpp" namespace "tamis" nogil:
    const double FIXED_PER_NAT
    cdef struct CColumn "tamis::Column":
        const uint8_t* narrow
        const uint16_t* wide
        const int32_t* widest
        int n_levels
        cbool has_missing
        double n_possible
    cdef struct EstimatorOptions "tamis::Estimator::Options":
        double constant
        cbool needs_cells
        cbool sees_cells
        cbool clips
    cdef struct TableOptions "tamis::Table::Options":
        double edge_price
        double unit
        EstimatorOptions estimator
        function[double(int64_t, int64_t, double, int64_t, int64_t*)] terms
        function[void()] checkpoint
    cdef struct CInformation "tamis::Information":
        int64_t sum
        int n_uncertain
        double n_rows
    cdef struct CIndependence "tamis::Independence":
        double df
        double pearson
        double mean
        double variance
    cdef cppclass CTable "tamis::Table"(CJudge):
        CTable(vector[CColumn], size_t, vector[int64_t], TableOptions) except +
        const vector[int64_t]& counts(const vector[int]&) except +
        CInformation entropy(int, const vector[int]&) except +
        CFamily family_of(const vector[int64_t]&, const vector[int64_t]&, double, int) except +
        void cmi(int, const vector[int]&, const vector[int]&, CInformation*) except +
        void tests(int, const vector[int]&, const vector[int]&, CInformation*, double*,
                   CIndependence*) except +
        void joint_test(int, const vector[int]&, const vector[int]&, CInformation&, double&,
                        CIndependence&) except +

cdef extern from "asked.hpp" namespace "tamis" nogil:
    ctypedef int (*Ask)(void*, int, const vector[int]&, const vector[int]*, double*) except -1
    cdef cppclass CAskedJudge "tamis::AskedJudge"(CJudge):
        CAskedJudge(int, double, Ask, void*)

cdef extern from "moments.hpp" namespace "tamis" nogil:
    cdef cppclass CMoments "tamis::Moments"(CJudge):
        CMoments(vector[double], double, double) except +

cdef extern from "lookahead.hpp" namespace "tamis" nogil:
    cdef struct LookAheadOptions "tamis::LookAhead::Options":
        int most_members
        double most_words
    cdef cppclass CLookAhead "tamis::LookAhead":
        CLookAhead(CTable&, LookAheadOptions) except +
        vector[vector[vector[int]]] found() except +

cdef extern from "orders.hpp" namespace "tamis" nogil:
    cdef struct CKnowledge "tamis::Knowledge":
        vector[vector[int]] required
        vector[vector[char]] forbidden
    cdef struct SearchOptions "tamis::OrderSearch::Options":
        uint64_t seed
        int most_parents
    cdef struct CDag "tamis::OrderSearch::Dag":
        vector[int] order
        vector[vector[int]] parents
        vector[double] scores
        vector[double] noise
    cdef cppclass COrderSearch "tamis::OrderSearch":
        COrderSearch(CJudge&, CKnowledge, vector[vector[vector[int]]], SearchOptions,
                     function[void()]) except +
        CDag first() except +
        CDag best() except +
        int n_starts()
        double loss_without(int, int) except +

cdef extern from *:
    """
    #include <chrono>
    #include <functional>
    #include <memory>
    #include <stdexcept>

    // Ask Python, a few times a second, whether the user has interrupted.
    static std::function<void()> asking_for_signals(int (*look)()) {
        auto last = std::make_shared<std::chrono::steady_clock::time_point>();
        return [look, last] {
            auto now = std::chrono::steady_clock::now();
            if (now - *last < std::chrono::milliseconds(50)) return;
            *last = now;
            if (look() < 0) throw std::runtime_error("interrupted");
        };
    }

    // f of counts, asked of Python.
    using AskTerms = double (*)(void*, int64_t, int64_t, double, int64_t, int64_t*);
    static tamis::Estimator::Ask asking_for_terms(AskTerms ask, void* whom) {
        return [ask, whom](int64_t first, int64_t n, double cells, int64_t seen, int64_t* to) {
            double n_cells = ask(whom, first, n, cells, seen, to);
            if (n_cells < 0) throw std::runtime_error("the estimator has failed");
            return n_cells;
        };
    }
    """
    function[void()] asking_for_signals(int (*)() except -1) nogil
    function[double(int64_t, int64_t, double, int64_t, int64_t*)] asking_for_terms(
        double (*)(void*, int64_t, int64_t, double, int64_t, int64_t*) except -1, void*) nogil


cdef int _look_for_signals() except -1 with gil:
    PyErr_CheckSignals()
    return 0


cdef class Judge:
    """What a search asks: how good a family of a node and its parents is."""

    cdef CJudge* own

    def __dealloc__(self):
        del self.own

    def family(self, int target, given):
        """The score of a target given a set, and its noise entropy in nats."""
        cdef CFamily found = self.own.family(target, sorted(given))
        return found.score, found.noise

    def scores_with(self, int target, given, candidates):
        """The score of a target given a set and one candidate more, for each candidate."""
        cdef double[::1] scores = np.empty(len(candidates))
        if len(candidates):
            self.own.scores_with(target, sorted(given), candidates, &scores[0])
        return np.asarray(scores)


cdef double _ask_for_terms(void* whom, int64_t first, int64_t n, double cells, int64_t seen,
                           int64_t* to) except -1 with gil:
    """f of the counts from ``first`` on, in fixed point, as the estimator of a table has it."""
    cdef Table table = <Table> whom
    estimator = table.estimator
    support = estimator.support_size(cells, seen)
    terms = estimator.terms(np.arange(first, first + n), table.n_rows, support)
    if support * abs(terms[0]) * FIXED_PER_NAT > LARGEST_SUM:
        raise SettingError(
            f"{table.n_rows:g} rows are too few to estimate an entropy over {support} cells; "
            "choose a smaller largest_support, support='observed', or another estimator"
        )
    cdef int64_t[::1] known = np.rint(terms * FIXED_PER_NAT).astype(np.int64)
    cdef int64_t i
    for i in range(n):
        to[i] = known[i]
    return support


cdef class Table(Judge):
    """The counts of a table of levels.

    ``columns`` has an array of codes (uint8, uint16 or int32) a column, ``levels`` how many each
    has. In the columns ``missing`` the code ``levels[k]`` is for rows without a value. ``weights``
    are whole numbers of ``unit`` rows. An ``estimator`` has ``terms(counts, n_rows, support)``,
    ``support_size(cells, observed)``, ``constant(n_rows)``, ``uses_support``, ``observed_support``
    and ``clips``; without one entropies are plug-in.
    """

    cdef object kept, estimator, rests
    cdef CTable* table
    cdef vector[int] everyone
    cdef readonly double n_rows

    def __cinit__(self, columns, levels, weights=None, double edge_price=0.0, *, missing=(),
                  double unit=1.0, estimator=None):
        cdef vector[CColumn] own
        cdef CColumn one
        cdef const uint8_t[::1] narrow
        cdef const uint16_t[::1] wide
        cdef const int32_t[::1] widest
        self.kept, self.estimator, self.rests = list(columns), estimator, {}  # memory is read
        for k, (codes, n_levels) in enumerate(zip(columns, levels, strict=True)):
            one = CColumn(NULL, NULL, NULL, max(n_levels, 1), k in missing, max(n_levels, 1))
            if codes.dtype == np.uint8:
                narrow = codes
                one.narrow = &narrow[0]
            elif codes.dtype == np.uint16:
                wide = codes
                one.wide = &wide[0]
            else:
                widest = codes
                one.widest = &widest[0]
            own.push_back(one)
        cdef vector[int64_t] rows = [] if weights is None else weights
        cdef TableOptions options
        options.edge_price, options.unit = edge_price, unit
        options.checkpoint = asking_for_signals(_look_for_signals)
        n_lines = len(self.kept[0]) if self.kept else 0
        self.n_rows = unit * float(n_lines if weights is None else sum(weights))
        if estimator is not None:
            options.estimator.constant = estimator.constant(self.n_rows)
            options.estimator.needs_cells = estimator.uses_support
            options.estimator.sees_cells = estimator.observed_support
            options.estimator.clips = estimator.clips
            options.terms = asking_for_terms(_ask_for_terms, <void*> self)
        self.table = new CTable(own, n_lines, rows, options)
        self.own = self.table
        self.everyone = range(own.size())

    def family_of(self, cells, strata, double n_states, int n_levels):
        """The score and the noise entropy of a family whose cells and strata were counted
        elsewhere."""
        cdef CFamily found = self.table.family_of(cells, strata, n_states, n_levels)
        return found.score, found.noise

    def counts(self, columns):
        """How often each joint state of some columns occurs, in units of weight."""
        found = np.array(self.table.counts(sorted(columns)), dtype=np.int64)
        return found[found > 0]

    def entropy(self, int target, given):
        """H(target | given) in nats."""
        cdef vector[int] columns = sorted(given)
        cdef CInformation found
        with nogil:
            found = self.table.entropy(target, columns)
        return self._nats(found.sum, found.n_uncertain, found.n_rows)

    def cmi(self, int target, given, candidates=None):
        """I(target ; l | given) in nats for each candidate l, by default all columns."""
        cdef vector[int] columns = sorted(given)
        cdef vector[int] others = self.everyone
        if candidates is not None:
            others = candidates
        cdef vector[CInformation] found = vector[CInformation](others.size())
        with nogil:
            self.table.cmi(target, columns, others, found.data())
        return self._information(found)

    def tests(self, int target, given, candidates):
        """The cmi with each candidate; plug-in gain, degrees of freedom, X2, its mean and variance;
        and the rows behind each."""
        cdef vector[int] columns = sorted(given), others = candidates
        cdef size_t n = others.size()
        cdef vector[CInformation] found = vector[CInformation](n)
        cdef vector[double] gains = vector[double](n)
        cdef vector[CIndependence] tests = vector[CIndependence](n)
        with nogil:
            self.table.tests(target, columns, others, found.data(), gains.data(), tests.data())
        return self._information(found), *_statistics(found, gains, tests)

    def joint_test(self, int target, given, members):
        """The same of several columns that are tested as one."""
        cdef vector[int] columns = sorted(given), together = sorted(members)
        cdef vector[CInformation] found = vector[CInformation](1)
        cdef vector[double] gains = vector[double](1)
        cdef vector[CIndependence] tests = vector[CIndependence](1)
        with nogil:
            self.table.joint_test(target, columns, together, found[0], gains[0], tests[0])
        return self._information(found), *_statistics(found, gains, tests)

    cdef object _information(self, const vector[CInformation]& found):
        cmi = np.empty(found.size())
        cdef double[::1] to = cmi
        cdef size_t i
        for i in range(found.size()):
            to[i] = self._nats(found[i].sum, found[i].n_uncertain, found[i].n_rows)
        return cmi

    cdef double _nats(self, int64_t total, int n_uncertain, double n_rows) except? -1:
        """Entropies added with their signs, from sums of the f of all rows.

        n f(j; n) is the same for all n but for a multiple of j, which adds up to the same for each
        entropy that is not 0 for sure.
        """
        if n_rows == self.n_rows:
            return total / FIXED_PER_NAT
        if n_rows <= 0:
            return 0.0
        if n_rows not in self.rests:
            some, everyone = (self._of_one(n) for n in (n_rows, self.n_rows))
            self.rests[n_rows] = some - everyone
        return total / FIXED_PER_NAT * self.n_rows / n_rows + n_uncertain * self.rests[n_rows]

    def _of_one(self, n_rows):
        """n f(1; n)."""
        if self.estimator is None:
            return np.log(n_rows)
        return n_rows * self.estimator.terms(np.ones(1, np.int64), n_rows, 1)[0]

    def interactions(self, int most_members=6, double most_words=2e7):
        """Of each column, the sets of others that tell something of it only together."""
        cdef LookAheadOptions options
        options.most_members, options.most_words = most_members, most_words
        cdef CLookAhead* ahead = new CLookAhead(self.table[0], options)
        cdef vector[vector[vector[int]]] found
        try:
            with nogil:
                found = ahead.found()
        finally:
            del ahead
        return found


cdef _statistics(const vector[CInformation]& found, const vector[double]& gains,
                 const vector[CIndependence]& tests):
    """The lines of ``Table.tests`` and how many rows are behind them."""
    cdef double[:, ::1] stats = np.empty((gains.size(), 5))
    cdef double[::1] n_rows = np.empty(gains.size())
    cdef size_t i
    for i in range(gains.size()):
        stats[i, 0], stats[i, 1], stats[i, 2] = gains[i], tests[i].df, tests[i].pearson
        stats[i, 3], stats[i, 4] = tests[i].mean, tests[i].variance
        n_rows[i] = found[i].n_rows
    return np.asarray(stats), np.asarray(n_rows)


cdef class Moments(Judge):
    """The moments of numbers: a covariance matrix, the number of rows, and what a parent costs."""

    def __cinit__(self, covariance, double n_rows, double price):
        cdef vector[double] rows = np.ravel(covariance)
        self.own = new CMoments(rows, n_rows, price)


cdef int _ask(void* whom, int target, const vector[int]& given, const vector[int]* candidates,
              double* answer) except -1 with gil:
    cdef double[::1] found
    asked = None if candidates == NULL else candidates[0]
    found = np.ascontiguousarray((<object>whom)(target, given, asked), dtype=np.float64)
    cdef Py_ssize_t i, wanted = 2 if candidates == NULL else candidates.size()
    if found.shape[0] != wanted:
        raise ValueError(f"{wanted} numbers were asked for, and {found.shape[0]} came")
    for i in range(wanted):
        answer[i] = found[i]
    return 0


cdef class Asked(Judge):
    """A function in Python as a judge: ``ask(target, given, candidates)`` returns the score of each
    candidate with the given, or the score and the noise entropy of the family without candidates.
    """

    cdef object kept

    def __cinit__(self, int n_nodes, double n_rows, ask):
        self.kept = ask
        self.own = new CAskedJudge(n_nodes, n_rows, _ask, <void*>ask)


class Dag(NamedTuple):
    """An order, and along it the parents, the score and the noise entropy of each node."""

    order: list
    parents: list
    scores: list
    noise: list


cdef class OrderSearch:
    """The search over orders on what a judge says."""

    cdef COrderSearch* own
    cdef Judge judge

    def __cinit__(self, Judge judge, required=(), forbidden=(), interactions=(), uint64_t seed=0,
                  most_parents=None):
        self.judge = judge
        cdef CKnowledge knowledge
        knowledge.required = required
        knowledge.forbidden = forbidden
        cdef SearchOptions options
        options.seed = seed
        if most_parents is not None:
            options.most_parents = most_parents
        self.own = new COrderSearch(judge.own[0], knowledge, interactions, options,
                                    asking_for_signals(_look_for_signals))

    def __dealloc__(self):
        del self.own

    def first(self):
        """The DAG of "least conditional entropy next"."""
        cdef CDag found
        with nogil:
            found = self.own.first()
        return Dag(found.order, found.parents, found.scores, found.noise)

    def best(self):
        """The DAG of the best order that was found."""
        cdef CDag found
        with nogil:
            found = self.own.best()
        return Dag(found.order, found.parents, found.scores, found.noise)

    @property
    def n_starts(self):
        """The number of new starts."""
        return self.own.n_starts()

    def loss_without(self, int parent, int child):
        """What the score loses at least with the child before the parent."""
        cdef double lost
        with nogil:
            lost = self.own.loss_without(parent, child)
        return lost
