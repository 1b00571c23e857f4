"""Blocks and rows of a BIF text, whatever they mean."""

from __future__ import annotations

import re
from typing import NamedTuple

from tamis.network.bif.scanner import Refused, Scanner, Token

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
