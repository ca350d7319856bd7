"""Tables as Markdown."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from plenum.show.table import Table


def _escape_cell(text: str) -> str:
    """Escape a cell so that it ends no column and no line."""
    return text.replace("|", "\\|").replace("\n", "<br>")


def format_markdown(
    table: Table, heading: str = "", escape: Callable[[str], str] | None = None
) -> str:
    """Write a table as Markdown: its heading, its lines, and its notes below.

    Parameters
    ----------
    heading
        What stands above it; the title, as a heading, where none is given.
    escape
        Makes text of headings, cells and notes in which nothing is markup. By default the texts
        may hold markup, and only what would end a cell is escaped.
    """
    plain = escape or str
    grid = format_lines(table, escape or _escape_cell)
    notes = [f"{plain(note)}  " for note in table.notes]
    return "\n".join([heading or f"## {plain(table.title)}", "", grid, "", *notes, ""])


def format_lines(table: Table, escape: Callable[[str], str] = _escape_cell) -> str:
    """Write the lines of a table without heading and notes."""
    rows = [[escape(cell) for cell in line] for line in (table.head, *table.body)]
    rows.insert(1, ["---"] * len(table.head))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


@cache
def load_template(file: Path, **filters: Callable[..., str]) -> Template:
    """Load the template of a Markdown page, whose filter ``text`` escapes untrusted text."""
    environment = Environment(
        loader=FileSystemLoader(file.parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters |= {"text": _text, **filters}
    return environment.get_template(file.name)


def _text(value: str) -> str:
    """Escape untrusted text within a line of Markdown."""
    line = "".join(c if c.isprintable() else " " for c in value)
    return re.sub(r"([\\`*\[\]<>|])", r"\\\1", line)
