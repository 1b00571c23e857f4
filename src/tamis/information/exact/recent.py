"""A bounded memory: what has not been asked for the longest is forgotten first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """Up to ``limit`` values, made from their keys.

    Unlike ``functools.lru_cache`` it can be pickled with what it belongs to.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: OrderedDict[Key, Value] = OrderedDict()

    def recall(self, key: Key, make: Callable[[Key], Value]) -> Value:
        """The value, made anew if it is not remembered."""
        if key in self._values:
            self._values.move_to_end(key)
        else:
            self._values[key] = make(key)
            if len(self._values) > self._limit:
                self._values.popitem(last=False)
        return self._values[key]
