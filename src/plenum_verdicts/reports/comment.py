"""An audit as a short Markdown comment on a pull request, the most urgent cases first."""

import re
from dataclasses import replace
from pathlib import Path

from plenum.base.text import flatten
from plenum.show.formats import format_dollars
from plenum.show.markdown import format_lines, load_template
from plenum_verdicts.reports import tables
from plenum_verdicts.reports.audit import AuditReport
from plenum_verdicts.reports.case_groups import SHOWN
from plenum_verdicts.reports.words import MOST_CASES, causes, headline, lead, title, words

MOST = 20
"""Number of cases in the comment."""

_MARKUP = re.compile(r"[\\`*\[\]<>|~]|(?<!\w)_|_(?!\w)")
_LINKING = re.compile(r"@|#(?=\d)|:(?=//)|www(?=\.)")
_MARKS = {True: "✅", False: "❌", None: "❔"}


def write_comment(audit: AuditReport) -> str:
    """Return the comment; case ids are formatted as code, so that they can't mention or link."""
    shown = audit
    if audit.suite:  # only those that a person has to decide
        needed = tuple(c for c in audit.cases if c.disagreement or c.unanimous_and_wrong)
        shown = replace(audit, cases=needed)
    # Those that a person has to decide are named one by one, as far as the comment goes.
    apart = MOST if audit.suite else SHOWN
    listed, left = tables.verdicts(shown, MOST, True, apart) if shown.cases else (None, 0)
    explained = [case for case in audit.by_need if case.causes]
    name = "suite.md.j2" if audit.suite else "comment.md.j2"
    page = load_template(Path(__file__).with_name(name), prose=format_prose)
    return page.render(
        audit=audit,
        badge=_MARKS,
        title=title(audit),
        wrong=any(case.unanimous_and_wrong for case in audit.cases),
        headline=headline(audit),
        lead=lead(audit),
        notice=" ".join(words("notice", audit)),
        together=" ".join(words("together", audit)),
        limits=" ".join(words("limits", audit)),
        unshown=" ".join(words("unshown", audit)),
        priced=audit.cost.calls > audit.cost.unpriced,
        table=format_lines(listed, format_cell) if listed else "",
        more=left,
        causes=[
            (format_cell(case.name), causes(audit, case, format_code))
            for case in explained[:MOST_CASES]
        ],
        more_causes=" ".join(words("more_causes", audit, left=len(explained) - MOST_CASES)),
        beside=[
            (table.title, format_lines(table, format_cell), "; ".join(table.notes))
            for table in tables.tabulate_sections(audit, MOST)
        ],
        dollars=format_dollars(audit.cost.dollars, audit.cost.unpriced),
    )


def format_cell(cell: str) -> str:
    """Format a cell as code unless it holds only letters, digits and signs of numbers."""
    line = flatten(cell)
    harmless = all(c.isalnum() or c in " .,%[]-+−?×·" for c in line)
    # A list of harmless signs, not of harmful ones: GitHub's markup grows.
    return line if harmless else format_code(line)


def format_prose(text: str) -> str:
    """Escape a sentence that may hold untrusted names: it can't mention, refer or link.

    A zero-width space parts what GitHub would make a mention or an address of.
    """
    return _LINKING.sub("\\g<0>\u200b", _MARKUP.sub(r"\\\g<0>", flatten(text)))


def format_code(text: str) -> str:
    """Format an untrusted text as code, without markup."""
    return f"`{flatten(text).replace('`', chr(39)).replace('|', chr(166))}`"
