"""From a table and a request to a result: choose a reading, search, put names on it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tamis.data import Table
from tamis.errors import DataError, SettingError
from tamis.information.catalogue import open_source
from tamis.information.counted import CountedInformation
from tamis.information.interface import Information
from tamis.information.lattice import lattice_likelihood
from tamis.information.remembered import RememberedInformation
from tamis.naming import Names
from tamis.plans import Plan, Request, make_plan
from tamis.result import Result, Run
from tamis.search.auto import (
    LIKELIHOOD,
    NOT_SEARCHED,
    RESTS_ON,
    SAME,
    Tried,
    noise,
    score_of,
    try_searches,
    with_refinement,
)
from tamis.search.outcome import Outcome
from tamis.search.tam import Progress, Settings, run

__all__ = ["Plan", "Request", "learn", "make_plan", "search"]


EXACT_FLOATS = 2**50
"""Whole numbers up to here, and their differences, are exact as floats."""


@dataclass(frozen=True)
class Answer:
    """What a search found on one reading of the table; of "auto", everything that was tried."""

    plan: Plan
    information: Information
    outcome: Outcome
    tried: tuple[Tried, ...] = ()
    shift: float = 0.0
    """What makes the scores of this reading comparable with those of another."""

    @property
    def score(self) -> float:
        """Of the best that was tried, comparable between readings."""
        return self.tried[0].score + self.shift if self.tried else 0.0


def learn(table: Table, request: Request, progress: Progress | None = None) -> Result:
    """Learn a DAG from a table."""
    # Positions break ties. Sorted by name, the order of the user's columns plays no part;
    # the authors' program breaks them by column, so its twin keeps the columns as they are.
    names = table.names
    positions = range(len(names))
    as_they_are = request.search == "reference"
    in_order = positions if as_they_are else sorted(positions, key=names.__getitem__)
    arranged = table.select(list(in_order))
    answers, notes = _answers(arranged, request, progress)
    best = max(answers, key=lambda one: one.score)
    if best.plan.search == "auto":
        # Refined is only what explains the table better as it is; the other would cost more.
        answers.remove(best)
        best = _with_refinement(best)
        answers = [best, *answers]
    return Names(arranged.names, best.plan).result(
        table, best.information, best.outcome, _ranking(answers), notes
    )


def _answers(
    table: Table, request: Request, progress: Progress | None
) -> tuple[list[Answer], tuple[str, ...]]:
    """What is found on each reading of the table, and why a reading was left out.

    Moments are read first, being cheap. Where they explain the table far better than counts do on
    the same DAG, as they do for sums with many levels, the counts are not searched: their tables
    would be huge.
    """
    answers: list[Answer] = []
    notes: tuple[str, ...] = ()
    kinds = readings(table, request)
    for reading in reversed(kinds):
        plan = make_plan(request, reading)
        try:
            source = _source(table, plan, request.n_jobs)
        except DataError as error:
            if reading == kinds[0]:
                raise
            notes = (f"Read as levels only; as numbers: {error}",)
            continue
        if answers:
            same = _same_dag(source, plan, answers[0])
            if same.score < answers[0].score - _within_reach(answers[0]):
                return [answers[0], same], notes
        answer = _answer(source, plan, progress)
        if len(kinds) > 1:
            answer = replace(answer, shift=_shift(table, answer))
        answers.append(answer)
    return answers, notes


def _same_dag(source: Information, plan: Plan, other: Answer) -> Answer:
    """The best DAG of another reading, scored on this one."""
    best = other.tried[0]
    scored = Tried(SAME, best.parents, score_of(source, best.parents), best.outcome)
    return Answer(plan, source, other.outcome, (scored,))


def _within_reach(answer: Answer) -> float:
    """How far behind a reading may be on the same DAG and still be searched: the noise of a
    score, for every node."""
    best = answer.tried[0]
    return len(best.parents) * noise(answer.information, best.n_edges)


def search(information: Information, plan: Plan, progress: Progress | None = None) -> Outcome:
    """Run the plan's search on any source of information."""
    settings = _settings(information, plan)
    if plan.search == "auto":
        raise SettingError("search='auto' compares likelihoods, which need rows: name a search")
    return run(information, settings, progress)


def readings(table: Table, request: Request) -> list[str]:
    """What the table can be taken for: levels to count, numbers with moments, or both.

    Whole numbers are both, and "auto" compares; two levels are the same to a count as to a moment.
    Measurements have moments, which are quick and well calibrated; beside labels, which have
    none, neighbours answer for both.
    """
    if request.information != "auto":
        return [request.information]
    if table.measured:
        return ["gaussian"] if _is_numeric(table) else ["mixed"]
    # What is asked for in terms of counts is asked of counts.
    chosen = (request.entropy, request.boundary_rule, request.masking_rule, request.look_ahead)
    if request.search != "auto" or any(one is not None for one in chosen):
        return ["counts"]
    return ["counts", "gaussian"] if _is_lattice(table) else ["counts"]


def _is_numeric(table: Table) -> bool:
    """Whether every column holds numbers: measured, or levels that are integers."""
    return all(type(label) is int for labels in table.levels for label in labels)


def _is_lattice(table: Table) -> bool:
    if not _is_numeric(table) or int(table.arities.max()) <= 2:
        return False
    largest = max(abs(label) for labels in table.levels for label in labels)  # type: ignore[arg-type]
    return largest <= EXACT_FLOATS and table.n_rows > table.n_variables + 2


def _source(table: Table, plan: Plan, n_jobs: int | None) -> Information:
    if plan.entropy is not None:
        return CountedInformation(table, plan.entropy, n_jobs=n_jobs)
    return open_source(plan.information, table, plan.source, n_jobs)


def _answer(source: Information, plan: Plan, progress: Progress | None) -> Answer:
    if plan.search != "auto":
        return Answer(plan, source, run(source, _settings(source, plan), progress))
    plan = replace(plan, look_ahead=plan.look_ahead or source.affordable_look_ahead())
    information = RememberedInformation(source)
    tried = try_searches(information, _settings(information, plan), progress)
    return Answer(plan, information, _found(tried), tuple(tried))


def _with_refinement(answer: Answer) -> Answer:
    settings = _settings(answer.information, answer.plan)
    tried = with_refinement(answer.information, settings, answer.tried)
    return replace(answer, outcome=_found(tried), tried=tuple(tried))


def _found(tried: list[Tried]) -> Outcome:
    """The outcome of the answer, which always has one."""
    outcome = tried[0].outcome
    if outcome is None:
        raise RuntimeError("the best of the searches was not kept")
    return outcome


def _settings(information: Information, plan: Plan) -> Settings:
    size = information.n_rows, information.n_variables
    return Settings(
        search=plan.search,
        boundary_rule=plan.boundary_rule.bind(*size),
        masking_rule=plan.masking_rule.bind(*size),
        boundary=plan.boundary,
        backward=plan.backward,
        max_boundary=plan.max_boundary,
        look_ahead=plan.look_ahead or information.affordable_look_ahead(),
    )


def _shift(table: Table, answer: Answer) -> float:
    """From the score of a reading to a probability of the levels themselves."""
    if answer.plan.information == "counts":
        return 0.0
    best = answer.tried[0]
    return lattice_likelihood(table, best.parents) - best.score


def _ranking(answers: list[Answer]) -> tuple[Run, ...]:
    """Everything that was tried: first on the reading that was chosen, then on the other."""
    return tuple(
        Run(
            one.search,
            answer.plan.information,
            one.score + answer.shift,
            one.n_edges,
            RESTS_ON.get(one.search, NOT_SEARCHED if one.search == SAME else LIKELIHOOD),
            chosen=answer is answers[0] and place == 0,
        )
        for answer in answers
        for place, one in enumerate(answer.tried)
    )
