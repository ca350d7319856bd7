"""The table of requirements by which reviewers read an audit, and the sections that answer them."""

from collections.abc import Mapping

import pandas as pd

from plenum.reports import Block, Column, Grid, Section, Table, make_keys

TITLE = "Which requirement asks for which figure"
"""The title of the section ``clauses``."""

_CLAUSES = (
    (
        "EU AI Act, Art. 15(1)",
        "accuracy and robustness, consistently throughout the lifecycle",
        "how often runs decide alike, with intervals; right decisions; changes since a baseline",
        (
            "verdict",
            "shown",
            "baseline",
        ),
    ),
    (
        "EU AI Act, Art. 15(4)",
        "resilience to errors, faults and inconsistencies",
        "failed runs; runs without a decision; other settings and wordings",
        (
            "shown",
            "asked",
            "cost",
            "steadier",
        ),
    ),
    (
        "EU AI Act, Annex IV 2(g)",
        "metrics, test logs and reports, dated and signed by those responsible",
        "the dates, digests and lines to sign on this page; the journals or the log",
        ("record",),
    ),
    (
        "NIST AI RMF, MEASURE 1.1, 2.1",
        "documented metrics, test sets and tools",
        "the criterion, the cases and the versions",
        (
            "verdict",
            "controlled",
            "record",
        ),
    ),
    (
        "NIST AI RMF, MEASURE 2.5",
        "shown to be valid and reliable, with the limits of generalising",
        "the verdict with its chance of error; what it doesn't say",
        (
            "verdict",
            "limits",
        ),
    ),
    (
        "ISO/IEC TS 42119-2, headings of a test report",
        "scope, deviations, results against criteria, what is open",
        "the program and its cases; what was excluded; verdict and criterion; undecided cases",
        (
            "follows",
            "excluded",
            "limits",
            "record",
        ),
    ),
    (
        "ISO 5725, repeatability",
        "agreement of results under the same conditions",
        "disagreement of two runs; of a suite with right answers also its noise floor",
        (
            "shown",
            "cases",
        ),
    ),
    (
        "ISO 5725, reproducibility",
        "agreement under other conditions: another day, operator or instrument",
        "other settings and wordings; a baseline of another day; what differs by column",
        (
            "asked",
            "baseline",
            "steadier",
        ),
    ),
)
"""Instrument, what it asks for, the figures, and the sections that may have them."""


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
    records = []
    for instrument, asks, figures, answering in _CLAUSES:
        sections = [titles[name] for name in answering if name in titles]
        where = "; ".join(sections) or "not measured here"
        records.append(
            {"requirement": instrument, "asks": asks, "figures": figures, "where": where}
        )
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
    return Table("audit_clauses", title, pd.DataFrame(records), columns, notes)
