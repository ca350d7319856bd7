"""The parts of a report, before it is HTML or Markdown, as plain text."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from plenum.show import phrases
from plenum.show.table import Table

_PLACE = re.compile(r"\[\[(.+)]]")
_HEADING = re.compile(r"## (\w+): (.+)")
_LEAD = re.compile(r"\*\*(.+?)\*\* ?(.*)")


@dataclass(frozen=True)
class Text:
    """A paragraph. "Table 2", "Figure 1" and "Section 3" in it become links."""

    text: str


@dataclass(frozen=True)
class Points:
    """A list; each item has a lead, maybe empty, and a text."""

    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Grid:
    """A numbered table.

    A ``folded`` one is opened by who wants to read it; a ``sortable`` one can be sorted and
    searched in HTML.
    """

    number: int
    sheet: Table
    folded: bool = False
    sortable: bool = False


@dataclass(frozen=True)
class Picture:
    """A numbered figure: its files (PNG, SVG), what it shows, its caption, and its spoken text."""

    number: int
    name: str
    files: tuple[Path, ...]
    shows: str
    caption: str
    alt: str


@dataclass(frozen=True)
class Exchange:
    """A message of one run next to the same seat's of another one.

    Attributes
    ----------
    seat, where
        Who speaks, and in which round.
    words
        Of the left and of the right run: the text in parts, each with ``same``, ``differs`` or
        ``first`` before it; ``None`` where a run has no such message.
    states
        What was reported with the text.
    alike, first
        Whether the messages are equal, and whether they are the first that aren't.
    """

    seat: str
    where: str
    words: tuple[tuple[tuple[str, str], ...] | None, ...]
    states: tuple[str, ...]
    alike: bool
    first: bool


@dataclass(frozen=True)
class Sides:
    """Two runs side by side: names and ends; ``left_out`` exchanges are omitted."""

    title: str
    heads: tuple[tuple[str, str], ...]
    exchanges: tuple[Exchange, ...]
    left_out: int = 0


Block = Text | Points | Grid | Picture | Sides


@dataclass(frozen=True)
class Section:
    """A numbered section; ``anchor`` is its address within the page."""

    number: int
    anchor: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Document:
    """A report.

    Attributes
    ----------
    title, lead
        The heading, and a line below it.
    notice
        What a reader has to know before anything else; empty for nothing.
    abstract
        What the report says in a few paragraphs.
    """

    title: str
    lead: str
    notice: str = ""
    sections: tuple[Section, ...] = ()
    abstract: tuple[str, ...] = ()


def split_blocks(template: str, parts: Mapping[str, Block], **facts: object) -> list[Block]:
    """Split a rendered template into blocks of a page.

    Empty lines separate paragraphs. Lines that begin with ``- `` are items of a list, with their
    lead between double asterisks.

    Parameters
    ----------
    template
        A template, as :func:`plenum.show.phrases.render` names it.
    parts
        Tables and figures, which a template puts in by ``{{ place("name") }}``.
    facts
        What the template reads.
    """
    return _make_blocks(_render(template, parts, facts), parts)


def split_sections(
    template: str, parts: Mapping[str, Block], **facts: object
) -> tuple[str, tuple[Section, ...]]:
    """Split a rendered template into the notice and the sections of a page.

    A paragraph such as ``## limits: What can't be concluded`` begins a section, with its anchor and
    its title; what stands before the first is the notice. Otherwise as :func:`split_blocks`.
    """
    notice: list[str] = []
    sections: list[tuple[str, str, list[str]]] = []
    for text in _render(template, parts, facts):
        if heading := _HEADING.fullmatch(text):
            sections.append((heading[1], heading[2], []))
        elif sections:
            sections[-1][2].append(text)
        else:
            notice.append(phrases.squeeze(text))
    return " ".join(notice), tuple(
        Section(number, anchor, title, tuple(_make_blocks(texts, parts)))
        for number, (anchor, title, texts) in enumerate(sections, start=1)
    )


def _render(template: str, parts: Mapping[str, Block], facts: dict[str, object]) -> list[str]:
    known = facts | {"place": partial(_place, parts), "parts": parts}
    return phrases.parts(template, "", known)


def _make_blocks(texts: Iterable[str], parts: Mapping[str, Block]) -> list[Block]:
    content: list[Block] = []
    for text in texts:
        if (place := _PLACE.fullmatch(text)) and place[1] in parts:
            content.append(parts[place[1]])
        elif text.startswith("- "):
            items = [_item(item) for item in re.split(r"(?:^|\n)- ", text)[1:]]
            if content and isinstance(before := content[-1], Points):
                content[-1] = Points((*before.items, *items))
            else:
                content.append(Points(tuple(items)))
        else:
            content.append(Text(phrases.squeeze(text)))
    return content


def _place(parts: Mapping[str, Block], name: str) -> str:
    """Write the place of a table or a figure as a paragraph of its own; empty without one."""
    return f"\n\n[[{name}]]\n\n" if name in parts else ""


def _item(text: str) -> tuple[str, str]:
    lead = _LEAD.match(text := phrases.squeeze(text))
    return (lead[1], lead[2]) if lead else ("", text)
