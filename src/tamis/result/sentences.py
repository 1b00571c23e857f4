"""Every sentence that an answer can contain, with the condition under which it is said.

Terminal, page and notebook say these sentences and no others about what was found; each is true
whenever its condition holds, however the answer came about. Words in braces are those of
`tamis.result.facts.Facts`. Notes about the table itself come from the layer that reads it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from string import Formatter

from tamis.constants import constants
from tamis.result.explanation import show
from tamis.result.facts import ARROW, NAMED, Facts, Names, Piece, Shares
from tamis.result.model import Result

CLEAR = 10.0
"""Nats from which on the table fits much better: odds of twenty thousand to one."""
CLOSE, APART = 1.5, 3.0
"""Factors up to which what parents leave open is about equal, and from which on it is not."""
SORTED = 0.8
"""The varsortability from which on the order may come from units; by chance it is about a half."""

Condition = Callable[[Facts], bool]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the answer.

    Parameters
    ----------
    name : str
        What to call it.
    part : str
        Where it stands, one of ``PARTS``.
    when : callable
        Whether it is said.
    text : str
        The sentence, with the facts in braces.
    """

    name: str
    part: str
    when: Condition
    text: str


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence about one result: words, and names that a page sets apart."""

    name: str
    part: str
    pieces: tuple[Piece, ...]

    def __str__(self) -> str:
        return self.text()

    def text(self, arrow: str = ARROW) -> str:
        """Plain text, with this between parent and child."""
        return "".join(
            names_in_text(one) if isinstance(one, Names) else arrow if one == ARROW else one
            for one in self.pieces
        )


def _some(warrant: str) -> Condition:
    return lambda f: f.numbers_of[warrant] > 0


def _and(*conditions: Condition) -> Condition:
    return lambda f: all(one(f) for one in conditions)


def _not(condition: Condition) -> Condition:
    return lambda f: not condition(f)


def _cost(low: float, high: float) -> Condition:
    return lambda f: low <= f.cost < high


def _apart(low: float, high: float) -> Condition:
    return lambda f: f.numbers_of["entropy"] > 0 and low < f.factor <= high


def _has_arrows(f: Facts) -> bool:
    return f.n_arrows > 0


def _rules_out(f: Facts) -> bool:
    return f.rules_out


def _weighed(f: Facts) -> bool:
    return f.is_weighed


def _all_required(f: Facts) -> bool:
    return f.n_arrows == f.n_required


def _none_required(f: Facts) -> bool:
    return f.n_required == 0


def _one_tier(f: Facts) -> bool:
    return len([tier for tier in f.knowledge.tiers if tier]) == 1


def _several(f: Facts) -> bool:
    return f.n_arrows > 1


def _passed(f: Facts) -> bool:
    return f.weakest is not None


def _narrowly(f: Facts) -> bool:
    return f.is_narrow


def _weakest_is_strongest(f: Facts) -> bool:
    return f.weakest is not None and f.weakest[0] == f.strongest_edge


def _first_is_open(f: Facts) -> bool:
    return any(not edge.is_claimed for edge in f.root_arrows)


def _first_is_told(f: Facts) -> bool:
    return bool(f.root_arrows) and all(edge.warrant == "given" for edge in f.root_arrows)


def _by_orders(f: Facts) -> bool:
    return f.search == "orders"


def _compared(f: Facts) -> bool:
    return bool(f.result.ranking)


SENTENCES: tuple[Sentence, ...] = (
    Sentence(
        "nothing",
        "found",
        _not(_has_arrows),
        "In {table} tamis found no arrows: no column was seen to depend on another.",
    ),
    Sentence(
        "arrows",
        "found",
        _and(_has_arrows, _none_required),
        "In {table} tamis found {arrows}.",
    ),
    Sentence(
        "arrows besides required ones",
        "found",
        _and(_has_arrows, _not(_none_required), _not(_all_required)),
        "In {table} there are {arrows}: {found_arrows} that tamis found and {required_arrows} "
        "{that_was} required.",
    ),
    Sentence(
        "required arrows alone",
        "found",
        _and(_has_arrows, _all_required),
        "In {table} tamis found no arrows but the {required_arrows} {that_was} required.",
    ),
    Sentence(
        "first",
        "found",
        _and(_has_arrows, _not(_first_is_open), _not(_first_is_told)),
        "{first} first: no arrow leads there.",
    ),
    Sentence(
        "first as told",
        "found",
        _and(_has_arrows, _first_is_told),
        "{first} first; the directions of {its} arrows follow from what was told.",
    ),
    Sentence(
        "first if at all",
        "found",
        _and(_has_arrows, _first_is_open),
        "{first} first in this graph, but that is not settled: {open_of_first} might instead point "
        "the other way.",
    ),
    Sentence(
        "strongest",
        "found",
        _several,
        "The strongest arrow is {strongest}.",
    ),
    Sentence("isolated", "found", lambda f: bool(f.alone), "{isolated}."),
    Sentence(
        "kinds",
        "found",
        lambda f: f.result.kinds is not None,
        "The columns were read as {kinds}.",
    ),
    Sentence("told", "told", lambda f: bool(f.knowledge), "Told beforehand: {told}."),
    Sentence(
        "told nothing",
        "told",
        _and(lambda f: bool(f.knowledge), _not(_rules_out)),
        "That rules no graph out.",
    ),
    Sentence(
        "one tier",
        "told",
        _one_tier,
        "One tier alone sets no order: name the columns that come after it in a second one.",
    ),
    Sentence(
        "cost nothing",
        "told",
        _and(_rules_out, _cost(0.0, 0.05)),
        "{told_as} cost nothing: {without_it} tamis finds no graph that fits better.",
    ),
    Sentence(
        "cost little",
        "told",
        _and(_rules_out, lambda f: 0.05 <= f.cost < constants.alike),
        "{told_as} cost little: {without_it} the table fits hardly better, by {cost_in_words} in "
        "log-likelihood.",
    ),
    Sentence(
        "cost something",
        "told",
        _and(_rules_out, lambda f: constants.alike <= f.cost < CLEAR),
        "{told_as} cost {cost_in_words} in log-likelihood: the table fits better {without_it}.",
    ),
    Sentence(
        "cost much",
        "told",
        _and(_rules_out, _cost(CLEAR, math.inf)),
        "{told_as} cost {cost_in_words} in log-likelihood: the table fits much better "
        "{without_it}.",
    ),
    Sentence(
        "what a cost may mean",
        "told",
        _and(_rules_out, _cost(CLEAR, math.inf)),
        "That alone does not make {told_them} wrong: a cause that was not recorded, or dependence "
        "that the model does not see, has the same effect.",
    ),
    Sentence(
        "cost unknown",
        "told",
        _and(_rules_out, lambda f: math.isnan(f.cost)),
        "What that costs in fit is not known.",
    ),
    Sentence(
        "settled",
        "directions",
        _and(_some("equivalence"), _weighed, _not(_rules_out)),
        "{settled} settled by the data: every graph that fits as well has {settled_them}.",
    ),
    Sentence(
        "settled with what was told",
        "directions",
        _and(_some("equivalence"), _weighed, _rules_out),
        "{settled} settled by the data and what was told together: every graph that fits as well "
        "and agrees with what was told has {settled_them}.",
    ),
    Sentence(
        "resamples turn directions",
        "directions",
        lambda f: f.n_turned > 0,
        "But among the resamples {turned} the other way at least as often: do not rely on "
        "{turned_them}.",
    ),
    Sentence(
        "same in the class",
        "directions",
        _and(_some("equivalence"), _not(_weighed)),
        "{settled} the same in every equivalent graph; how well others fit was not asked.",
    ),
    Sentence(
        "assumed",
        "directions",
        _some("entropy"),
        "{assumed} on the entropy assumption: that parents leave about equally much open in every "
        "column.",
    ),
    Sentence(
        "assumption holds",
        "directions",
        _apart(0.0, CLOSE),
        "On this table that is about so: columns differ in it by {factor_in_words}.",
    ),
    Sentence(
        "assumption is fair",
        "directions",
        _apart(CLOSE, APART),
        "On this table that is roughly so: columns differ in it by {factor_in_words}.",
    ),
    Sentence(
        "assumption is poor",
        "directions",
        _apart(APART, math.inf),
        "On this table columns differ in it by {factor_in_words}, so take these directions with "
        "care.",
    ),
    Sentence(
        "units",
        "directions",
        _and(_some("entropy"), lambda f: f.has_units and not f.same_units),
        "For numbers it also takes units that can be compared, which their noise makes "
        "{comparable_in_words} likely.",
    ),
    Sentence(
        "same units",
        "directions",
        _and(_some("entropy"), lambda f: f.has_units and f.same_units),
        "It also takes that the numbers have one unit, as was said.",
    ),
    Sentence(
        "given",
        "directions",
        _some("given"),
        "{given} from what was told, alone or together with the arrows found.",
    ),
    Sentence(
        "open",
        "directions",
        _some("none"),
        "{open} open: the data do not clearly tell which way, so read {open_arrows}.",
    ),
    Sentence(
        "assumption settles nothing",
        "directions",
        _and(_some("none"), lambda f: f.numbers_of["entropy"] == 0),
        "The entropy assumption, that parents leave about equally much open in every column, does "
        "not settle {open_them}; here columns differ in that by {factor_in_words}.",
    ),
    Sentence(
        "least likely direction",
        "weakest",
        lambda f: f.doubtful is not None and f.doubtful.direction_probability >= 0.5,
        "The least certain direction is {least_likely} likely.",
    ),
    Sentence(
        "unlikely direction",
        "weakest",
        lambda f: f.doubtful is not None and f.doubtful.direction_probability < 0.5,
        "The least certain direction is {least_likely} likely: taken by itself, this arrow would "
        "point the other way.",
    ),
    Sentence(
        "weakest arrow is a close call",
        "weakest",
        _and(_several, _narrowly, _not(_weakest_is_strongest)),
        "The weakest arrow is {weakest_arrow}, and that was a close call.",
    ),
    Sentence(
        "weakest arrow is clear",
        "weakest",
        _and(_several, _passed, _not(_narrowly), _not(_weakest_is_strongest)),
        "The weakest arrow is {weakest_arrow}; even that is clear.",
    ),
    # An arrow is strong for what it tells by itself, and left out for what it tells beside others.
    Sentence(
        "strongest is weakest and a close call",
        "weakest",
        _and(_several, _narrowly, _weakest_is_strongest),
        "{weakest_arrow} was also nearest to being left out{once_known}; that was a close call.",
    ),
    Sentence(
        "strongest is weakest and clear",
        "weakest",
        _and(_several, _passed, _not(_narrowly), _weakest_is_strongest),
        "{weakest_arrow} was also nearest to being left out{once_known}; even so it is clear.",
    ),
    Sentence(
        "only arrow is a close call",
        "weakest",
        _and(_not(_several), _narrowly),
        "The arrow was a close call.",
    ),
    Sentence(
        "only arrow is clear",
        "weakest",
        _and(_not(_several), _passed, _not(_narrowly)),
        "The arrow is clear.",
    ),
    Sentence(
        "missed narrowly",
        "weakest",
        lambda f: f.missed is not None,
        "An arrow between {missed_pair} was refused only narrowly.",
    ),
    Sentence(
        "resamples",
        "weakest",
        lambda f: f.confidence is not None and f.n_arrows > 0,
        "In {resamples}, {often} came back at least 9 times in 10; {least_often}.",
    ),
    Sentence(
        "class that fits best",
        "how",
        _and(_by_orders, _not(_rules_out)),
        "tamis looked for the class of graphs that fits best, and took the likeliest directions in "
        "it.",
    ),
    Sentence(
        "class that fits best with what was told",
        "how",
        _and(_by_orders, _rules_out),
        "Among the graphs that agree with what was told, tamis looked for the class that fits "
        "best, and took the likeliest directions in it.",
    ),
    Sentence(
        "confirmed",
        "how",
        _and(_weighed, _not(_by_orders)),
        "Of all that tamis tried, the graph of the search {search} was best; that search {manner}.",
    ),
    Sentence(
        "named search",
        "how",
        _not(_compared),
        "The graph is that of the search {search}, which {manner}.",
    ),
    Sentence("rests on", "how", lambda f: bool(f.rests_on), "It rests on {rests_on}."),
    Sentence(
        "steps of the order search",
        "steps",
        _and(_by_orders, _not(_rules_out)),
        "The likelihood chose among classes of equivalent graphs, and within the class the "
        "directions that spread the noise entropies most evenly.",
    ),
    Sentence(
        "steps of the order search with what was told",
        "steps",
        _and(_by_orders, _rules_out),
        "Among the graphs that agree with what was told, the likelihood chose the class, and "
        "within the class the directions that spread the noise entropies most evenly.",
    ),
    Sentence(
        "uncertainties of the order search",
        "steps",
        _by_orders,
        "No column is masked; the uncertainties are those given the parents found.",
    ),
    Sentence(
        "steps one by one",
        "steps",
        lambda f: f.search == "sequential",
        "In each step the column of least conditional entropy, given those admitted, is admitted "
        "next. No column is masked.",
    ),
    Sentence(
        "steps by layers",
        "steps",
        lambda f: f.search not in ("sequential", "orders"),
        "In each layer the columns stand in order of conditional entropy given their boundaries. "
        "The least uncertain is admitted, those that depend on it are masked until the next layer, "
        "and so on until none is left.",
    ),
    Sentence(
        "steps that wait",
        "steps",
        _and(_rules_out, _not(_by_orders)),
        "A column that by what was told comes after others waits for them.",
    ),
)
"""In the order in which they are said."""

PARTS = ("found", "told", "directions", "weakest", "how", "steps")
"""The parts of an answer: what was found; what was told and what that cost; what the directions
rest on; what is weakest; how the graph was found; what the steps of the search mean."""
AT_FIRST = PARTS[:4]
"""What is said without being asked for statistics."""

UNITS = (
    "Variances grow along {share:.0%} of the directed paths (varsortability); near 100%, the order "
    "may come from the units of measurement. If all numbers have one unit, say so with "
    "units='same'."
)
"""A note where variances grow along most paths and units were not said to be the same."""
FUNCTIONS = (
    "Some columns follow from others: {told}. Arrows at such columns tell how they were made "
    "rather than what causes what, and their directions are worth little: keep one column of each "
    "pair."
)
ONE_TO_ONE, ONE_VALUE = "goes one to one with", "has one value for each value of"
"""A note where a column of levels follows from a neighbour in the graph."""
COUNTED_ONLY = (
    "Read as levels, which explain this table better than numbers do. In memory columns of many "
    "values would be numbers all the same, beside columns of few; that needs rows."
)
"""A note where whole numbers are counted in blocks and levels explain them better."""


def answer(result: Result, *parts: str, confidence: Shares | None = None) -> list[Said]:
    """What there is to say about a result, in order.

    Parameters
    ----------
    result : Result
        What was learned.
    *parts : str
        The parts to say, of ``PARTS``; without any, all.
    confidence : Shares or None
        What came back from resampled rows.

    Returns
    -------
    list of Said
        The sentences whose conditions hold. ``str(sentence)`` is plain text.
    """
    facts = Facts(result, confidence)
    return [
        Said(one.name, one.part, tuple(_pieces(one.text, facts)))
        for one in SENTENCES
        if one.part in (parts or PARTS) and one.when(facts)
    ]


def names_in_text(names: Names, most: int = NAMED) -> str:
    """Names side by side in plain text: a, b and c."""
    shown = [show(name) or "(no name)" for name in names.listed[:most]]
    rest = len(names.listed) - len(shown)
    if rest > 0:
        return f"{', '.join(shown)} and {rest:,} more"
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1]))) if shown else "nothing"


def _pieces(text: str, facts: Facts) -> Iterator[Piece]:
    for words, place, _, _ in Formatter().parse(text):
        if words:
            yield words
        if place is not None:
            value = getattr(facts, place)
            yield from value if isinstance(value, tuple) else (value,)
