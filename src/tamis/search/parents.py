"""The parents of nodes among thousands of slightly different sets of candidates.

The order search (``orders``) asks for the same node again and again. What was counted and what was
selected is remembered in flat arrays, along which the loops of ``order_loops`` go; where they come
to something that has not been counted they write it down, and it is counted here in one batch for
all orders that wait. Of a table in memory they have it counted themselves (``counting/direct``).
"""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import NamedTuple, TypeVar

import numpy as np

from tamis.constants import constants
from tamis.counting.compiled import Floats, Ints, interpreted, uncompiled
from tamis.counting.direct import N_REGRETS
from tamis.information.interface import LEADING, Answering, Context, Group, Profiles, Query
from tamis.information.wrappers import floors
from tamis.knowledge import as_bits
from tamis.search import order_loops as loops
from tamis.search.cmi_rows import exclude, in_parts
from tamis.search.selection import Asked, Selector

Numbers = TypeVar("Numbers", Ints, Floats)

SHORT = LEADING
"""As many candidates of a row are listed at first, the best."""
WHOLE = 128
"""With more variables only those strengths are kept that are asked for."""
AT_ONCE, MANY_AT_ONCE = 16, 512
"""Of so many nodes the moves are prepared at once; of more in wide tables, where a move changes
little that others wait for."""
NO_TABLE = np.zeros(0, dtype=np.int64)
MOST_MISSING = 4096
ENTRIES = 1024
"""Room for missing things, and at first for entries."""
PRICED = 4096
"""The cost of tables of up to this number of cells is known from the start."""
FEW = 32
"""In tables with no more columns the first selections of a process are made without compiled loops,
which are not worth waiting for if there are few."""
SECONDS = 2.5e-4
"""What a selection takes then, about."""


class Selected(NamedTuple):
    """The parents of a node, how well they explain it (a penalised likelihood), and what the choice
    hangs on: who was no candidate and would change it, a bit each, the number of candidates up to
    which it is the same, and whether several were taken together."""

    members: tuple[int, ...]
    score: float
    rivals: int
    most: int
    by_set: bool


class ParentSelector:
    """Chooses parents by the rules of a selector, and remembers."""

    def __init__(self, selector: Selector) -> None:
        self.selector = selector
        self._pps = pps = selector.pps
        self._information = pps.information
        self.n_variables = d = pps.information.n_variables
        self.n_words = (d + 63) // 64
        known = pps.constraints
        self.waits = sets_of((0,) * d if known is None else known.waits, self.n_words)
        """For each node those that stand before it in every order."""
        self._memory = self._begin()
        self._first = int(self._memory[loops.USED])
        self._slots = np.zeros(4 * ENTRIES, dtype=np.int64)
        self._rows: Ints = np.zeros(0, dtype=np.int64)
        self._strengths: Floats = np.zeros(0)
        self._families = self._thresholds()
        self._memory[[loops.SET_THRESHOLDS, loops.REPLY, loops.JUDGED]] = (
            loops.THRESHOLDS + d + 1, len(self._families) - d - 1, len(self._families),
        )  # fmt: skip
        self._direct: Answering | None = None
        self.n_most = math.inf
        self._make_room()

    def _begin(self) -> Ints:
        """The memory with its header, and the sets of nodes, without entries."""
        n_words, d, pps = self.n_words, self.n_variables, self._pps
        required = [as_bits(pps.required.get(k, ())) for k in range(d)]
        of_nodes = [sets_of(own, n_words) for own in (pps.blocked, pps.mentioned, required)]
        together = [[bits for bits, _ in sets] for sets in pps.sets_of]
        scratch = range(loops.EMPTY, loops.CONCERNED + 1)
        parts = [*scratch, loops.BLOCKED, loops.MENTIONED, loops.REQUIRED, loops.TOGETHER_OF]
        parts.append(loops.QUESTION)
        sizes = [n_words] * len(scratch) + [d * n_words] * 3 + [d, d + 2]
        sizes += [3 * MOST_MISSING, *(1 + len(sets) * n_words if sets else 0 for sets in together)]
        starts = loops.HEADER + np.cumsum([0, *sizes])
        memory = np.zeros(int(starts[-1]) + ENTRIES * self._width, dtype=np.int64)
        memory[[*parts, loops.MISSING]] = starts[: len(parts) + 1]
        memory[[loops.D, loops.W, loops.ROOM, loops.USED]] = d, n_words, MOST_MISSING, starts[-1]
        memory[[loops.LIMIT, loops.BACKWARD]] = pps.limit, self.selector.backward
        memory[[loops.N_JUDGED, loops.LIST]] = constants.sets_judged, SHORT
        memory[loops.BOUND] = any(pps.blocked) or any(pps.mentioned) or bool(pps.required)
        memory[loops.AT_ONCE] = MANY_AT_ONCE if d > constants.wide else AT_ONCE
        for place, own in zip(
            (loops.BLOCKED, loops.MENTIONED, loops.REQUIRED), of_nodes, strict=True
        ):
            memory[memory[place] : memory[place] + own.size] = own.ravel()
        for k, (sets, start) in enumerate(
            zip(together, starts[len(parts) + 1 :].tolist(), strict=False)
        ):
            if sets:
                memory[memory[loops.TOGETHER_OF] + k] = start
                memory[start] = len(sets)
                memory[start + 1 : start + 1 + len(sets) * n_words] = sets_of(sets, n_words).ravel()
        start = memory[loops.TOGETHER_OF]
        self._places_of_sets: list[int] = memory[start : start + d].tolist()
        return memory

    def _thresholds(self) -> Floats:
        """Of single candidates by their number, then of sets by their size and the number that they
        are taken from; and room for a reply."""
        pps, d = self._pps, self.n_variables
        largest = max((len(one) for sets in pps.sets_of for _, one in sets), default=-1)
        of_sets = [pps.set_threshold(n, size) for size in range(largest + 1) for n in range(d + 1)]
        return np.concatenate([np.zeros(1), pps.thresholds, of_sets, np.zeros(d + 1)])

    def look_ahead_at(self, targets: Container[int]) -> None:
        """Let only these take several candidates together from now on."""
        memory, pps, d = self._memory, self._pps, self.n_variables
        pps.look_ahead_at(targets)
        start = memory[loops.TOGETHER_OF]
        memory[start : start + d] = [
            place if k in targets else 0 for k, place in enumerate(self._places_of_sets)
        ]
        mentioned = sets_of(pps.mentioned, self.n_words).ravel()
        memory[memory[loops.MENTIONED] : memory[loops.MENTIONED] + len(mentioned)] = mentioned
        memory[loops.BOUND] = any(pps.blocked) or any(pps.mentioned) or bool(pps.required)

    def took_sets(self, entry: int) -> bool:
        """Whether a selection has taken several candidates together."""
        return bool(self._memory[entry + loops.BY_SET])

    @property
    def n_made(self) -> int:
        """The selections made so far."""
        return int(self._memory[loops.N_MADE])

    @property
    def last_rise(self) -> float:
        """By how much the score would rise with the tuck that was tried last."""
        return float(self._families[loops.RISE])

    @property
    def affordable(self) -> int:
        """How many selections may be made before no new start is tried."""
        most = constants.selections_per_pair * self.n_variables**2
        rows = self._information.rows_read
        return most if rows == 0 else min(most, int(constants.rows_for_selections / (rows + 8000)))

    @property
    def affordable_starts(self) -> int:
        """How many new starts an order may have: each goes over the sets of all nodes, and has some
        tables counted."""
        most = constants.words_of_starts / (self.n_variables * self.n_words)
        cells = self._information.cells_read
        most = min(most, constants.cells_of_starts / cells) if cells else most
        return max(int(most), constants.fruitless_starts)

    def allow(self, times: float) -> None:
        """Let so many times as many selections be made from now on as are affordable, where they
        are dear: one climb may take far longer than all others."""
        dear = self._information.rows_read > 0
        self.n_most = self.n_made + times * self.affordable if dear else math.inf

    @property
    def is_spent(self) -> bool:
        """Whether all selections that are allowed have been made."""
        return self.n_made > self.n_most

    def select_all(self, asked: Sequence[Asked]) -> list[Selected]:
        """The parents of targets among candidates, one bit each."""
        return [self.selected(one) for one in self._entries(asked).tolist()]

    def all_scores(self, asked: Sequence[Asked]) -> list[float]:
        """How well the parents of targets among candidates explain them."""
        return self.scores(self._entries(asked))

    def _entries(self, asked: Sequence[Asked]) -> Ints:
        walk = new_walk([target for target, _ in asked], self.n_variables, self.waits)
        part(walk, loops.BEFORE)[:] = sets_of(
            [*(bits for _, bits in asked), 0], self.n_words
        ).ravel()
        part(walk, loops.FRESH)[:] = [bits.bit_count() for _, bits in asked]
        walk[loops.MODE] = loops.ASK
        self.run([walk])
        return part(walk, loops.CHANGED)[: len(asked)]

    def selected(self, entry: int) -> Selected:
        """What a selection has found."""
        memory = self._memory
        most, by_set = memory[entry + loops.MOST], memory[entry + loops.BY_SET]
        rivals = memory[entry + loops.SET + self.n_words : entry + loops.SET + 2 * self.n_words]
        bits = int.from_bytes(rivals.astype("<i8").tobytes(), "little")
        own = np.array([entry])
        members = tuple(self.members(own)[0])
        return Selected(members, self.scores(own)[0], bits, int(most), bool(by_set))

    def taken(self, entries: Ints) -> list[list[int]]:
        """What PPS has taken before members left again, in that order; of selections that took
        several together some of it."""
        steps: list[list[int]] = []
        for context in self._memory[entries + loops.GROWN].tolist():
            steps.append([])
            while context >= 0:
                steps[-1].insert(0, context)
                context = int(self._memory[context + loops.CAME_FROM])
        given = iter(self._given(np.array([*chain.from_iterable(steps)], dtype=np.int64)))
        return [list(dict.fromkeys(k for _ in own for k in next(given))) for own in steps]

    def members(self, entries: Ints) -> list[list[int]]:
        """The parents that selections have found."""
        return self._given(self._memory[entries + loops.CONTEXT])

    def entropies(self, places: Ints) -> Floats:
        """What the loops have found out about nodes, by where it is; infinite where nowhere."""
        found: Floats = np.where(places > 0, self._families[places], np.inf)
        return found

    @property
    def counts_at_once(self) -> bool:
        """Whether the loops are compiled, and have a table counted while they run."""
        return not uncompiled.allows(loops.advance) and self._counted is not NO_TABLE

    def scores(self, entries: Ints) -> list[float]:
        """How well these parents explain their nodes."""
        contexts = self._memory[entries + loops.CONTEXT]
        scores: list[float] = self._families[self._memory[contexts + loops.FAMILY]].tolist()
        return scores

    def run(self, walks: Sequence[Ints]) -> None:
        """Go on with orders until all are done; what they miss is counted in batches for all."""
        self._memory[loops.N_MOST] = min(self.n_most, 2**62)
        while walks:
            in_python = self.n_variables <= FEW and uncompiled.allows(loops.advance)
            advance = interpreted(loops.advance) if in_python else loops.compiled_advance()
            before = self.n_made
            table = NO_TABLE if in_python else self._counted
            # A call takes as long as a short climb: all orders go in one.
            joined = walks[0] if len(walks) == 1 else np.concatenate(walks)
            advance(
                table, self._memory, self._slots, self._rows, self._strengths,
                self._families, joined, len(walks[0]),
            )  # fmt: skip
            if len(walks) > 1:
                for walk, own in zip(walks, joined.reshape(len(walks), -1), strict=True):
                    walk[:] = own
            if in_python:
                uncompiled.spent += SECONDS * (self.n_made - before)
            self._find_out()
            walks = [one for one in walks if one[loops.MODE] < loops.DONE]

    @cached_property
    def _counted(self) -> Ints:
        """The table that is counted while a loop runs, if one can be."""
        self._direct = self._pps.rule.direct(self._information)
        if self._direct is None:
            return NO_TABLE
        self._memory[loops.AT_ONCE] = 0
        self._direct.price_up_to(PRICED)
        return self._direct.numbers

    def _find_out(self) -> None:
        """Count what orders wait for."""
        memory = self._memory
        n = int(memory[loops.N_MISSING])
        if n == 0:  # there was no room
            memory[loops.IS_FULL] = 0
            self._make_room()
            return
        start = int(memory[loops.MISSING])
        missing = memory[start : start + 3 * n].reshape(n, 3).copy()
        memory[loops.N_MISSING] = memory[loops.IS_FULL] = 0
        kinds = missing[:, 0]
        sets = missing[kinds == loops.GROUP, 1:]
        if len(sets):
            self._judge_sets(np.unique(sets, axis=0))
        rows, families = missing[kinds == loops.ROW, 1], missing[kinds == loops.FAMILIES, 1]
        if self.n_variables <= constants.wide and self._information.rows_read == 0:
            # Where a row has been asked for, the family will be, but for few; that costs little
            # unless rows are read for it.
            both = np.array(
                list(dict.fromkeys((*rows.tolist(), *families.tolist()))), dtype=np.int64
            )
            families = both[memory[both + loops.FAMILY] < 0]
        if len(families) and self._direct is not None:
            self._direct.price_up_to(2 * int(self._direct.numbers[N_REGRETS]))
        self._judge(families)
        single = missing[kinds == loops.STRENGTH, 1:]
        if len(single):
            self._judge_candidates(np.unique(single, axis=0))
        self._count(rows)
        self._make_room()

    def _given(self, contexts: Ints) -> list[list[int]]:
        """What is given in each of some contexts."""
        words = self._memory[contexts[:, None] + (loops.SET + np.arange(self.n_words))]
        of_context, places = np.nonzero(words)
        octets = words[of_context, places].astype("<i8").view(np.uint8).reshape(-1, 8)
        of_word, bits = np.nonzero(np.unpackbits(octets, axis=1, bitorder="little"))
        ends = np.searchsorted(of_context[of_word], np.arange(len(contexts) + 1)).tolist()
        members = (64 * places[of_word] + bits).tolist()
        return [members[i:j] for i, j in pairwise(ends)]

    def _contexts(self, contexts: Ints) -> list[Context]:
        targets = (self._memory[contexts] // 2).tolist()
        given = self._given(contexts)
        return [Context(k, tuple(one)) for k, one in zip(targets, given, strict=True)]

    def _judge_sets(self, asked: Ints) -> None:
        """The strengths of sets that may be taken together, each at a context."""
        contexts, places = asked.T
        fresh = np.unique(contexts[self._memory[contexts + loops.TOGETHER] < 0])
        for context in fresh.tolist():
            n_sets = len(self._pps.sets_of[self._memory[context] // 2])
            self._memory[context + loops.TOGETHER] = self._memory[loops.JUDGED]
            self._append_families(np.full(n_sets, np.nan))
        groups = []
        for context, place in zip(self._contexts(contexts), places.tolist(), strict=True):
            members = self._pps.sets_of[context.target][place][1]
            left = tuple(k for k in members if k not in context.given)
            groups.append(Group(*context, left))
        self._pps.judge(groups)
        at = self._memory[contexts + loops.TOGETHER] + places
        self._families[at] = [self._pps.judged[one][1] for one in groups]

    def _append_families(self, numbers: Floats) -> None:
        self._families = appended(self._families, self._memory[loops.JUDGED], numbers)
        self._memory[loops.JUDGED] += len(numbers)

    def _judge(self, contexts: Ints) -> None:
        """The tests of each member given the others, and the scores, of families."""
        if not len(contexts):
            return
        asked = self._contexts(contexts)
        members = np.array([k for one in asked for k in one.given], dtype=np.int64)
        sizes = np.array([len(one.given) for one in asked])
        starts = np.cumsum(1 + 3 * sizes) - 1 - 3 * sizes
        families = np.zeros(len(asked) + 3 * len(members))
        places = np.repeat(starts + 1 - 3 * (np.cumsum(sizes) - sizes), sizes)
        places += 3 * np.arange(len(members))
        families[places] = members
        if self.selector.backward:
            tests, families[starts] = self._information.families(asked)
            if len(members):
                families[places + 1] = tests.cmi
                families[places + 2] = self._pps.rule.strengths(tests)
        else:
            families[starts] = self._information.penalised_likelihoods(asked)
        self._memory[contexts + loops.FAMILY] = self._memory[loops.JUDGED] + starts
        self._memory[contexts + loops.ASKED] = -1
        self._append_families(families)

    def _judge_candidates(self, single: Ints) -> None:
        """The strengths of single candidates at places of rows."""
        contexts, places = single.T
        candidates = self._rows[places] & ((1 << loops.NODE_BITS) - 1)
        asked = zip(self._contexts(contexts), candidates.reshape(-1, 1), strict=True)
        tests = self._information.tests([Query(*context, one) for context, one in asked])
        self._strengths[places] = self._pps.rule.strengths(tests)

    def _count(self, contexts: Ints) -> None:
        """Rows of contexts; those that are known are listed longer."""
        known = self._memory[contexts + loops.LENGTH] > 0
        for own, ask in (
            (contexts[~known], self._information.leading),
            (contexts[known], self._information.profiles),
        ):
            done = 0
            for some in in_parts(self._contexts(own), self.n_variables):
                self._file(own[done : done + len(some)], some, ask(some))
                done += len(some)

    def _file(self, entries: Ints, contexts: Sequence[Context], counted: Profiles) -> None:
        """List the others by their cmi, with their strengths if tests come along."""
        d, cmi = self.n_variables, counted.cmi.copy()
        exclude(cmi, range(len(contexts)), contexts)
        others = np.array([d - 1 - len(one.given) for one in contexts])
        before = np.maximum(self._memory[entries + loops.LENGTH], 0)
        wanted = np.maximum(SHORT, 8 * before)
        # A longer list comes beside the shorter one: of the last few steps only one is taken.
        lengths = np.where((before > 0) & (8 * wanted > others), others, np.minimum(others, wanted))
        orders = falling(cmi, int(lengths.max()))
        strengths = np.full(orders.shape, np.nan)
        if counted.stats is not None and d <= WHOLE:
            stats = counted.stats.reshape(cmi.size, -1)
            tests = self._information.as_tests(counted.cmi.ravel(), stats)
            whole = self._pps.rule.strengths(tests).reshape(cmi.shape)
            strengths = np.take_along_axis(whole, orders, axis=1)
        listed = np.arange(orders.shape[1]) < lengths[:, None]
        self._rows = appended(self._rows, self._memory[loops.LISTED], orders[listed])
        self._strengths = appended(self._strengths, self._memory[loops.LISTED], strengths[listed])
        ends = self._memory[loops.LISTED] + np.cumsum(lengths)
        self._memory[loops.LISTED] = int(ends[-1])
        self._memory[entries + loops.START] = ends - lengths
        self._memory[entries + loops.LENGTH] = lengths
        self._memory[entries + loops.ASKED] = -1
        fresh = self._memory[entries + loops.ENTROPY] < 0
        self._memory[entries[fresh] + loops.ENTROPY] = self._memory[loops.JUDGED] + np.arange(
            np.count_nonzero(fresh)
        )
        self._append_families(counted.entropies[fresh])

    @property
    def _width(self) -> int:
        return int(loops.SET) + 2 * self.n_words

    def _make_room(self) -> None:
        """Let there be room for as many entries as there are, and for what is counted of them."""
        memory = self._memory
        listed, judged, d = int(memory[loops.LISTED]), int(memory[loops.JUDGED]), self.n_variables
        if listed + d > len(self._strengths):
            self._strengths = longer(self._strengths, 2 * listed + ENTRIES * min(d, SHORT))
            self._rows = longer(self._rows, len(self._strengths))
        if judged + 3 * d > len(self._families):
            self._families = longer(self._families, 2 * judged + 4 * ENTRIES + 3 * d)
        n_entries, used = int(memory[loops.N_ENTRIES]), int(memory[loops.USED])
        if used + max(ENTRIES, n_entries) // 2 * self._width > len(memory):
            self._memory = appended(
                memory, used, np.zeros((n_entries + ENTRIES) * self._width, dtype=np.int64)
            )
        if 3 * n_entries + ENTRIES > len(self._slots):
            self._slots = np.zeros(4 * len(self._slots), dtype=np.int64)
            self._enter_all(np.arange(self._first, used, self._width))

    def _hashes(self, entries: Ints) -> Ints:
        """Where entries are looked for first, as ``order_loops.find`` does."""
        with np.errstate(over="ignore"):
            mixed = self._memory[entries] * np.int64(0x1E3779B97F4A7C15)
            for w in range(self.n_words):
                mixed = (mixed ^ self._memory[entries + loops.SET + w]) * np.int64(
                    0x56E8FEB86659FD93
                )
                mixed ^= mixed >> 32
        slots: Ints = mixed & (len(self._slots) - 1)
        return slots

    def _enter_all(self, entries: Ints) -> None:
        """Put entries into empty slots, each at the first that is free."""
        slots = self._hashes(entries)
        while len(entries):
            free = np.flatnonzero(self._slots[slots] == 0)
            taken, first = np.unique(slots[free], return_index=True)
            self._slots[taken] = entries[free[first]]
            left = np.ones(len(entries), dtype=np.bool_)
            left[free[first]] = False
            entries, slots = entries[left], (slots[left] + 1) & (len(self._slots) - 1)


def falling(cmi: Floats, n: int) -> Ints:
    """In each row the places of the n largest values, the largest first, of equals the first; of a
    row with fewer than n values above -inf only these count."""
    if n == 0 or 4 * n >= cmi.shape[1]:
        return np.argsort(-cmi, axis=1, kind="stable")[:, :n]
    found = np.zeros((len(cmi), n), dtype=np.int64)
    for row, (values, least) in enumerate(zip(cmi, floors(cmi, n).tolist(), strict=True)):
        large = np.flatnonzero(values >= least if least > -np.inf else values > least)
        places = large[np.argsort(-values[large], kind="stable")][:n]
        found[row, : len(places)] = places
    return found


def sets_of(sets: Sequence[int], n_words: int) -> Ints:
    """Sets of nodes, one bit each, as rows of words."""
    joined = b"".join([bits.to_bytes(8 * n_words, "little") for bits in sets])
    return np.frombuffer(joined, dtype="<i8").astype(np.int64).reshape(len(sets), n_words)


def longer(array: Numbers, length: int) -> Numbers:
    """An array with more room."""
    fresh = np.zeros(length, dtype=array.dtype)  # of what is not used no page is touched
    fresh[: len(array)] = array
    return fresh


def appended(array: Numbers, used: int, more: Numbers) -> Numbers:
    """An array with more at the place up to which it is used; twice as long if that is needed."""
    if used + len(more) > len(array):
        array = longer(array, 2 * (used + len(more)))
    array[used : used + len(more)] = more
    return array


PARTS = (
    loops.ORDER, loops.PLACES, loops.SELECTED, loops.QUEUE, loops.IS_QUEUED, loops.FRESH,
    loops.CHANGED, loops.TUCKS, loops.MOVED, loops.BEFORE, loops.WAITING,
)  # fmt: skip


def new_walk(order: Sequence[int], n_variables: int, waits: Ints) -> Ints:
    """An order as the loops read it, nobody having selected yet."""
    n, d, n_words = len(order), n_variables, waits.shape[1]
    sizes = [n, d, d, n, d, n, 2 * n + 2, d, n, (n + 1) * n_words, d * n_words]
    starts = 32 + np.cumsum([0, *sizes])
    walk = np.zeros(int(starts[-1]), dtype=np.int64)
    walk[list(PARTS)] = starts[:-1]
    walk[[loops.MODE, loops.NODES, loops.NODE]] = loops.SETTLE, n, loops.NONE
    part(walk, loops.ORDER)[:] = part(walk, loops.FRESH)[:] = order
    part(walk, loops.SELECTED)[:] = loops.NONE
    part(walk, loops.WAITING)[:] = waits.ravel()
    return walk


def part(walk: Ints, which: int) -> Ints:
    """A part of an order."""
    start = int(walk[which])
    stop = len(walk) if which == loops.WAITING else int(walk[which + 1])
    return walk[start:stop]
