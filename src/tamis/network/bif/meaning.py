"""Variables and their families from the blocks of a BIF text."""

from __future__ import annotations

from collections.abc import Sequence

from tamis.network.bif.rows import Family, Rounded, table_of
from tamis.network.bif.scanner import Refused, Token
from tamis.network.bif.syntax import Block, Document, Variable
from tamis.network.checks import arrows, find_cycle
from tamis.network.parts import MOST_CELLS, MOST_PARENTS, Parts


def understood(document: Document) -> tuple[Parts, Rounded]:
    """The network that a document describes, and its row that was furthest from a sum of 1."""
    states = _variables(document.variables)
    found = _blocks(document.blocks, states)
    blocks = [_block_of(name, found) for name, _ in document.variables]
    names, levels = tuple(states), tuple(map(tuple, states.values()))
    place = {name: k for k, name in enumerate(names)}
    parents = tuple(tuple(place[token.text] for token in block.parents) for block in blocks)
    cycle = find_cycle(names, parents)
    if cycle:
        where = blocks[place[cycle[0]]].child.offset
        raise Refused(f"the network has a cycle: {arrows(cycle)}", where)
    families = [_family(block, states) for block in blocks]
    _check_size(families, blocks)
    results = [table_of(block, family) for block, family in zip(blocks, families, strict=True)]
    worst = max(rounded for _, rounded in results)
    return Parts(names, levels, parents, tuple(table for table, _ in results)), worst


def _variables(variables: Sequence[Variable]) -> dict[str, list[str]]:
    """The states of every variable, by name."""
    if not variables:
        raise Refused("the file has no variables", 0)
    states: dict[str, list[str]] = {}
    for name, given in variables:
        if not name.text.strip():
            raise Refused("the name of a variable is empty", name.offset)
        if name.text in states:
            raise Refused(f"a second variable is called {name}", name.offset)
        if not given:
            raise Refused(f"the variable {name} has no states", name.offset)
        _check_distinct(given, f"{name} has the state")
        states[name.text] = [state.text for state in given]
    return states


def _blocks(blocks: Sequence[Block], states: dict[str, list[str]]) -> dict[str, Block]:
    """The probability blocks by child."""
    found: dict[str, Block] = {}
    for block in blocks:
        for token in (block.child, *block.parents):
            if token.text not in states:
                raise Refused(f"there is no variable {token}", token.offset)
        if block.child.text in found:
            raise Refused(f"a second probability block for {block.child}", block.child.offset)
        _check_distinct(block.parents, f"{block.child} has the parent")
        found[block.child.text] = block
    return found


def _block_of(name: Token, found: dict[str, Block]) -> Block:
    if name.text not in found:
        raise Refused(f"the variable {name} has no probability block", name.offset)
    return found[name.text]


def _check_distinct(tokens: Sequence[Token], what: str) -> None:
    seen: set[str] = set()
    for token in tokens:
        if token.text in seen:
            raise Refused(f"{what} {token} twice", token.offset)
        seen.add(token.text)


def _family(block: Block, states: dict[str, list[str]]) -> Family:
    child, parents = block.child.text, [token.text for token in block.parents]
    return Family(child, parents, [states[name] for name in parents], len(states[child]))


def _check_size(families: Sequence[Family], blocks: Sequence[Block]) -> None:
    """A few lines can announce a table that fills the memory, for default fills its rows."""
    total = 0
    for family, block in zip(families, blocks, strict=True):
        if len(family.parents) > MOST_PARENTS:
            raise Refused(
                f"{block.child} has {len(family.parents)} parents; at most {MOST_PARENTS} are read",
                block.child.offset,
            )
        total += family.n_cells
        if total > MOST_CELLS:
            raise Refused(
                f"the table of {block.child} would hold {family.n_cells} probabilities; all "
                f"tables together may hold {MOST_CELLS}",
                block.child.offset,
            )
