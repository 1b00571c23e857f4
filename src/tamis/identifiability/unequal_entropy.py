"""Condition cond:uneq1 (Theorem thm:ident:unequal1), and when taking the least uncertain works.

For an ordering tau and the nodes A before its j-th, h_l + I(X_l ; pa(l) \\ A | A) is nothing but
H(X_l | A), and h_k of the j-th node, whose parents are all in A, is H(X_k | A). So the condition
says: in this topological ordering each node is, given those before it, less uncertain than all
that follow; only nodes of one layer may tie, when their own entropies are equal. Following the
least conditional entropy therefore finds the ordering if there is one; where nodes tie, every
choice is tried.

``always_topological`` is what the search "sequential" needs: whichever tied node is taken first,
no node ever comes before its parents. It is weaker in one way (nodes of different layers may tie
as long as both are due) and stronger in another (all choices must do, not one).
"""

from __future__ import annotations

from tamis.identifiability.known import Known
from tamis.identifiability.verdicts import TOLERANCE, UNDECIDABLE, Condition, TooMany, Violation

MOST_SETS = 2_000
"""Ancestral sets that are looked at, where ties leave a choice, before giving up."""

Set = frozenset[int]


class Follower:
    """Follows the least conditional entropy from the empty set."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self.passed: set[Set] = set()
        self.stopped_at: tuple[Set, tuple[int, ...]] | None = None

    def tied(self, A: Set) -> list[int]:
        """The least uncertain nodes outside A."""
        entropies = {k: self._known.entropy(k, A) for k in self._known.beyond(A)}
        least = min(entropies.values())
        return [k for k, h in entropies.items() if h <= least + TOLERANCE]

    def allows(self, A: Set, tied: list[int]) -> list[int]:
        """The tied nodes that cond:uneq1 lets come next; none if it is broken here."""
        known = self._known
        due = known.sources(A)
        layers = {known.layer_of[k] for k in tied}
        own = [known.own(k) for k in tied]
        one_layer = len(layers) == 1 and max(own) - min(own) <= TOLERANCE
        return [k for k in tied if k in due] if len(tied) == 1 or one_layer else []

    def find_ordering(self) -> tuple[int, ...] | None:
        """An ordering that satisfies cond:uneq1, depth first without recursion."""
        start: Set = frozenset()
        path: list[tuple[Set, list[int]]] = [(start, self._choices(start))]
        chosen: list[int] = []
        dead: set[Set] = set()
        while path:
            here, choices = path[-1]
            if len(here) == self._known.n_variables:
                return tuple(chosen)
            if not choices:
                dead.add(here)
                path.pop()
                if chosen:
                    chosen.pop()
                continue
            k = choices.pop()
            after = here | {k}
            if after in dead:
                continue
            if len(dead) > MOST_SETS:
                raise TooMany(f"ties leave more than {MOST_SETS} ancestral sets to follow")
            chosen.append(k)
            path.append((after, self._choices(after)))
        return None

    def _choices(self, A: Set) -> list[int]:
        if len(A) == self._known.n_variables:
            return []
        tied = self.tied(A)
        allowed = self.allows(A, tied)
        if not allowed and (self.stopped_at is None or len(A) > len(self.stopped_at[0])):
            self.stopped_at = A, tuple(tied)
        return allowed[::-1]

    def always_topological(self) -> bool:
        """Whether every way of breaking ties takes parents before children.

        Raises what leaves a condition undecided.
        """
        waiting: list[Set] = [frozenset()]
        seen = self.passed = set(waiting)
        while waiting:
            A = waiting.pop()
            if len(A) == self._known.n_variables:
                continue
            tied = self.tied(A)
            due = self._known.sources(A)
            if not due.issuperset(tied):
                self.stopped_at = A, tuple(k for k in tied if k not in due)
                return False
            for k in tied:
                after = A | {k}
                if after not in seen:
                    seen.add(after)
                    waiting.append(after)
            if len(seen) > MOST_SETS:
                raise TooMany(f"ties leave more than {MOST_SETS} ancestral sets to follow")
        return True


def unequal_entropy(known: Known) -> Condition:
    """cond:uneq1 as printed, with the ordering found."""
    follower = Follower(known)
    key, title = "unequal", "Unequal entropy (cond:uneq1)"
    try:
        ordering = follower.find_ordering()
    except UNDECIDABLE as error:
        why = str(error)
        return Condition(key, title, None, None, f"Not decided: {why}", undecided=(why,))
    if ordering is not None:
        return Condition(
            key,
            title,
            True,
            _slack(known, ordering),
            "Taking the least uncertain node, one at a time, follows the arrows.",
            details={"ordering": list(known.called(ordering))},
        )
    return Condition(
        key,
        title,
        False,
        _shortfall(known, follower),
        "Taking the least uncertain node, one at a time, would not follow the arrows for sure.",
        violations=(_violation(known, follower),),
    )


def _slack(known: Known, ordering: tuple[int, ...]) -> float | None:
    """The smallest lead of a node over a later one of another layer."""
    slack = None
    for j, k in enumerate(ordering):
        A = frozenset(ordering[:j])
        for later in ordering[j + 1 :]:
            if known.layer_of[later] != known.layer_of[k]:
                lead = known.entropy(later, A) - known.own(k)
                slack = lead if slack is None else min(slack, lead)
    return slack


def _shortfall(known: Known, follower: Follower) -> float | None:
    """By how much the best source misses being the least uncertain, where the search got to."""
    if follower.stopped_at is None:
        return None
    A, tied = follower.stopped_at
    best_source = min(known.own(k) for k in known.sources(A))
    return min(known.entropy(k, A) for k in tied) - best_source


def _violation(known: Known, follower: Follower) -> Violation:
    if follower.stopped_at is None:
        return Violation("no ordering satisfies it", ())
    A, tied = follower.stopped_at
    due = known.sources(A)
    early = [k for k in tied if k not in due]
    given = f"given {', '.join(known.called(sorted(A)))}" if A else "to begin with"
    if early:
        k = early[0]
        s = min(due, key=known.own)
        text = (
            f"{given}, {known.name(k)} is the least uncertain ({known.entropy(k, A):.4g} nats), "
            f"before its parents; the best node due, {known.name(s)}, has {known.own(s):.4g}"
        )
        return Violation(text, known.called((k, s)))
    names = known.called(tied)
    return Violation(f"{given}, {' and '.join(names)} tie across layers", names)


def ancestral_sets_on_the_way(known: Known) -> set[frozenset[int]] | None:
    """Every ancestral set that the search "sequential" may pass through, whichever tied node it
    takes first; None if it can take a node before its parents."""
    follower = Follower(known)
    return follower.passed if follower.always_topological() else None
