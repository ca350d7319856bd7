"""The table of requirements by which reviewers read an audit, and the sections that answer them."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from plenum.show.document import Block, Grid, Section
from plenum.show.table import Column, Table, make_keys

TITLE = "Which requirement asks for which figure"
"""The title of the section ``clauses``."""

_CLAUSES = Path(__file__).with_name("clauses.csv")
"""Requirements, what each asks for, the figures, and the sections that may have them."""


def compose_sections(
    written: Mapping[str, tuple[Block, ...]], titles: Mapping[str, str], tables: int
) -> tuple[Section, ...]:
    """Compose the sections of a page that have content, with ``clauses`` among them.

    Parameters
    ----------
    written
        Blocks of the sections by their anchors; empty ones are left out.
    titles
        Titles by anchor, in order.
    tables
        Number of tables that these sections have.
    """
    shown = {anchor: body for anchor, body in written.items() if body}
    here = {anchor: titles[anchor] for anchor in titles if anchor in shown}
    shown["clauses"] = (Grid(tables + 1, map_clauses(here), folded=True),)
    ordered = [anchor for anchor in titles if anchor in shown]
    return tuple(Section(n, a, titles[a], shown[a]) for n, a in enumerate(ordered, start=1))


def map_clauses(titles: Mapping[str, str]) -> Table:
    """Make the table of the requirements that figures of a page answer.

    Parameters
    ----------
    titles
        Titles of the sections that the page has, by their anchors.

    Returns
    -------
    Table
        A line each; a requirement whose sections the page lacks says so.
    """
    clauses = pd.read_csv(_CLAUSES)
    found = (
        [titles[name] for name in names.split() if name in titles] for names in clauses["sections"]
    )
    clauses["where"] = ["; ".join(sections) or "not measured here" for sections in found]
    columns = (
        *make_keys(["requirement"]),
        Column("asks", "asks for"),
        Column("figures", "figures"),
        Column("where", "section of this page"),
    )
    notes = (
        "No legal advice: the words are short, and the instruments themselves decide what they "
        "ask for. Who is affected, and under whose supervision, are outside of these figures.",
    )
    title = "Requirements, and the figures that answer them"
    return Table("audit_clauses", title, clauses, columns, notes)
