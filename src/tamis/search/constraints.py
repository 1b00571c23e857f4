"""What a search must not do: background knowledge in terms of positions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from tamis.search.outcome import Decision


@dataclass(frozen=True)
class Constraints:
    """Which nodes may follow which; sets of nodes are numbers with one bit for each.

    ``required`` are the parents that a node has whatever the tests say, ``blocked[k]`` the nodes
    that cannot be parents of k, and ``waits[k]`` those that are admitted before k.
    """

    required: Mapping[int, tuple[int, ...]]
    blocked: tuple[int, ...]
    waits: tuple[int, ...]

    def free(self, remaining: Collection[int]) -> list[int]:
        """The remaining nodes that wait for none of the others."""
        left = sum(1 << k for k in remaining)
        return [k for k in remaining if not self.waits[k] & left]


def as_bits(nodes: Iterable[int]) -> int:
    """A set of nodes as a number with one bit for each: quick to compare, small to keep."""
    bits = 0
    for k in nodes:
        bits |= 1 << k
    return bits


def without(decisions: Iterable[Decision], kept: tuple[int, ...]) -> list[Decision]:
    """The decisions about others than these."""
    return [one for one in decisions if one.others[0] not in kept]
