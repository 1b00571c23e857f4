"""Background knowledge: what is known about the arrows before a row has been counted.

A hard constraint inside the search. Statements that contradict each other, or speak of columns
that are not there, are refused before the search begins, by name.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, NamedTuple, Self

from tamis.errors import FileFormatError, SettingError

Arrow = tuple[str, str]
ARROW = "->"
SHORT = 300
"""Characters up to which knowledge is shown in full."""


@dataclass(frozen=True)
class Constraints:
    """What a search must not do: which nodes may follow which, by position; sets of nodes are
    numbers with one bit for each.

    ``required`` are the parents that a node has whatever the tests say, ``blocked[k]`` the nodes
    that cannot be parents of k, and ``waits[k]`` those that are admitted before k.
    """

    required: Mapping[int, tuple[int, ...]]
    blocked: tuple[int, ...]
    waits: tuple[int, ...]

    @property
    def rules_out(self) -> bool:
        """Whether there is a graph that they do not allow."""
        return bool(self.required) or any(self.blocked) or any(self.waits)

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


class _Statement(NamedTuple):
    """Something said: ``before`` is admitted before ``after``, because of ``text``."""

    before: str
    after: str
    text: str


@dataclass(frozen=True, repr=False)
class Knowledge:
    """What is known about the arrows before learning.

    Parameters
    ----------
    required, forbidden : sequence of arrows
        Arrows that must or must not be there: pairs (parent, child), or text "parent -> child".
    tiers : sequence of sequences of str
        Columns in order of time, earliest first: no arrow points from a later tier to an earlier
        one. Columns in no tier are free.
    sources : sequence of str
        Columns without parents.
    sinks : sequence of str
        Columns without children.

    Raises
    ------
    SettingError
        If the knowledge contradicts itself.

    Examples
    --------
    >>> import tamis
    >>> knowledge = tamis.Knowledge(tiers=[["age"], ["smokes", "weight"]])
    >>> knowledge.decides("age", "weight")
    True
    """

    required: Sequence[Arrow | str] = ()
    forbidden: Sequence[Arrow | str] = ()
    tiers: Sequence[Sequence[str]] = ()
    sources: Sequence[str] = ()
    sinks: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name in ("required", "forbidden"):
            object.__setattr__(self, name, _arrows(name, getattr(self, name)))
        object.__setattr__(self, "tiers", _tiers(self.tiers))
        for name in ("sources", "sinks"):
            object.__setattr__(self, name, _names(name, getattr(self, name)))
        self._refuse_contradictions()

    def __repr__(self) -> str:
        """Its parts as they were given, or how many they are where that would be long."""
        told = {one.name: part for one in fields(self) if (part := getattr(self, one.name))}
        full = ", ".join(f"{name}={part!r}" for name, part in told.items())
        if len(full) <= SHORT:
            return f"Knowledge({full})"
        return f"<Knowledge: {', '.join(f'{len(part):,} {name}' for name, part in told.items())}>"

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) for field in fields(self))

    @classmethod
    def of(cls, given: Knowledge | Mapping[str, Any] | str | os.PathLike[str] | None) -> Knowledge:
        """Read knowledge in any form that users give it.

        Parameters
        ----------
        given : Knowledge, mapping, path or None
            Knowledge itself, a mapping of its parts, or a file that holds one.

        Returns
        -------
        Knowledge
            Empty for None.

        Examples
        --------
        >>> import tamis
        >>> tamis.Knowledge.of({"sources": ["age"]})
        Knowledge(sources=('age',))
        """
        if given is None:
            return NOTHING
        if isinstance(given, Knowledge):
            return given
        if isinstance(given, Mapping):
            return cls._from_mapping(given, "knowledge")
        if isinstance(given, str | os.PathLike):
            return cls.read(given)
        raise SettingError(
            "knowledge must be a Knowledge, a mapping such as {'tiers': [['age'], ['illness']]} or "
            f"the path of a file, not {type(given).__name__}"
        )

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Knowledge:
        """Read a JSON or YAML file with the parts of the knowledge by name.

        Parameters
        ----------
        path : str or path
            A file that ends in .yaml or .yml is read as YAML, any other as JSON.

        Returns
        -------
        Knowledge
            What the file says.

        Raises
        ------
        FileFormatError
            If the file cannot be read or holds no knowledge.

        Examples
        --------
        >>> import tamis
        >>> with open("known.json", "w") as file:
        ...     length = file.write('{"sinks": ["price"]}')
        >>> tamis.Knowledge.read("known.json")
        Knowledge(sinks=('price',))
        """
        place = os.fspath(path)
        try:
            with open(place, encoding="utf-8") as file:
                text = file.read()
        except OSError as error:
            raise FileFormatError(f"cannot read {place!r}: {error.strerror}") from None
        except ValueError as error:
            if isinstance(error, UnicodeDecodeError):
                raise FileFormatError(f"{place!r} is not text in UTF-8") from None
            raise FileFormatError(f"{place!r} cannot be the path of a file") from None
        is_yaml = place.lower().endswith((".yaml", ".yml"))
        content = _from_yaml(place, text) if is_yaml else _from_json(place, text)
        if not isinstance(content, Mapping):
            raise FileFormatError(
                f"{place!r} must hold a mapping with some of {_parts()}, not a "
                f"{type(content).__name__}"
            )
        try:
            return cls._from_mapping(content, repr(place))
        except SettingError as error:
            raise FileFormatError(f"{place!r}: {error}") from None

    @classmethod
    def _from_mapping(cls, given: Mapping[str, Any], where: str) -> Self:
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise SettingError(f"{where} has no part {name!r}; there are {_parts()}")
        return cls(**{name: () if part is None else part for name, part in given.items()})

    def to_dict(self) -> dict[str, list[Any]]:
        """Convert the knowledge to what JSON can hold.

        Returns
        -------
        dict
            The parts that say something.

        Examples
        --------
        >>> import tamis
        >>> tamis.Knowledge(required=["rain -> wet"]).to_dict()
        {'required': [['rain', 'wet']]}
        """
        parts: dict[str, list[Any]] = {}
        for field in fields(self):
            said = [one if isinstance(one, str) else list(one) for one in getattr(self, field.name)]
            if said:
                parts[field.name] = said
        return parts

    def constraints(self, names: Sequence[str]) -> Constraints | None:
        """Convert the knowledge to constraints for a search over some columns.

        Parameters
        ----------
        names : sequence of str
            The columns.

        Returns
        -------
        Constraints or None
            By position in ``names``; None if nothing is known.

        Raises
        ------
        SettingError
            If the knowledge names a column that is not there.

        Examples
        --------
        >>> import tamis
        >>> tamis.Knowledge(required=["rain -> wet"]).constraints(["rain", "wet"]).required
        {1: (0,)}
        """
        if not self:
            return None
        place = {name: k for k, name in enumerate(names)}
        self._require_columns(place)
        required: dict[int, list[int]] = {}
        for parent, child in _pairs(self.required):
            required.setdefault(place[child], []).append(place[parent])
        blocked = [0] * len(names)
        waits = [0] * len(names)
        for parent, child in self._impossible(names):
            blocked[place[child]] |= 1 << place[parent]
        for name, earlier in self._order(names):
            # Whoever must come before one of those: a column that never varies waits for nobody.
            for before in earlier:
                waits[place[name]] |= 1 << place[before] | waits[place[before]]
        ordered = {child: tuple(sorted(set(parents))) for child, parents in required.items()}
        return Constraints(ordered, tuple(blocked), tuple(waits))

    def decides(self, parent: str, child: str) -> bool:
        """Say whether an arrow between two columns can only point this way.

        Parameters
        ----------
        parent, child : str
            The columns.

        Returns
        -------
        bool
            Whether the knowledge decides the direction.

        Examples
        --------
        >>> import tamis
        >>> tamis.Knowledge(sources=["rain"]).decides("rain", "wet")
        True
        """
        tier = {name: i for i, names in enumerate(self.tiers) for name in names}
        return (
            (parent, child) in self.required
            or (child, parent) in self.forbidden
            or parent in self.sources
            or child in self.sinks
            or (parent in tier and child in tier and tier[parent] < tier[child])
        )

    def _impossible(self, names: Sequence[str]) -> Iterator[Arrow]:
        """All arrows that are ruled out."""
        yield from _pairs(self.forbidden)
        for child in self.sources:
            yield from ((parent, child) for parent in names if parent != child)
        for parent in self.sinks:
            yield from ((parent, child) for child in names if parent != child)
        for i, later in enumerate(self.tiers):
            for earlier in self.tiers[:i]:
                yield from ((parent, child) for parent in later for child in earlier)

    def _precedences(self) -> Iterator[_Statement]:
        """Who is admitted before whom, by required arrows and by neighbouring tiers."""
        for parent, child in _pairs(self.required):
            yield _Statement(parent, child, f"required {_shown(parent, child)}")
        tiers = [(i, tier) for i, tier in enumerate(self.tiers, start=1) if tier]
        for (i, earlier), (j, later) in pairwise(tiers):
            for before in earlier:
                for after in later:
                    text = f"tier {i} with {before!r} before tier {j} with {after!r}"
                    yield _Statement(before, after, text)

    def _order(self, names: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
        """The names in order, and after whom each is admitted: by what is said, and because those
        without parents can always come first and those without children last, unless that would
        close a circle."""
        if not (self.required or self.tiers or self.sources or self.sinks):
            return
        import networkx as nx

        order: nx.DiGraph[str] = nx.DiGraph()
        order.add_nodes_from(names)
        order.add_edges_from((before, after) for before, after, _ in self._precedences())
        for source in self.sources:
            not_after = {source, *self.sources, *nx.ancestors(order, source)}
            order.add_edges_from((source, k) for k in names if k not in not_after)
        for sink in self.sinks:
            not_before = {sink, *self.sinks, *nx.descendants(order, sink)}
            order.add_edges_from((k, sink) for k in names if k not in not_before)
        for name in nx.topological_sort(order):
            yield name, list(order.predecessors(name))

    def _refuse_contradictions(self) -> None:
        self._refuse_two_tiers()
        for parent, child in _pairs(self.required):
            shown = f"required {_shown(parent, child)}"
            if (parent, child) in self.forbidden:
                raise _contradiction(shown, f"forbidden {_shown(parent, child)}")
            if child in self.sources:
                raise _contradiction(shown, f"{child!r} is a source, which has no parents")
            if parent in self.sinks:
                raise _contradiction(shown, f"{parent!r} is a sink, which has no children")
        self._refuse_cycles()

    def _refuse_two_tiers(self) -> None:
        tier_of: dict[str, int] = {}
        for i, names in enumerate(self.tiers, start=1):
            for name in names:
                if name in tier_of:
                    raise SettingError(
                        f"tiers: {name!r} is in tier {tier_of[name]} and again in tier {i}; a "
                        "column belongs to one tier"
                    )
                tier_of[name] = i

    def _refuse_cycles(self) -> None:
        precedences = list(self._precedences())
        if not precedences:
            return
        import networkx as nx

        graph: nx.DiGraph[str] = nx.DiGraph()
        for before, after, text in precedences:
            graph.add_edge(before, after, text=text)
        try:
            cycle = nx.find_cycle(graph)
        except nx.NetworkXNoCycle:
            return
        raise _contradiction(*(graph.edges[one[0], one[1]]["text"] for one in cycle))

    def _require_columns(self, place: Mapping[str, int]) -> None:
        for part, name in self._mentioned():
            if name not in place:
                from difflib import get_close_matches

                close = get_close_matches(name, list(place), n=1)
                hint = f"did you mean {close[0]!r}?" if close else "check the spelling."
                raise SettingError(f"knowledge, {part}: there is no column {name!r}; {hint}")

    def _mentioned(self) -> Iterator[tuple[str, str]]:
        for part in ("required", "forbidden"):
            for arrow in _pairs(getattr(self, part)):
                yield from ((part, name) for name in arrow)
        for tier in self.tiers:
            yield from (("tiers", name) for name in tier)
        for part in ("sources", "sinks"):
            yield from ((part, name) for name in getattr(self, part))


def _pairs(arrows: Iterable[Arrow | str]) -> Iterator[Arrow]:
    """Arrows once they are pairs, for the type checker."""
    for arrow in arrows:
        yield arrow[0], arrow[1]


def _shown(parent: str, child: str) -> str:
    return f"{parent!r} {ARROW} {child!r}"


def _contradiction(*texts: str) -> SettingError:
    return SettingError(f"knowledge contradicts itself: {'; '.join(texts)}")


def _parts() -> str:
    return ", ".join(field.name for field in fields(Knowledge))


def _arrows(part: str, given: object) -> tuple[Arrow, ...]:
    arrows = [_arrow(part, one) for one in _listed(part, given)]
    return tuple(dict.fromkeys(arrows))


def _arrow(part: str, given: object) -> Arrow:
    if isinstance(given, str):
        parent, sign, child = given.partition(ARROW)
        ends = (parent.strip(), child.strip())
        if not sign or ARROW in child or not all(ends):
            raise SettingError(f"{part}: {given!r} is no arrow; write 'parent -> child' or a pair")
    elif isinstance(given, Sequence) and len(given) == 2:
        ends = (_name(part, given[0]), _name(part, given[1]))
    else:
        raise SettingError(f"{part}: {given!r} is no arrow; give a pair (parent, child)")
    if ends[0] == ends[1]:
        raise SettingError(f"{part}: {ends[0]!r} cannot be its own parent")
    return ends


def _tiers(given: object) -> tuple[tuple[str, ...], ...]:
    tiers = tuple(_names("tiers", tier) for tier in _listed("tiers", given))
    # Tiers without columns say nothing; beside others they keep their numbers.
    return tiers if any(tiers) else ()


def _names(part: str, given: object) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_name(part, one) for one in _listed(part, given)))


def _name(part: str, given: object) -> str:
    if not isinstance(given, str):
        raise SettingError(f"{part}: {given!r} is not the name of a column, which is a string")
    return given


def _listed(part: str, given: object) -> list[object]:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise SettingError(f"{part} must be a list, not {given!r}")
    try:
        return list(given)
    except TypeError:  # an array without a dimension has an iterator that refuses
        raise SettingError(f"{part} must be a list, not {given!r}") from None


def _from_json(place: str, text: str) -> object:
    try:
        return json.loads(text, object_pairs_hook=_said_once)
    except SettingError as error:
        raise FileFormatError(f"{place!r}: {error}") from None
    except ValueError as error:
        raise FileFormatError(f"{place!r} is not JSON: {error}") from None
    except RecursionError:
        raise FileFormatError(f"{place!r} is nested too deeply") from None


def _said_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A mapping in which nothing is said twice: JSON would keep the last and say nothing."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for i, (name, _) in enumerate(pairs) if name in dict(pairs[:i]))
        raise SettingError(f"{twice!r} is there twice; put both into one list")
    return found


def _from_yaml(place: str, text: str) -> object:
    try:
        import yaml
    except ImportError:
        raise SettingError(
            f"reading {place!r} needs PyYAML: pip install 'tamis[yaml]', or write JSON"
        ) from None
    try:
        _keys_once(yaml.compose(text, Loader=yaml.SafeLoader), set())
        return yaml.safe_load(text)
    except SettingError as error:
        raise FileFormatError(f"{place!r}: {error}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FileFormatError(f"{place!r} is not YAML: {first}") from None


def _keys_once(node: Any, seen: set[int]) -> None:  # noqa: ANN401 - a node of PyYAML, or None
    """Refuse a mapping with a key twice, of which YAML would keep the last and say nothing."""
    inner = getattr(node, "value", None)
    if id(node) in seen or not isinstance(inner, list):
        return
    seen.add(id(node))
    pairs = [item for item in inner if isinstance(item, tuple)]
    _said_once([(str(key.value), None) for key, _ in pairs])
    for one in [part for pair in pairs for part in pair] or inner:
        _keys_once(one, seen)


NOTHING = Knowledge()
"""What is known where nobody has said anything."""
