"""The pictures of an audit but its intervals: decisions, evidence, disagreement, right."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter

from plenum.base import flatten
from plenum.reports import (
    COLOURS,
    GREY,
    PAGE,
    SMALL,
    Picture,
    apply_style,
    make_panels,
    save_figure,
)
from plenum_verdicts.acting import Agreement, estimate_agreement
from plenum_verdicts.dynamics import FAILED, NO_DECISION, StabilityRule, evidence_by_run
from plenum_verdicts.reports import strip
from plenum_verdicts.reports.acting_figure import draw_agreement
from plenum_verdicts.reports.audit import AuditReport, CaseAudit
from plenum_verdicts.reports.suite_cases import SuiteCase, cut, name_outcome
from plenum_verdicts.reports.suite_figures import draw_bars, draw_decisions
from plenum_verdicts.suites import SuiteRuns

MOST_PATHS = 200
"""Number of cases whose evidence is drawn, the most urgent ones first."""

LEAST_KNOWN = 5
"""Number of cases with right answers from which risk and coverage are drawn."""

_AMONG = " Among several cases, one is called unstable only with more evidence than that."
_MOST_CALLS = 10
_MOST_NAMED = 8
"""Number of bars that have room for the names of their cases."""
_LOWEST, _HIGHEST = 1e-3, 1e6
"""Range of e-values that are drawn; those beyond lie on its edge."""


def draw_pictures(
    audit: AuditReport, outcomes: Mapping[str, Sequence[str]], folder: Path, kinds: Sequence[str]
) -> list[Picture]:
    """Draw all pictures of an audit that its runs allow, numbered from 1.

    Parameters
    ----------
    outcomes
        Outcomes of the runs that count, by case, in their order; empty if that isn't known.
    kinds
        Formats of the files: ``svg``, ``png``.
    """
    ended = [case for case in audit.by_need if case.share]
    if not ended:
        return []
    rows = sorted(map(_row, ended), key=lambda row: -(row.disagreement or 0))
    drawn = [
        strip.draw_strip(audit, folder, kinds),
        draw_decisions(rows, folder, kinds, "audit_decisions"),
        _draw_evidence(audit, ended, outcomes, folder, kinds),
        _draw_disagreement(rows, folder, kinds),
        _draw_calls(audit, folder, kinds),
        _draw_right(ended, folder, kinds),
    ]
    made = [picture for picture in drawn if picture is not None]
    return [replace(picture, number=n) for n, picture in enumerate(made, start=1)]


def _row(case: CaseAudit) -> SuiteCase:
    """Return a case with its decisions by the names of options."""
    decisions: dict[str, int] = defaultdict(int)
    for label, count in case.decisions.items():
        decisions[name_outcome(case.options, label)] += count
    return SuiteCase(case.id, case.runs, dict(decisions), case.disagreement, case.right)


def _draw_evidence(
    audit: AuditReport,
    cases: Sequence[CaseAudit],
    outcomes: Mapping[str, Sequence[str]],
    folder: Path,
    kinds: Sequence[str],
) -> Picture | None:
    known = [case for case in cases if outcomes.get(case.id)]
    if not known:
        return None
    with apply_style():
        figure, panels = make_panels(1, 2, (PAGE, 2.4), sharey=True)
        _draw_paths(panels[0], known[:MOST_PATHS], outcomes, audit.rule)
        files = save_figure(figure, folder, "audit_evidence", kinds)
    shows = "Evidence over runs"
    bound = f"{1 / audit.rule.alpha:.3g}"
    more = len(known) - MOST_PATHS
    caption = (
        f"{shows}: a line for each case, coloured by its verdict. Left: the e-value that it is "
        f"stable; right: that it is unstable. A verdict on a case is reached at {bound} (dashed), "
        "because an e-value gets that large with a chance of at most "
        f"{100 * audit.rule.alpha:.3g} % if the verdict is false, whenever one looks."
        f"{_AMONG if len(audit.cases) > 1 else ''}"
        f"{f' {more:,} more cases are not drawn.' if more > 0 else ''}"
    )
    alt = f"{shows} of {min(len(known), MOST_PATHS)} cases; audit.json has the largest e-values."
    return Picture(0, "evidence", tuple(files), shows, caption, alt)


def _draw_paths(
    panels: Any,
    cases: Sequence[CaseAudit],
    outcomes: Mapping[str, Sequence[str]],
    rule: StabilityRule,
) -> None:
    """Draw the e-values of equal cases once."""
    paths = {
        (
            case.in_family,
            tuple(outcomes[case.id]),
            tuple(case.options) or tuple(sorted({*case.decisions, "A", "B"})),
        )
        for case in cases
    }
    for verdict, ended, labels in sorted(paths):
        for axes, logs in zip(panels, evidence_by_run(ended, labels, rule), strict=True):
            shown = np.exp(np.clip(logs, math.log(_LOWEST), math.log(_HIGHEST)))
            colour, marker = strip.LOOKS[verdict]
            axes.plot(np.arange(1, len(ended) + 1), shown, color=colour, linewidth=0.8, alpha=0.6)
            axes.plot([len(ended)], shown[-1:], color=colour, marker=marker, markersize=3)
    for axes, meaning in zip(panels, ("stable", "unstable"), strict=True):
        axes.axhline(1 / rule.alpha, color="black", linestyle="--", linewidth=0.8)
        axes.axhline(1, color=GREY, linewidth=0.6)
        axes.set_yscale("log")
        axes.set_title(f"that it is {meaning}", fontsize=SMALL + 1)
        axes.set_xlabel("runs of the case")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    panels[0].set_ylabel("e-value")
    panels[0].yaxis.set_major_formatter(FuncFormatter(lambda e, _: f"{e:g}"))


def _draw_disagreement(
    rows: Sequence[SuiteCase], folder: Path, kinds: Sequence[str]
) -> Picture | None:
    repeated = [row for row in rows if row.disagreement is not None]
    if len(repeated) < 2:
        return None
    with apply_style():
        figure, panels = make_panels(1, 1, (PAGE, 2.0))
        draw_bars(panels[0, 0], repeated)
        if len(repeated) <= _MOST_NAMED:
            names = [row.label[:14].replace("$", r"\$") for row in repeated]
            panels[0, 0].set_xticks(np.arange(len(names)) + 0.5, names)
        files = save_figure(figure, folder, "audit_disagreement", kinds)
    shows = "Cases by how likely two of their runs end differently"
    known = any(row.score is not None for row in repeated)
    colours = "; its colour says how many of its runs are right" if known else ""
    caption = f"{shows}. Each bar is a case, the least agreeing first{colours}."
    alt = f"{shows}, of {len(repeated)} cases; the table of cases has the numbers."
    return Picture(0, "disagreement", tuple(files), shows, caption, alt)


def _draw_calls(audit: AuditReport, folder: Path, kinds: Sequence[str]) -> Picture | None:
    parted = sum(case.source.parted for case in audit.cases if case.source)
    if not parted:
        return None
    counts = _count_calls(audit)
    bars = counts.most_common(_MOST_CALLS)
    if rest := parted - sum(count for _, count in bars):
        bars.append(("other calls", rest))
    with apply_style():
        figure, panels = make_panels(1, 1, (PAGE, 0.7 + 0.19 * len(bars)))
        axes = panels[0, 0]
        shares = [count / parted for _, count in bars]
        axes.barh(range(len(bars)), shares, 0.7, color=COLOURS[0])
        axes.set_yticks(range(len(bars)), [name.replace("$", r"\$") for name, _ in bars])
        axes.set_ylim(len(bars) - 0.5, -0.5)
        axes.set_xlim(0, 1)
        axes.xaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
        axes.set_xlabel("share of the pairs of runs that differ")
        files = save_figure(figure, folder, "audit_parting", kinds)
    shows = "The call at which two runs of a case first differ"
    caption = (
        f"{shows}, over all cases. What comes before it is the same in both runs: look there for "
        "the cause. Other calls are those that are not among a case's three most frequent ones, "
        f"or not among the {_MOST_CALLS} most frequent of all."
    )
    alt = f"{shows}: most often {bars[0][0]}, in {100 * shares[0]:.0f} % of pairs."
    return Picture(0, "calls", tuple(files), shows, caption, alt)


def _count_calls(audit: AuditReport) -> Counter[str]:
    """Count, by call, the pairs of runs that first differ there."""
    found: Counter[str] = Counter()
    for case in audit.cases:
        for place in case.source.places if case.source else ():
            found[f"{cut(flatten(place.seat))}, call {place.round}"] += place.pairs
    return found


def _draw_right(cases: Sequence[CaseAudit], folder: Path, kinds: Sequence[str]) -> Picture | None:
    known = [case for case in cases if case.answer and case.runs > 1]
    if len(known) < LEAST_KNOWN:
        return None
    ends = {case.id: [o for o, n in case.decisions.items() for _ in range(n)] for case in known}
    right = {case.id: [float(o == case.answer) for o in ends[case.id]] for case in known}
    agreement = estimate_agreement(SuiteRuns.of(ends, right), {NO_DECISION, FAILED})
    if agreement.right + agreement.wrong < LEAST_KNOWN:
        return None
    with apply_style():
        figure, panels = make_panels(1, 2, (PAGE, 2.4))
        _draw_coverage(panels[0, 0], agreement)
        draw_agreement(panels[0, 1], agreement)
        files = save_figure(figure, folder, "audit_right", kinds)
    shows = "Risk and coverage"
    caption = (
        f"{shows}. Left: if it had acted only on cases of which at least a certain share of runs "
        "agree (the numbers), on how many of these cases it would have acted, and how many of "
        "those it would have decided wrongly. Right: cases by that share. This describes these "
        "cases and bounds nothing: suite=true decide=true looks for a rule whose risk is bounded."
    )
    alt = f"{shows}: {agreement.right} cases are mostly decided rightly, {agreement.wrong} wrongly."
    return Picture(0, "right", tuple(files), shows, caption, alt)


def _draw_coverage(axes: Any, agreement: Agreement) -> None:
    total = agreement.right + agreement.wrong
    levels = sorted(agreement.levels, reverse=True)
    right, wrong = (np.cumsum([level[n] for level in levels]) for n in (1, 2))
    covered, risk = (right + wrong) / total, wrong / (right + wrong)
    axes.plot(covered, risk, color=COLOURS[0], marker="o", drawstyle="steps-post")
    named = {0, len(levels) - 1, *range(0, len(levels), max(len(levels) // 5, 1))}
    for n in named:
        axes.annotate(
            f"{100 * levels[n][0]:.0f} %", (covered[n], risk[n]), (0, 4), ha="center",
            textcoords="offset points", fontsize=SMALL,
        )  # fmt: skip
    axes.set_xlim(0, 1.05)
    axes.set_ylim(0, max(1.25 * float(risk.max()), 0.05))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(PercentFormatter(1, symbol=" %"))
    axes.set_xlabel("cases that it acts on")
    axes.set_ylabel("of those, decided wrongly")
