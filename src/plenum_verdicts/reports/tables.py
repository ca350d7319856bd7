"""The tables of an audit: verdicts, settings of the program, cost, and the cases themselves."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import pandas as pd

from plenum.base.text import flatten
from plenum.show.formats import (
    NONE,
    format_count,
    format_dollars,
    format_or_dash,
    format_realised,
    format_whole_percent,
)
from plenum.show.phrases import space_words, uncapital
from plenum.show.table import Column, Table, make_keys
from plenum_verdicts.reports.audit import AuditReport, CaseAudit, DivergenceSource
from plenum_verdicts.reports.case_groups import SHOWN, count_cases, group_cases
from plenum_verdicts.reports.names import short
from plenum_verdicts.reports.words import (
    format_counts,
    format_decisions,
    format_outcome,
    headline,
    options_named,
    share,
    words,
)

_LONGEST = 600
"""Number of letters of a case's text in the table of cases."""

MOST = 1_000
"""Number of lines in the page's table of cases; `audit.csv` has all of them."""

_COUNTED = ("runs", "completed", "pending")


def frame(cases: Sequence[CaseAudit]) -> pd.DataFrame:
    """Return one row per case: its verdict, its evidence, and its cost."""
    return pd.DataFrame([_record(case) for case in cases], columns=None if cases else ["case"])


def verdicts(
    audit: AuditReport, most: int, spelt: bool = False, apart: int = SHOWN
) -> tuple[Table, int]:
    """Return a table with a line per group of equal cases, and the number of omitted cases.

    Parameters
    ----------
    most
        Maximal number of lines, the most urgent cases first.
    spelt
        True if decisions include the names of their options.
    apart
        Number of cases up to which equal ones have a line each.
    """
    groups = group_cases(audit.by_need, apart)
    left = count_cases(groups[most:])
    shown = frame([each.case for each in groups[:most]])
    shown["case"] = [each.name for each in groups[:most]]
    if audit.stopped:
        shown.loc[[not each.case.decided for each in groups[:most]], "verdict"] = "no decision"
    if spelt:
        shown["decisions"] = [format_decisions(each.case) for each in groups[:most]]
    columns = [*make_keys(["case"])]
    if not audit.suite:  # few runs show little of a single case of a suite
        columns.append(Column("verdict", "so far" if audit.stopped else None))
        columns.append(Column(("share", "share_low", "share_high"), "decide alike", _share))
    columns.append(Column("runs", "n", format_count))
    columns.append(Column("decisions", format=format_or_dash))
    if audit.suite:
        columns.append(Column("disagreement", "two runs differ", format_whole_percent))
    for measured in ("score", "right") if audit.suite else ("right", "score"):
        if any(getattr(case, measured) is not None for case in audit.cases):
            columns.append(Column(measured, format=format_whole_percent))
            break
    if any(case.warnings for case in audit.cases):
        columns.append(Column("warnings", format=format_or_dash))
    names = [] if spelt else _legend([each.case for each in groups[:most]])
    origin = [] if audit.suite else [audit.controlled.origin]
    notes = (*names, *words("verdicts", audit, left=left), *origin)
    title = f"{audit.name}: {uncapital(headline(audit))}"
    return Table("audit", title, shown, tuple(columns), notes), left


def every_case(audit: AuditReport) -> Table:
    """Make the page's table of cases, a line each; of very many, a line per group of equal ones."""
    table, _ = verdicts(audit, MOST, spelt=True, apart=MOST)
    if audit.suite:
        return replace(table, title="The cases, the least agreeing first")
    apart = Column("disagreement", "two runs differ", format_whole_percent)
    at = 1 + [column.name for column in table.columns].index("decisions")
    columns = (*table.columns[:at], apart, *table.columns[at:])
    note = "two runs differ: how likely two runs of the case end differently, from its runs"
    title = "The cases, the most urgent first"
    return replace(table, title=title, columns=columns, notes=(*table.notes, note))


def _legend(cases: Sequence[CaseAudit]) -> list[str]:
    """Return the option names that labels stand for; only once if all cases agree."""
    by_case = {case.name: options_named(case) for case in cases}
    known = {name: names for name, names in by_case.items() if names}
    if not known:
        return []
    if len({*by_case.values()}) == 1:
        return [f"decisions: {known[cases[0].name]}"]
    lines = [f"{name}: {names}" for name, names in list(known.items())[:SHOWN]]
    left = len(known) - SHOWN
    return [f"decisions of {'; '.join(lines)}" + (f"; and {left:,} more cases" if left > 0 else "")]


def tabulate_sections(audit: AuditReport, most: int) -> list[Table]:
    """Return tables of the optional sections: an earlier program, a control."""
    made = {baseline: audit.beside.baseline, control: audit.beside.control}
    return [first(table(audit), most) for table, wanted in made.items() if wanted]


def first(table: Table, most: int) -> Table:
    """Return the first lines of a table, with a note on the number of others."""
    left = len(table.frame) - most
    if left <= 0:
        return table
    note = f"and {left:,} more: the JSON has all of them"
    return replace(table, frame=table.frame.head(most), notes=(*table.notes, note))


def sources(audit: AuditReport) -> Table:
    """Make a table of the sources of divergence, a line per case."""
    columns = (
        *make_keys(["case"]),
        Column(("parted", "pairs"), "pairs that differ", format_realised),
        Column("place", "most often first at"),
        Column("endpoint", "model answers anew", format_whole_percent),
        Column("amplification", "program passes on", format_whole_percent),
    )
    records = [
        {
            "case": case.name,
            "parted": case.source.parted,
            "pairs": case.source.pairs,
            "place": _place(case.source),
            "endpoint": case.source.endpoint,
            "amplification": case.source.amplification,
        }
        for case in audit.by_need
        if case.source
    ]
    title = "Where runs part"
    return Table(
        "audit_parting", title, pd.DataFrame(records), columns, tuple(words("sources", audit))
    )


def _place(source: DivergenceSource) -> str:
    if not source.places:
        return NONE
    first = source.places[0]
    share = 100 * first.pairs / source.parted
    return f"{flatten(first.seat)}, call {first.round} ({share:.0f} %)"


def baseline(audit: AuditReport) -> Table:
    """Make a table that compares the cases with an earlier program."""
    columns = (
        *make_keys(["case"]),
        Column(("now", "runs_now"), "decides alike", _format_share),
        Column(("before", "runs_before"), "before", _format_share),
        Column(("difference", "low", "high"), "difference", _points),
        Column("worse", format=_yes),
        Column("decides_otherwise", "decides differently", _yes),
    )
    records = [{**asdict(each), "case": short(each.case)} for each in audit.beside.baseline]
    title = "Next to the earlier program"
    return Table(
        "audit_baseline", title, pd.DataFrame(records), columns, tuple(words("baseline", audit))
    )


def control(audit: AuditReport) -> Table:
    """Make a table of how often two runs differ, with and without interaction."""
    columns = (
        *make_keys(["case"]),
        Column("disagreement", "two runs differ", format_whole_percent),
        Column("alone", "without talking", format_whole_percent),
        Column("runs", "n without", format_count),
    )
    by_case = {case.id: case for case in audit.cases}
    records = [
        {
            "case": short(each.case),
            "disagreement": by_case[each.case].disagreement if each.case in by_case else None,
            "alone": each.disagreement,
            "runs": each.runs,
        }
        for each in audit.beside.control
    ]
    title = "Do runs differ because the seats talk to one another?"
    return Table(
        "audit_control", title, pd.DataFrame(records), columns, tuple(words("control", audit))
    )


def _format_share(share: float, runs: int) -> str:
    return NONE if pd.isna(share) else f"{100 * share:.0f} % of {runs}"


def _points(difference: float, low: float, high: float) -> str:
    if pd.isna(difference):
        return NONE
    return f"{100 * difference:+.0f} % [{100 * low:+.0f}, {100 * high:+.0f}]".replace("-", "−")


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def costs(audit: AuditReport) -> Table:
    """Make a table of costs, a line per case, and a total."""
    every = audit.cases
    columns = [
        *make_keys(["case"]),
        *(Column(name, format=format_count) for name in _COUNTED[: 2 if audit.logged else None]),
        Column("failures", "failed", format_or_dash),
        *(Column(name, format=format_count) for name in _format_usage(audit)),
    ]
    if _has_price(audit):
        columns.append(Column(("dollars", "unpriced"), "$", format_dollars))
    sums = {name: sum(getattr(case, name) for case in every) for name in _COUNTED}
    totals = {"case": "all", **asdict(audit.cost), **sums}
    title = "Runs and what the log says of their use" if audit.logged else "Runs, calls and cost"
    return Table("audit_cost", title, frame(every), tuple(columns), (), pd.DataFrame([totals]))


def _format_usage(audit: AuditReport) -> list[str]:
    """Return the known counts of usage; the number of calls of logged runs is unknown."""
    if not audit.logged:
        return ["calls", "tokens_in", "tokens_out"]
    return [name for name in ("tokens_in", "tokens_out") if getattr(audit.cost, name)]


def _has_price(audit: AuditReport) -> bool:
    """Return whether some cost is known; a log may contain none."""
    return not audit.logged or audit.cost.unpriced < audit.cost.calls


def prompts(audit: AuditReport) -> Table:
    """Make a table of each seat's system prompt."""
    given = audit.controlled.prompts
    records = [{"seat": flatten(s), "prompt": _format_beginning(p)} for s, p in given.items()]
    columns = (*make_keys(["seat"]), Column("prompt"))
    title = f"System prompts by seat, as the first run of {audit.cases[0].name} had them"
    return Table("audit_prompts", title, pd.DataFrame(records), columns)


def parts(audit: AuditReport) -> Table:
    """Make a table of the parts of the program's identity: files, and packages, a line each."""
    described = audit.controlled.program.items()
    named = {flatten(of): parts for of, parts in described if isinstance(parts, Mapping)}
    records = [
        {"of": of, "parts": ", ".join(f"{flatten(n)} {flatten(str(v))}" for n, v in parts.items())}
        for of, parts in named.items()
        if parts
    ]
    columns = (*make_keys(["of"]), Column("parts", "names, with digest or version"))
    counts = format_counts({of: len(parts) for of, parts in named.items() if parts})
    title = f"Digests and versions that name the program: {counts}"
    return Table("audit_parts", title, pd.DataFrame(records), columns)


def cases(audit: AuditReport) -> Table:
    """Make a table of the questions to the program, by case."""
    records = [
        {
            "case": case.name,
            "text": _format_beginning(case.question),
            "options": "; ".join(f"{label}: {name}" for label, name in _options(case)),
            "answer": format_outcome(case, case.answer) if case.answer else "",
        }
        for case in audit.cases
    ]
    answered = any(case.answer for case in audit.cases)
    known = [Column("answer", format=format_or_dash)] if answered else []
    columns = (*make_keys(["case"]), Column("text"), Column("options"), *known)
    return Table("audit_cases", "What the cases ask", pd.DataFrame(records), columns)


def _record(case: CaseAudit) -> dict[str, Any]:
    alike = case.share
    return {
        "case": case.name,
        "knobs": flatten(case.knobs),
        "verdict": case.in_family,
        "verdict_alone": case.verdict,
        "share": alike.value if alike else None,
        "share_low": alike.low if alike else None,
        "share_high": alike.high if alike else None,
        "runs": case.runs,
        "decided_after": case.decided_after,
        "decisions": format_counts(case.decisions),
        "right": case.right,
        "score": case.score,
        "disagreement": case.disagreement,
        "e_stable": case.e_stable,
        "e_unstable": case.e_unstable,
        "completed": case.completed,
        "pending": case.pending,
        "failures": format_counts({space_words(why): n for why, n in case.failures.items()}),
        "warnings": " ".join(case.warnings),
        "condition": case.condition,
        **{name: value for name, value in vars(case.cost).items() if name != "runs"},
    }


def _share(value: float | None, low: float, high: float) -> str:
    return NONE if value is None or pd.isna(value) else share(value, low, high)


def _options(case: CaseAudit) -> list[tuple[str, str]]:
    return [(flatten(label), flatten(name)) for label, name in case.options.items()]


def _format_beginning(question: str) -> str:
    line = flatten(question)
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]} …"
