"""A report taken apart again, by the standard library's parser."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "input"}


@dataclass
class Element:
    name: str
    attributes: dict[str, str]
    content: list[str] = field(default_factory=list)
    """Its own text and that of everything in it."""

    @property
    def text(self) -> str:
        return "".join(self.content)


class Parsed(HTMLParser):
    """All elements in order; raises where a tag is closed that is not open."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self._open: list[Element] = []
        self.feed(page)
        self.close()
        if self._open:
            raise ValueError(f"{self._open[-1].name} is never closed")

    def handle_starttag(self, tag, attrs):
        element = Element(tag, {key: value or "" for key, value in attrs})
        if len(element.attributes) != len(attrs):
            raise ValueError(f"{tag} has an attribute twice")
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag):
        last = self._open.pop()
        if last.name != tag:
            raise ValueError(f"{last.name} is closed by {tag}")

    def handle_data(self, data):
        for element in self._open:
            element.content.append(data)

    def named(self, name: str) -> list[Element]:
        return [element for element in self.elements if element.name == name]

    def by_id(self, identity: str) -> Element:
        return next(e for e in self.elements if e.attributes.get("id") == identity)

    def has_id(self, identity: str) -> bool:
        return any(e.attributes.get("id") == identity for e in self.elements)
