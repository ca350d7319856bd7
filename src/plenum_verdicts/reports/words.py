"""The sentences of an audit, from ``words.j2``."""

from collections import Counter
from collections.abc import Callable, Mapping

from plenum.base.text import flatten
from plenum.show.phrases import render
from plenum_verdicts.reports.audit import (
    AUDIT,
    SUITE,
    VERDICT,
    AuditReport,
    CaseAudit,
)
from plenum_verdicts.reports.names import quiet, short

_LONGEST = 40
"""Number of letters of an option's name in a sentence."""

MOST_CASES = 5
"""Number of cases whose causes are listed; `audit.json` has those of all."""

_HEADINGS = {AUDIT: "Audit of", SUITE: "Suite", VERDICT: "Verdict on"}
"""How the heading begins, by the name of the files."""

_OUTCOMES = {"none": "no decision"}


def lead(audit: AuditReport) -> str:
    """Return the verdict in a sentence."""
    return " ".join(words("verdict", audit))


def headline(audit: AuditReport) -> str:
    """Return the meaning of the exit status, in few words."""
    return " ".join(words("headline", audit))


def title(audit: AuditReport) -> str:
    """Return the heading: what was judged, and the verdict."""
    return f"{_HEADINGS[audit.files]} {audit.name}: {headline(audit)}"


def line(audit: AuditReport, case: CaseAudit) -> str:
    """Return the verdict on a case in a sentence."""
    return " ".join(words("of_case", audit, case=case))


def causes(
    audit: AuditReport, case: CaseAudit, quoted: Callable[[str], str] = flatten, output: str = ""
) -> str:
    """Return the reasons of a case's failed or undecided runs in a sentence; may be empty.

    Parameters
    ----------
    quoted
        Quotes text from journals for the output format.
    output
        The file with the program's output in the first run of the first cause, if there is one.
    """
    return " ".join(words("causes", audit, case=case, quoted=quoted, output=output))


def words(macro: str, audit: AuditReport, **facts: object) -> list[str]:
    """Render a macro of ``words.j2``, as one text per paragraph."""
    known = {
        "alike": share, "shown": format_counts, "decided": format_decisions, "flat": flatten,
        "roughly": roughly, "named": format_outcome,
    }  # fmt: skip
    return render("plenum_verdicts.reports/words.j2", macro, audit=audit, **known, **facts)


def share(value: float, low: float, high: float) -> str:
    """Format a share in whole percent with its interval, as in ``97 % [90, 99]``."""
    return f"{100 * value:.0f} % [{_percent(low)}, {_percent(high)}]"


def roughly(share: float) -> str:
    """Format a share in whole percent; only exact 0 and 1 become 0 % and 100 %."""
    if 0 < share < 0.005:
        return "under 1 %"
    return "over 99 %" if 0.995 <= share < 1 else f"{100 * share:.0f} %"


def _percent(bound: float) -> str:
    """Format a bound in whole percent; only an exact 1 becomes 100."""
    # 99.4 is the most that rounds to 99.
    return f"{min(100 * bound, 99.4):.0f}" if bound < 1 else "100"


def format_counts(counts: Mapping[str, int]) -> str:
    """Format counts by name, as in ``A 38, B 2``."""
    return ", ".join(f"{quiet(name)} {n}" for name, n in counts.items())


def format_decisions(case: CaseAudit) -> str:
    """Format the counts of decisions with option names: ``A (Hire) 38, failed 2``."""
    return ", ".join(f"{format_outcome(case, label)} {n}" for label, n in case.decisions.items())


def name_decisions(case: CaseAudit) -> dict[str, int]:
    """Return the runs of a case by the names of options alone, the most frequent first."""
    named: Counter[str] = Counter()
    for label, count in case.decisions.items():
        named[short(case.options.get(label) or _OUTCOMES.get(label, label))] += count
    return dict(named.most_common())


def options_named(case: CaseAudit) -> str:
    """Return the options of a case with their names; empty if labels are names."""
    names = [(label, format_outcome(case, label)) for label in case.options]
    return ", ".join(name for _, name in names) if any(a != flatten(b) for b, a in names) else ""


def format_outcome(case: CaseAudit, label: str) -> str:
    """Return an outcome of a case: an option's label with its name, as in ``A (Hire)``."""
    name = flatten(str(case.options.get(label, "")))
    if label not in case.options:
        return _OUTCOMES.get(label, quiet(label))
    if name == label or not name:
        return quiet(label)
    return f"{quiet(label)} ({name if len(name) <= _LONGEST else name[: _LONGEST - 1] + '…'})"
