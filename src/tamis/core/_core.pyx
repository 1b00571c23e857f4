# cython: language_level=3
# distutils: language=c++
"""Counting and searching, compiled: what of the C++ headers beside this file Python sees."""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libcpp.functional cimport function
from libcpp.vector cimport vector

from typing import NamedTuple

import numpy as np


cdef extern from "judge.hpp" namespace "tamis" nogil:
    cdef struct CFamily "tamis::Family":
        double score
        double noise
    cdef cppclass CJudge "tamis::Judge":
        int n_nodes()
        CFamily family(int, const vector[int]&) except +
        void scores_with(int, const vector[int]&, const vector[int]&, double*) except +

cdef extern from "table.hpp" namespace "tamis" nogil:
    cdef struct CColumn "tamis::Column":
        const uint8_t* narrow
        const uint16_t* wide
        int n_levels
    cdef cppclass CTable "tamis::Table"(CJudge):
        CTable(vector[CColumn], int64_t, vector[int32_t], double) except +

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
    """
    function[void()] asking_for_signals(int (*)() except -1) nogil


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


cdef class Table(Judge):
    """The counts of a table of levels: one array of codes (uint8 or uint16) a column."""

    cdef object kept
    cdef CTable* table

    def __cinit__(self, columns, levels, weights=None, double edge_price=0.0):
        cdef vector[CColumn] own
        cdef CColumn one
        cdef const uint8_t[::1] narrow
        cdef const uint16_t[::1] wide
        self.kept = list(columns)  # whose memory is read
        for codes, n_levels in zip(columns, levels, strict=True):
            one = CColumn(NULL, NULL, max(n_levels, 1))
            if codes.dtype == np.uint8:
                narrow = codes
                one.narrow = &narrow[0]
            else:
                wide = codes
                one.wide = &wide[0]
            own.push_back(one)
        cdef vector[int32_t] rows = [] if weights is None else weights
        self.table = new CTable(own, len(self.kept[0]) if self.kept else 0, rows,
                                edge_price)
        self.own = self.table

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
