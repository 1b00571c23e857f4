"""Words, blocks and rows of a BIF text, whatever they mean, each with the place where it stands."""

from __future__ import annotations

import re
from typing import NamedTuple

_BLOCKS = ("network", "variable", "probability")
_ROW = re.compile(r'\s*(\()([^()\[\]{};"/|]*)\)([0-9eE.+\-,\s]*);')
"""A row as nearly all files have it; the others, with quotes, bars or comments, go by tokens."""


class Variable(NamedTuple):
    """``variable name { type discrete [ n ] { states }; }``."""

    name: Token
    states: list[Token]


class Row(NamedTuple):
    """``( states ) numbers ;``, in the words of the file."""

    states: list[str]
    numbers: list[str]
    offset: int


class Block(NamedTuple):
    """``probability ( child | parents ) { … }``.

    ``table`` and ``default`` are rows without states, at most one of each, in ``whole``.
    """

    child: Token
    parents: list[Token]
    rows: list[Row]
    whole: dict[str, Row]


class Document(NamedTuple):
    """All blocks of a file, in its order."""

    variables: list[Variable]
    blocks: list[Block]


def parse(text: str) -> Document:
    """The blocks of a text, or ``Refused``."""
    scanner = Scanner(text)
    document = Document([], [])
    seen_network = False
    while (token := scanner.peek()).kind != "end":
        match scanner.take_keyword(*_BLOCKS):
            case "network" if not seen_network:
                _network(scanner)
                seen_network = True
            case "network":
                raise Refused("a second 'network' begins; a file holds one", token.offset)
            case "variable":
                document.variables.append(_variable(scanner))
            case "probability":
                document.blocks.append(_probability(scanner))
            case _:
                raise Refused(
                    f"expected 'network', 'variable' or 'probability', but found {token}; "
                    "put remarks behind //",
                    token.offset,
                )
    return document


def _network(scanner: Scanner) -> None:
    scanner.take_names()
    scanner.expect("{", "the name of the network")
    while scanner.take_keyword("property"):
        scanner.skip_property()
    scanner.expect("}", "the properties of the network")


def _variable(scanner: Scanner) -> Variable:
    name = scanner.expect_name("the name of a variable")
    scanner.expect("{", f"the variable {name}")
    states: list[Token] | None = None
    while keyword := scanner.take_keyword("type", "property"):
        if keyword == "property":
            scanner.skip_property()
        elif states is None:
            states = _states(scanner, name)
        else:
            raise Refused(f"the variable {name} has a second type", scanner.at)
    end = scanner.take()
    if states is None or end.text != "}" or end.kind != "mark":
        wanted = "'type' or 'property'" if states is None else "'}' or 'property'"
        raise Refused(f"expected {wanted} in the variable {name}, but found {end}", end.offset)
    return Variable(name, states)


def _states(scanner: Scanner, name: Token) -> list[Token]:
    kind = scanner.expect_name(f"'discrete' as the type of {name}")
    if kind.text != "discrete":
        raise Refused(f"the type of {name} is {kind}; only 'discrete' is read", kind.offset)
    scanner.expect("[", "'discrete'")
    declared = scanner.expect_name(f"the number of states of {name}")
    scanner.expect("]", f"the number of states of {name}")
    scanner.expect("{", f"the number of states of {name}")
    states = scanner.take_names()
    scanner.expect("}", f"the states of {name}")
    scanner.expect(";", f"the states of {name}")
    # As text: int would stumble over numbers of a thousand digits.
    if (declared.text.lstrip("0") or "0") != str(len(states)):
        raise Refused(
            f"{name} announces {declared} states, but lists {len(states)}", declared.offset
        )
    return states


def _probability(scanner: Scanner) -> Block:
    scanner.expect("(", "'probability'")
    child = scanner.expect_name("the name of a variable")
    scanner.take_mark("|")
    parents = _parents(scanner, child)
    scanner.expect(")", f"the parents of {child}")
    scanner.expect("{", f"the parents of {child}")
    block = Block(child, parents, [], {})
    while True:
        _plain_rows(scanner, block.rows)
        token = scanner.peek()
        match scanner.take_keyword("property", "table", "default"):
            case "property":
                scanner.skip_property()
            case "table" | "default" as which:
                if which in block.whole:
                    raise Refused(f"the block of {child} has a second {which}", token.offset)
                block.whole[which] = _numbers(scanner, [], token.offset)
            case _ if scanner.take_mark("("):
                block.rows.append(_row(scanner, token.offset))
            case _ if scanner.take_mark("}"):
                return block
            case _:
                raise Refused(
                    f"expected a row, 'table', 'default' or '}}' in the block of {child}, "
                    f"but found {token}",
                    token.offset,
                )


def _parents(scanner: Scanner, child: Token) -> list[Token]:
    parents = []
    while (token := scanner.peek()).is_name:
        parents.append(scanner.take())
    if token.kind == "mark" and token.text == "|":
        raise Refused(
            f"a bar after {parents[-1] if parents else child}, though {child} is the one "
            "variable of this block; write ( child | parents )",
            token.offset,
        )
    return parents


def _plain_rows(scanner: Scanner, rows: list[Row]) -> None:
    text, at = scanner.text, scanner.at
    while found := _ROW.match(text, at):
        states = found[2].replace(",", " ").split()
        rows.append(Row(states, found[3].replace(",", " ").split(), found.start(1)))
        at = found.end()
    scanner.at = at


def _row(scanner: Scanner, offset: int) -> Row:
    states = [token.text for token in scanner.take_names()]
    scanner.expect(")", "the states of a row")
    return _numbers(scanner, states, offset)


def _numbers(scanner: Scanner, states: list[str], offset: int) -> Row:
    numbers = [token.text for token in scanner.take_names()]
    scanner.expect(";", "the probabilities")
    return Row(states, numbers, offset)


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
