"""What a report consists of, before it is HTML or Markdown: plain text all through."""

from dataclasses import dataclass
from pathlib import Path

from plenum.reports.table import Table


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
    """A numbered table."""

    number: int
    sheet: Table


@dataclass(frozen=True)
class Picture:
    """A numbered figure: its files (PNG, SVG), what it shows, its caption, and what is read out."""

    number: int
    name: str
    files: tuple[Path, ...]
    told: str
    caption: str
    alt: str


Block = Text | Points | Grid | Picture


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
    """

    title: str
    lead: str
    notice: str
    sections: tuple[Section, ...]
