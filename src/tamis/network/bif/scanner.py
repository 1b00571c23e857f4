"""Words and marks of a BIF text, each with the place where it stands."""

from __future__ import annotations

import re
from typing import NamedTuple

WORD = r'(?:[^\s,|{}\[\]();"/]|/(?![/*]))+'
"""A bare word: all but blanks, marks, quotes and the beginning of a comment."""

_BETWEEN = re.compile(r"(?:[\s,]+|//[^\n]*|/\*(?s:.*?)\*/)*+")
_TOKEN = re.compile(rf'(?P<mark>[{{}}\[\]();|])|"(?P<quoted>[^"\n]*)"|(?P<word>{WORD})')
_PROPERTY = re.compile(r'(?>[^;"]|"[^"\n]*"|")*+;')
"""Up to the first semicolon that is not inside quotes; a quote without its twin is a letter."""
_SHOWN = 40


class Refused(Exception):  # noqa: N818 - a message between modules, never seen by users
    """What is wrong with a BIF text, and where."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


class Token(NamedTuple):
    """A word (bare or quoted), a mark, or the end; ``offset`` counts characters."""

    kind: str
    text: str
    offset: int

    @property
    def is_name(self) -> bool:
        """Whether this can name a variable or a state."""
        return self.kind in ("word", "quoted")

    def __str__(self) -> str:
        if self.kind == "end":
            return "the end of the file"
        return repr(self.text if len(self.text) <= _SHOWN else f"{self.text[:_SHOWN]}…")


class Scanner:
    """A text and how far it has been read. Blanks, comments and commas only separate."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def peek(self) -> Token:
        """The next token, without taking it."""
        start = self._next_start()
        if start == len(self.text):
            return Token("end", "", start)
        found = _TOKEN.match(self.text, start)
        if found is None:
            raise Refused(_unclosed(self.text[start : start + 2]), start)
        kind = str(found.lastgroup)
        return Token(kind, found[kind], start)

    def take(self) -> Token:
        """The next token."""
        token = self.peek()
        quotes = 2 if token.kind == "quoted" else 0
        self.at = token.offset + len(token.text) + quotes
        return token

    def expect(self, mark: str, after: str) -> None:
        """Take this mark; complain about anything else."""
        token = self.take()
        if token.kind != "mark" or token.text != mark:
            raise Refused(f"expected {mark!r} after {after}, but found {token}", token.offset)

    def expect_name(self, what: str) -> Token:
        """Take a word, bare or quoted."""
        token = self.take()
        if not token.is_name:
            raise Refused(f"expected {what}, but found {token}", token.offset)
        return token

    def take_mark(self, mark: str) -> bool:
        """Take this mark if it comes next."""
        token = self.peek()
        if token.kind != "mark" or token.text != mark:
            return False
        self.at = token.offset + 1
        return True

    def take_keyword(self, *keywords: str) -> str | None:
        """Take one of these words, bare, if it comes next."""
        token = self.peek()
        if token.kind != "word" or token.text not in keywords:
            return None
        self.take()
        return token.text

    def take_names(self) -> list[Token]:
        """Take words, with or without bars between them, up to the next mark."""
        names: list[Token] = []
        while True:
            if self.take_mark("|"):
                continue
            if not self.peek().is_name:
                return names
            names.append(self.take())

    def skip_property(self) -> None:
        """Pass over what follows the word ``property``, to its semicolon."""
        found = _PROPERTY.match(self.text, self.at)
        if found is None:
            raise Refused("this property has no ';' at its end", self.at)
        self.at = found.end()

    def _next_start(self) -> int:
        found = _BETWEEN.match(self.text, self.at)
        return found.end() if found else self.at


def line_of(text: str, offset: int) -> int:
    """The number of the line, from 1, on which a place lies."""
    return text.count("\n", 0, offset) + 1


def _unclosed(start: str) -> str:
    if start.startswith('"'):
        return "this quotation mark has no twin on its line"
    return "this comment has no '*/' at its end"
