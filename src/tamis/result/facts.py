"""What a result says, as the words and numbers that sentences are made of.

Nothing here is computed from rows: a saved result gives the same facts as a fresh one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from tamis.knowledge import Knowledge
from tamis.result.explanation import rows_in_words
from tamis.result.model import Edge, Result, Verdict

NAMED = 6
"""Names in a sentence before it is said how many more there are."""
NARROW = math.log(10)
"""A test was passed or failed narrowly if its p-value was within this factor of the threshold, in
log units."""
OFTEN = 0.9
"""The share of resamples from which on an arrow came back often."""

_HOW = {
    "sequential": "takes the least uncertain column next, one at a time",
    "node": "finds layers, masking by the column just admitted",
    "layer": "finds layers, masking by the whole layer so far",
    "reference": "goes as the authors' program does",
    "paper": "finds layers by the paper's estimator and thresholds",
}
_TOLD = {
    "tiers": ("The tiers", "The tiers"),
    "required": ("The required arrow", "The required arrows"),
    "forbidden": ("The forbidden arrow", "The forbidden arrows"),
    "sources": ("The column without parents", "The columns without parents"),
    "sinks": ("The column without children", "The columns without children"),
}
_NUMBERS = ("gaussian", "copula", "neighbours", "lipschitz")
_BY_KIND = ("mixed", "conditional-gaussian")


ARROW = " → "
"""What stands between a parent and its child."""


@dataclass(frozen=True, slots=True)
class Names:
    """Names of columns in a sentence, which a page sets apart and escapes."""

    listed: tuple[str, ...]


Piece = str | Names
Value = str | Names | tuple[Piece, ...]
"""What a place in a sentence holds: words, names, or both in turn."""


class Shares(Protocol):
    """What a sentence asks of a bootstrap."""

    @property
    def n(self) -> int:
        """The number of resamples."""

    @property
    def edges(self) -> Mapping[tuple[str, str], float]:
        """The share of resamples with parent → child; what never came is absent or 0."""


class Facts:
    """The words of a result; the conditions of sentences ask the same object.

    Parameters
    ----------
    result : Result
        What was learned, or loaded.
    confidence : Shares or None
        What came back from resampled rows.
    """

    def __init__(self, result: Result, confidence: Shares | None = None) -> None:
        self.result = result
        self.confidence = confidence
        self.edges = result.edges
        self.n_arrows = len(result.edges)
        self.n_required = sum((e.parent, e.child) in set(result.required) for e in result.edges)
        self.numbers_of = dict.fromkeys(("given", "equivalence", "entropy", "none"), 0)
        for edge in result.edges:
            self.numbers_of[edge.warrant] += 1

    # The table and the arrows.

    @cached_property
    def table(self) -> Value:
        """The file, its rows and columns."""
        columns = _count(len(self.result.names), "column")
        if self.result.n_rows is None:
            return f"a known law of {columns}"
        size = f" ({rows_in_words(self.result)}, {columns})"
        path = self.result.read_from
        return f"this table{size}" if path is None else (Names((_file_name(path),)), size)

    @property
    def arrows(self) -> str:
        """How many arrows there are."""
        return _count(self.n_arrows, "arrow")

    @property
    def required_arrows(self) -> str:
        """How many arrows were required."""
        return f"{self.n_required:,}"

    @property
    def found_arrows(self) -> str:
        """How many were not."""
        return f"{self.n_arrows - self.n_required:,}"

    @property
    def that_was(self) -> str:
        """The verb of the required arrows."""
        return "that was" if self.n_required == 1 else "that were"

    @cached_property
    def roots(self) -> list[str]:
        """Columns that have children and no parents."""
        parents = {edge.parent for edge in self.edges}
        children = {edge.child for edge in self.edges}
        return [name for name in self.result.order if name in parents - children]

    @cached_property
    def root_arrows(self) -> list[Edge]:
        """The arrows from there."""
        roots = set(self.roots)
        return [edge for edge in self.edges if edge.parent in roots]

    @property
    def first(self) -> Value:
        """Who comes first, with the verb."""
        return Names(tuple(self.roots)), " comes" if len(self.roots) == 1 else " come"

    @property
    def its(self) -> str:
        """Whose arrows lead from there."""
        return "its" if len(self.roots) == 1 else "their"

    @property
    def open_of_first(self) -> str:
        """How many of their arrows are open."""
        n_open = sum(not edge.is_claimed for edge in self.root_arrows)
        if len(self.root_arrows) == 1:
            return f"{self.its} only arrow"
        if n_open == len(self.root_arrows):
            return f"{'both' if n_open == 2 else 'all'} of {self.its} arrows"
        return f"{n_open:,} of {self.its} {len(self.root_arrows):,} arrows"

    @cached_property
    def alone(self) -> tuple[str, ...]:
        """Columns without any arrow, where others have some."""
        joined = {name for edge in self.edges for name in (edge.parent, edge.child)}
        return tuple(n for n in self.result.names if n not in joined) if joined else ()

    @property
    def isolated(self) -> Value:
        """Columns without any arrow, in words."""
        verb = " has no arrow" if len(self.alone) == 1 else " have no arrows"
        return Names(self.alone), verb

    @cached_property
    def strongest_edge(self) -> Edge:
        """The arrow with the largest gain; there must be one."""
        return max(self.edges, key=lambda e: (e.gain, e.parent, e.child))

    @property
    def strongest(self) -> Value:
        """The same in words."""
        return _arrow(self.strongest_edge)

    @property
    def kinds(self) -> str:
        """How many columns were read as what, where that differs."""
        read = list((self.result.kinds or {}).values())
        words = {"number": "number", "ordinal": "ordinal column", "category": "category"}
        parts = [
            _count(read.count(kind), word).replace("categorys", "categories")
            for kind, word in words.items()
            if kind in read
        ]
        return _and(parts)

    # What was told.

    @cached_property
    def knowledge(self) -> Knowledge:
        """The background knowledge."""
        return Knowledge.of(self.result.settings.get("knowledge"))

    @cached_property
    def rules_out(self) -> bool:
        """Whether the knowledge leaves fewer graphs than there are."""
        constraints = self.knowledge.constraints(self.result.names)
        return constraints is not None and constraints.rules_out

    @property
    def told(self) -> Value:
        """Everything that was told."""
        said: list[Piece] = []
        for statement in self._statements():
            said += [*(["; "] if said else []), *statement]
        return tuple(said)

    def _statements(self) -> Iterator[list[Piece]]:
        tiers = [Names(tuple(tier)) for tier in self.knowledge.tiers if tier]
        if tiers:
            alone = [" in one tier"] if len(tiers) == 1 else []
            yield [*[piece for tier in tiers for piece in (" before ", tier)][1:], *alone]
        for part, must in (("required", "must"), ("forbidden", "must not")):
            arrows = getattr(self.knowledge, part)
            for parent, child in arrows[:NAMED]:
                yield [Names((parent,)), ARROW, Names((child,)), f" {must} be there"]
            if len(arrows) > NAMED:
                yield [f"{_count(len(arrows) - NAMED, 'more arrow')} that {must} be there"]
        for part, none in (("sources", "parents"), ("sinks", "children")):
            names = getattr(self.knowledge, part)
            if names:
                yield [Names(tuple(names)), f" {'has' if len(names) == 1 else 'have'} no {none}"]

    @property
    def told_as(self) -> str:
        """What was told, as the subject of a sentence."""
        return self._subject[0]

    @property
    def without_it(self) -> str:
        """What was told, as the object of "without"."""
        return f"without {self.told_them}"

    @property
    def told_them(self) -> str:
        """What was told, as a pronoun."""
        return self._subject[1]

    @property
    def _subject(self) -> tuple[str, str]:
        parts = self.knowledge.to_dict()
        if len(parts) != 1:
            return "What was told", "it"
        ((part, said),) = parts.items()
        one, several = _TOLD[part]
        return (one, "it") if len(said) == 1 and part != "tiers" else (several, "them")

    @property
    def cost(self) -> float:
        """What the knowledge cost, in nats; not a number where nobody has asked."""
        found = self.result.knowledge_cost
        return math.nan if found is None else found

    @property
    def cost_in_words(self) -> str:
        """The cost, rounded."""
        return f"{self.cost:,.0f}" if self.cost >= 10 else f"{self.cost:.1f}"

    # What the directions rest on.

    @property
    def is_weighed(self) -> bool:
        """Whether the likelihood was asked what it loses without a direction."""
        settings = self.result.settings
        return bool(settings["search"] == "auto" and self.result.ranking)

    @property
    def settled(self) -> str:
        """Directions that every equivalent graph has."""
        return self._directions("equivalence", ("is", "are"))

    @property
    def assumed(self) -> str:
        """Directions by the entropy assumption."""
        return self._directions("entropy", ("rests", "rest"))

    @property
    def given(self) -> str:
        """Directions that follow from knowledge."""
        return self._directions("given", ("follows", "follow"))

    @property
    def open(self) -> str:
        """The other directions."""
        n = self.numbers_of["none"]
        if n == self.n_arrows:
            return self._directions("none", ("is", "are"))
        return "The other one is" if n == 1 else f"The other {n:,} are"

    @property
    def open_them(self) -> str:
        """Those directions, as an object."""
        return "it" if self.numbers_of["none"] == 1 else "any of them"

    @property
    def settled_them(self) -> str:
        """The directions that every equivalent graph has, as an object."""
        return "it" if self.numbers_of["equivalence"] == 1 else "them"

    @property
    def open_arrows(self) -> str:
        """How to read the arrows whose direction is open."""
        return "the arrow as a line" if self.numbers_of["none"] == 1 else "these arrows as lines"

    def _directions(self, warrant: str, verbs: tuple[str, str]) -> str:
        n = self.numbers_of[warrant]
        verb = verbs[0] if n == 1 else verbs[1]
        if self.n_arrows == 1:
            return f"Its direction {verb}"
        return f"{'All' if n == self.n_arrows else f'{n:,} of'} {self.n_arrows:,} directions {verb}"

    # The assumption behind the noise entropies.

    @cached_property
    def factor(self) -> float:
        """By how much the columns of one kind differ in what their parents leave open: the largest
        ratio of exp(H), the number of levels in effect or the width of a law."""
        groups = [group for group in self._noise().values() if len(group) > 1]
        return max((math.exp(min(max(g) - min(g), 700.0)) for g in groups), default=1.0)

    @property
    def factor_in_words(self) -> str:
        """The factor, rounded."""
        if self.factor > 1000:
            return "a factor of more than 1,000"
        shown = f"{self.factor:.1f}" if self.factor < 10 else f"{self.factor:,.0f}"
        return f"a factor of up to {shown}"

    @property
    def has_units(self) -> bool:
        """Whether directions by the entropy assumption may hang on units."""
        return len(self._noise().get("number", ())) > 1

    @property
    def same_units(self) -> bool:
        """Whether the numbers were said to have one unit."""
        return self.result.settings.get("units") == "same"

    @cached_property
    def comparable(self) -> float:
        """How likely it is that the units of numbers can be compared."""
        from tamis.search.noise import comparable

        noise = self._noise()["number"]
        mean = math.fsum(noise) / len(noise)
        return comparable(math.fsum((e - mean) ** 2 for e in noise), len(noise))

    @property
    def comparable_in_words(self) -> str:
        """The probability that units can be compared, as a percentage."""
        return percent(self.comparable)

    def _noise(self) -> dict[str, list[float]]:
        """What parents leave open, by the kinds of columns that can be compared."""
        found: dict[str, list[float]] = {}
        for name in self.result.names:
            labels, entropy = self.result.levels[name], self.result.entropies[name]
            if len(labels) != 1 and math.isfinite(entropy):
                found.setdefault(self._kind(name), []).append(entropy)
        return found

    def _kind(self, name: str) -> str:
        information = self.result.settings["information"]
        if information in _NUMBERS:
            return "number"
        if information not in _BY_KIND:
            return "level"
        if self.result.kinds is None:
            return "level" if self.result.levels[name] else "number"
        return "number" if self.result.kinds[name] == "number" else "level"

    # What is weakest.

    @cached_property
    def doubtful(self) -> Edge | None:
        """The direction that is least likely, of those with a probability of their own."""
        weighed = [
            edge
            for edge in self.edges
            if edge.warrant in ("entropy", "none")
            or (self.is_weighed and edge.direction_probability < 1)
        ]
        return min(
            weighed, key=lambda e: (e.direction_probability, e.parent, e.child), default=None
        )

    @property
    def least_likely(self) -> Value:
        """That direction and its probability."""
        edge = self.doubtful
        return () if edge is None else (*_arrow(edge), f", {percent(edge.direction_probability)}")

    @cached_property
    def _pairs(self) -> dict[frozenset[str], Edge]:
        return {frozenset((e.parent, e.child)): e for e in self.edges}

    @cached_property
    def weakest(self) -> tuple[Edge, Verdict] | None:
        """The arrow that was nearest to being left out, and the test that it passed."""
        required = set(self.result.required)
        tests = [
            (verdict.distance, verdict.target, edge, verdict)
            for selection in self.result.trace.selections
            for verdict in (*selection.taken, *selection.retained)
            if verdict.dependent and len(verdict.others) == 1
            for edge in [self._pairs.get(frozenset((verdict.target, *verdict.others)))]
            if edge is not None and (edge.parent, edge.child) not in required
        ]
        found = min(tests, key=lambda one: one[:2], default=None)
        return None if found is None else (found[2], found[3])

    @property
    def weakest_arrow(self) -> Value:
        """That arrow."""
        return () if self.weakest is None else _arrow(self.weakest[0])

    @property
    def once_known(self) -> Value:
        """What the test of that arrow was given, where it was given anything."""
        given = () if self.weakest is None else tuple(self.weakest[1].given)
        return (", given ", Names(given)) if given else ""

    @property
    def is_narrow(self) -> bool:
        """Whether the weakest arrow passed its test narrowly."""
        return self.weakest is not None and self.weakest[1].distance < NARROW

    @cached_property
    def missed(self) -> Verdict | None:
        """The test that came nearest to an arrow which is not there, if that was narrow."""
        tests = [
            (one.refused.distance, one.name, one.refused)
            for one in self.result.trace.selections
            if one.refused is not None
            and len(one.refused.others) == 1
            and frozenset((one.name, *one.refused.others)) not in self._pairs
        ]
        found = min(tests, key=lambda one: one[:2], default=None)
        return found[2] if found is not None and found[0] < NARROW else None

    @property
    def missed_pair(self) -> Value:
        """The two columns of that test."""
        return () if self.missed is None else Names((self.missed.target, *self.missed.others))

    # Resamples, and how the graph was found.

    @property
    def resamples(self) -> str:
        """How many resamples there are."""
        return "" if self.confidence is None else _count(self.confidence.n, "resample")

    @property
    def often(self) -> str:
        """How many arrows came back often."""
        n = sum(share >= OFTEN for share in self._came_back().values())
        return f"{n:,} of {self.arrows}" if self.n_arrows > 1 else f"{n} of 1 arrow"

    @property
    def least_often(self) -> Value:
        """The arrow that came back least often, and how often."""
        shares = self._came_back()
        edge = min(self.edges, key=lambda e: (shares[e.parent, e.child], e.parent, e.child))
        return *_arrow(edge), f" least often, in {percent(shares[edge.parent, edge.child])}"

    @cached_property
    def n_turned(self) -> int:
        """How many directions that rest on equivalence resamples show the other way round at least
        as often."""
        shares = {} if self.confidence is None else self.confidence.edges
        return sum(
            shares.get((e.child, e.parent), 0.0) >= max(shares.get((e.parent, e.child), 0.0), 1e-9)
            for e in self.edges
            if e.warrant == "equivalence"
        )

    @property
    def turned(self) -> str:
        """These directions, as a subject."""
        n = self.n_turned
        if self.numbers_of["equivalence"] == 1:
            return "it points"
        return f"{n:,} of them {'points' if n == 1 else 'point'}"

    @property
    def turned_them(self) -> str:
        """These directions, as an object."""
        return "it" if self.n_turned == 1 else "these"

    def _came_back(self) -> dict[tuple[str, str], float]:
        found = {} if self.confidence is None else self.confidence.edges
        return {(e.parent, e.child): found.get((e.parent, e.child), 0.0) for e in self.edges}

    @property
    def search(self) -> str:
        """The search whose graph this is."""
        return self.result.search

    @property
    def manner(self) -> str:
        """How that search goes."""
        return _HOW.get(self.search, "comes from outside tamis")

    @property
    def rests_on(self) -> str:
        """What the search of the answer rests on; empty where no likelihood has chosen it."""
        return next((run.rests_on for run in self.result.ranking if run.chosen), "")


def percent(share: float) -> str:
    """A share cut off to a whole percentage; only all is 100% and only nothing 0%."""
    if 0.99 < share < 1:
        return "more than 99%"
    if 0 < share < 0.01:
        return "less than 1%"
    return f"{math.floor(100 * share + 1e-9)}%"


def _file_name(path: str) -> str:
    """What to call a table: the last part of its path, of this system or of another; of several
    files the folder too, as a pattern alone says little."""
    parts = [part for part in path.replace("\\", "/").split("/") if part]
    if not parts:
        return path
    return "/".join(parts[-2:]) if any(sign in parts[-1] for sign in "*?[") else parts[-1]


def _arrow(edge: Edge) -> tuple[Piece, ...]:
    return Names((edge.parent,)), ARROW, Names((edge.child,))


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def _and(parts: Sequence[str]) -> str:
    return " and ".join((", ".join(parts[:-1]), parts[-1])) if len(parts) > 1 else "".join(parts)
