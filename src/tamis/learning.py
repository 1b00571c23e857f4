"""From a table and settings to a result: choose a reading, search, put names on it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tamis.choices import named
from tamis.constants import constants, in_force
from tamis.counting.elsewhere import in_blocks
from tamis.decisions.rule import Score
from tamis.decisions.specification import attached
from tamis.errors import DataError, SettingError
from tamis.information.interface import LEVELS, Ability, Context, Source
from tamis.information.lattice import lattice_likelihood
from tamis.information.ranked import ranks_note, thin_note
from tamis.knowledge import NOTHING
from tamis.naming import Names, layers_found
from tamis.opening import (
    by_kinds,
    goes_by_ranks,
    in_search_order,
    open_information,
    open_outside,
    readings,
)
from tamis.parameters import kind_of
from tamis.result import Result, Run
from tamis.result.sentences import (
    COUNTED_ONLY,
    FUNCTIONS,
    ONE_TO_ONE,
    ONE_VALUE,
    SORTED,
    UNITS,
)
from tamis.search.default import RESTS_ON, Candidate, DefaultSearch, score_of
from tamis.search.layered import Progress, run
from tamis.search.outcome import Outcome
from tamis.settings import Settings
from tamis.tables import Table
from tamis.tables.refusals import listed, shown
from tamis.tables.table import AnyTable, with_rows

SAME = "the same DAG"
"""Stands for a reading that was not searched, but scored on the DAG of another."""
NOT_SEARCHED = "nothing: not searched, being far behind on the same DAG"
SURE = 20.0
"""Nats by which a column must be unlikely to follow from another by chance, as in ``relations``."""
ROUNDING = 1e-6


@dataclass(frozen=True)
class Answer:
    """What a search found on one reading of the table; of the default, its candidates too."""

    settings: Settings
    """Filled in for this reading, not yet bound to the source."""
    information: Source
    tell: Callable[[], Outcome]
    candidates: tuple[Candidate, ...] = ()
    weigh: Callable[[], Mapping[tuple[int, int], float]] = dict
    """What the score loses without the directions that the whole class has."""
    shift: float = 0.0
    """What makes the scores of this reading comparable with those of another."""

    @cached_property
    def outcome(self) -> Outcome:
        """How it was found."""
        return self.tell()

    @property
    def score(self) -> float:
        """Of the best candidate, comparable between readings."""
        return self.candidates[0].score + self.shift if self.candidates else 0.0


def learn(
    table: AnyTable | None,
    asked: Settings,
    progress: Progress | None = None,
    *,
    price_knowledge: bool = True,
) -> Result:
    """Learn a DAG from a table; with a source from outside there need be none.

    With ``price_knowledge`` the search is run once more without the knowledge, if there is any, so
    that the result can say what it cost. That takes up to as long again.
    """
    with in_force(asked.constants):
        answers, notes = _answers(table, asked, progress)
        best = max(answers, key=lambda one: one.score)
        answers.remove(best)
        cost = _knowledge_cost(best) if price_knowledge else None
        if table is not None:
            notes = (*notes, *_mixed_notes(table, best.settings))
        notes = (*notes, *_units_note(best), *_functions_note(best))
        asked_for = {"search": asked.asked["search"], "information": asked.information}
        return Names(best.settings, best.information).result(
            table,
            best.outcome,
            best.candidates[0].directions if best.candidates else None,
            best.weigh(),
            _ranking([best, *answers]),
            notes,
            knowledge_cost=cost,
            left_open=tuple(name for name, value in asked_for.items() if value == "auto"),
        )


def with_path(result: Result, source: object) -> Result:
    """The result with the path of its table, if it was read from a file."""
    if not isinstance(source, str | os.PathLike):
        return result
    # Bytes that are not text come as surrogates, which no file of tamis holds.
    path = str(os.fspath(source)).encode(errors="backslashreplace").decode()
    return replace(result, read_from=path)


def _knowledge_cost(best: Answer) -> float | None:
    """By how much the penalised log-likelihood of the graph found without knowledge is larger, on
    the same reading with the same alpha; None where nothing is ruled out, there is no likelihood,
    or the boundaries come from outside.

    The graph found with knowledge is one of all graphs, so that the cost is never below 0 although
    a search may miss it. What was counted before is remembered by the default's source.
    """
    settings, source = best.settings, best.information
    constraints = settings.knowledge.constraints(source.names)
    if constraints is None or not constraints.rules_out:
        return None
    # A boundary search from outside is asked what it was given to answer, and no more.
    if Ability.LIKELIHOOD not in source.abilities or callable(settings.boundary):
        return None
    free = replace(settings, knowledge=NOTHING)
    other = _answer(source, free, attach=False)
    if best.candidates:
        return max(other.candidates[0].score - best.candidates[0].score, 0.0)
    return max(_score(source, other.outcome) - _score(source, best.outcome), 0.0)


def _score(source: Source, outcome: Outcome) -> float:
    """The penalised log-likelihood of what a search has found."""
    return score_of(source, {k: frozenset(one.members) for k, one in outcome.found.items()})


def _mixed_notes(table: AnyTable, settings: Settings) -> tuple[str, ...]:
    """What conditional Gaussians do not take as it is."""
    if settings.information != "conditional-gaussian" or settings.source is None:
        return ()
    rows = with_rows(table)
    ranked = ranks_note(rows) if goes_by_ranks(settings) else ()
    return (*ranked, *thin_note(rows, settings.source["thin"]))


def _answers(
    table: AnyTable | None, asked: Settings, progress: Progress | None
) -> tuple[list[Answer], tuple[str, ...]]:
    """What is found by a source from outside, or on each reading of the table."""
    if table is not None and in_blocks(table):
        table.counted.begin()
    own = asked.own_information
    if own is not None:
        source = open_outside(own, table)
        return [_answer(source, asked.on(own, kind=kind_of(source)), progress)], ()
    if table is None:
        raise DataError("There is no table to learn from: pass one, or a source as information.")
    return _readings(in_search_order(table, asked), asked, progress)


def _readings(
    table: AnyTable, asked: Settings, progress: Progress | None
) -> tuple[list[Answer], tuple[str, ...]]:
    """What is found on each reading of the table, and why a reading was left out.

    Moments are read first, being cheap. Where they explain the table far better than counts do on
    the same DAG, as they do for sums with many levels, the counts are not searched: their tables
    would be huge. Where counts explain the table better, columns of many values are numbers all
    the same, and the kinds of the columns decide.
    """
    answers: list[Answer] = []
    notes: tuple[str, ...] = ()
    kinds = readings(table, asked)
    for reading in reversed(kinds):
        settings = asked.on(reading)
        try:
            source = open_information(table, settings)
        except DataError as error:
            if reading == kinds[0]:
                raise
            notes = (f"Read as levels only; as numbers: {error}",)
            continue
        if answers:
            same = _same_dag(source, settings, answers[0])
            if same.score < answers[0].score - _within_reach(answers[0]):
                return [answers[0], same], notes
        answer = _answer(source, settings, progress)
        if len(kinds) > 1:
            answer = replace(answer, shift=_shift(table, answer))
        answers.append(answer)
    if len(answers) > 1 and "number" in table.kinds and answers[-1].score > answers[0].score:
        # Counted, values that few rows share would depend on nothing.
        settings = asked.on(by_kinds(table))
        if in_blocks(table) and settings.information != "gaussian":
            return answers, (COUNTED_ONLY,)
        return [_answer(open_information(table, settings), settings, progress)], notes
    return answers, notes


def _same_dag(source: Source, settings: Settings, other: Answer) -> Answer:
    """The best DAG of another reading, scored on this one."""
    best = other.candidates[0]
    scored = replace(best, search=SAME, score=score_of(source, best.parents))
    return Answer(settings, source, other.tell, (scored,))


def _within_reach(answer: Answer) -> float:
    """How far behind a reading may be on the same DAG and still be searched: by as much as other
    parents could explain, about the logarithm of the ways to turn an edge, for every node."""
    best = answer.candidates[0]
    ways = 2 * max(best.n_edges, 1) * len(best.parents)
    return len(best.parents) * constants.misfit * math.log(ways)


def search(information: Source, settings: Settings, progress: Progress | None = None) -> Outcome:
    """Run a search on any source of information."""
    if settings.search == "auto":
        raise SettingError("search='auto' compares likelihoods, which need rows: name a search")
    return _answer(information, settings, progress).outcome


Found = tuple[dict[int, tuple[int, ...]], list[list[int]]]
"""The parents of each node, and the layers."""


def found_in(table: Table, settings: Settings) -> Found:
    """What is found in a table, in one thread and without the reasons."""
    with in_force(settings.constants):
        source = open_information(table, replace(settings, n_jobs=1))
        answer = _answer(source, settings)
    chosen = answer.candidates[0].search if answer.candidates else settings.search
    parents = {k: found.members for k, found in answer.outcome.found.items()}
    return parents, layers_found(answer.outcome, chosen)


def _answer(
    source: Source, settings: Settings, progress: Progress | None = None, *, attach: bool = True
) -> Answer:
    source = attached(source, *settings.rules) if attach else source
    if not isinstance(settings.boundary_rule, Score):
        outcome = run(source, settings.bound(source), progress)
        return Answer(settings, source, lambda: outcome)
    found = DefaultSearch(source, settings.bound(source))
    candidates = [found.first] if settings.search == "sequential" else found.candidates
    if progress is not None:
        progress(source.n_variables, source.n_variables)
    best = candidates[0]
    return Answer(
        settings,
        source,
        lambda: found.outcome(best),
        tuple(candidates) if settings.search == "auto" else (),
        lambda: found.losses(best),
    )


def _units_note(answer: Answer) -> tuple[str, ...]:
    """How much of the order of continuous columns their variances tell, which is a matter of
    units."""
    information, boundaries = answer.information, answer.outcome.found
    if information.scale_free() is None or answer.settings.units == "same":
        return ()
    kinds = information.entropy_kinds()
    numbers = [k for k in boundaries if kinds[k] != LEVELS]
    if len(numbers) < 2:
        return ()
    entropies = information.entropies([Context(k, ()) for k in numbers])
    if np.ptp(entropies) <= constants.standardised:
        return ()  # all variances are the same
    from tamis.metrics import varsortability

    # Levels have no unit, and their entropies cannot be compared with those of numbers.
    share = varsortability(
        {k: set(one.members) for k, one in boundaries.items()},
        dict.fromkeys(boundaries, math.nan) | dict(zip(numbers, entropies.tolist(), strict=True)),
    )
    return (UNITS.format(share=share),) if share >= SORTED else ()  # not a number without paths


def _functions_note(answer: Answer) -> tuple[str, ...]:
    """Which columns of levels follow from a neighbour, in so many rows that it is no chance."""
    information = answer.information
    if answer.settings.information not in ("counts", "conditional-gaussian"):
        return ()
    are_levels = [kind == LEVELS for kind in information.entropy_kinds()]
    pairs = [
        pair
        for k, boundary in answer.outcome.found.items()
        for p in boundary.members
        for pair in ((k, p), (p, k))
        if are_levels[k] and are_levels[p]
    ]
    # Alone and given the other: pair after pair.
    asked = [Context(k, given) for k, other in pairs for given in ((), (other,))]
    entropies = information.entropies(asked).reshape(-1, 2) * information.n_rows
    follow = (entropies[:, 0] > SURE) & (entropies[:, 1] < ROUNDING)
    found = {pair for pair, does in zip(pairs, follow.tolist(), strict=True) if does}
    told = [
        f"{shown(names[0])} " + (ONE_TO_ONE if both else ONE_VALUE) + f" {shown(names[1])}"
        for names, both in sorted(
            (tuple(information.names[i] for i in pair), pair[::-1] in found)
            for pair in found
            if pair[::-1] not in found or pair[0] < pair[1]
        )
    ]
    return (FUNCTIONS.format(told=listed(told, "; ")),) if told else ()


def _shift(table: AnyTable, answer: Answer) -> float:
    """From the score of a reading to a probability of the levels themselves, without what edges
    cost."""
    best = answer.candidates[0]
    if answer.settings.information == "counts":
        return score_of(answer.information, best.parents) - best.score
    return lattice_likelihood(table, best.parents) - best.score


def _ranking(answers: list[Answer]) -> tuple[Run, ...]:
    """Everything that was tried: first on the reading that was chosen, then on the other."""
    return tuple(
        Run(
            one.search,
            named(answer.settings.information),
            one.score + answer.shift,
            one.n_edges,
            RESTS_ON.get(one.search, NOT_SEARCHED),
            chosen=answer is answers[0] and place == 0,
        )
        for answer in answers
        for place, one in enumerate(answer.candidates)
    )
