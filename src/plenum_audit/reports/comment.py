"""An audit as a short Markdown comment on a pull request, the most urgent cases first."""

from pathlib import Path

from plenum.base import flatten
from plenum.reports import format_dollars, lines, template
from plenum_audit.reports import tables
from plenum_audit.reports.audit import AuditReport
from plenum_audit.reports.words import MOST_CASES, causes, headline, lead, words

MOST = 20
"""Number of cases in the comment."""

_MARKS = {True: "✅", False: "❌", None: "❔"}


def comment(audit: AuditReport) -> str:
    """Return the comment; case ids are formatted as code, so that they can't mention or link."""
    listed, left = tables.verdicts(audit, MOST, spelt=True) if audit.cases else (None, 0)
    explained = [case for case in audit.by_need if case.causes]
    page = template(Path(__file__).with_name("comment.md.j2"))
    return page.render(
        audit=audit,
        badge=_MARKS,
        headline=headline(audit),
        lead=lead(audit),
        notice=" ".join(words("notice", audit)),
        together=" ".join(words("together", audit)),
        limits=" ".join(words("limits", audit)),
        unshown=" ".join(words("unshown", audit)),
        priced=audit.cost.calls > audit.cost.unpriced,
        table=lines(listed, _cell) if listed else "",
        more=left,
        causes=[(_cell(case.name), causes(audit, case, _code)) for case in explained[:MOST_CASES]],
        more_causes=" ".join(words("more_causes", audit, left=len(explained) - MOST_CASES)),
        beside=[
            (table.title, lines(table, _cell), "; ".join(table.notes))
            for table in tables.beside(audit, MOST)
        ],
        dollars=format_dollars(audit.cost.dollars, audit.cost.unpriced),
    )


def _cell(cell: str) -> str:
    """Format a cell as code unless it holds only letters, digits and signs of numbers."""
    line = flatten(cell)
    harmless = all(c.isalnum() or c in " .,%[]-+−?" for c in line)
    return line if harmless else _code(line)


def _code(text: str) -> str:
    """Format an untrusted text as code, without markup."""
    return f"`{flatten(text).replace('`', chr(39)).replace('|', chr(166))}`"
