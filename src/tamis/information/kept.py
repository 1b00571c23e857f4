"""What has been worked out, as much of it as may be kept."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Kept(Generic[Key, Value]):
    """The values asked for last, of no more than some size together."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[Key, tuple[Value, int]] = {}
        self._size = 0

    def get(self, key: Key) -> Value | None:
        """The value, if it is kept."""
        found = self._values.pop(key, None)
        if found is None:
            return None
        self._values[key] = found
        return found[0]

    def keep(self, key: Key, value: Value, size: int = 1) -> Value:
        """Keep one more; those that were not asked for the longest go if need be."""
        self._values[key] = value, size
        self._size += size
        while self._size > self._most and len(self._values) > 1:
            _, gone = self._values.pop(next(iter(self._values)))
            self._size -= gone
        return value

    def recall(self, key: Key, make: Callable[[Key], Value]) -> Value:
        """The value, made anew if it is not kept; none is None."""
        found = self.get(key)
        return self.keep(key, make(key)) if found is None else found
