"""The picture of an audit: intervals of all cases, with the rule's two shares as lines."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from plenum.show.document import Picture
from plenum.show.style import PAGE, SMALL, apply_style, make_panels, save_figure
from plenum_verdicts.reports.audit import AuditReport
from plenum_verdicts.reports.case_groups import count_cases, group_cases
from plenum_verdicts.reports.words import words

MOST = 40
"""Number of lines in the picture, the most urgent cases first."""

LOOKS = {"stable": ("#1a7f37", "o"), "unstable": ("#b42318", "X"), "undecided": ("#7a5a00", "s")}
"""Colour and marker of each verdict."""


def draw_strip(audit: AuditReport, folder: Path, kinds: Sequence[str]) -> Picture:
    """Draw intervals of the shares of agreeing runs, a line per group of equal cases.

    Parameters
    ----------
    kinds
        Formats of the files: ``svg``, ``png``.
    """
    title = "Share of runs that decide alike, and its interval"
    groups = group_cases(audit.by_need)
    with apply_style():
        files = save_figure(_figure(audit), folder, "audit_intervals", kinds)
    caption = " ".join(words("intervals", audit, left=count_cases(groups[MOST:])))
    alt = f"{title}, of {min(len(groups), MOST)} lines of {len(audit.cases)} cases"
    return Picture(1, "intervals", tuple(files), title, f"{title}. {caption}", alt)


def _figure(audit: AuditReport) -> Figure:
    groups = group_cases(audit.by_need)[:MOST]
    height = 0.75 + 0.2 * len(groups)
    figure, panels = make_panels(1, 1, (PAGE, height))
    axes = panels[0, 0]
    seen = set()
    for row, each in enumerate(groups):
        share, verdict = each.case.share, each.case.in_family
        colour, marker = LOOKS[verdict]
        low, value, high = (share.low, share.value, share.high) if share else (0.0, None, 1.0)
        axes.plot([low, high], [row, row], color=colour, linewidth=3, solid_capstyle="butt")
        if value is not None:
            label = None if verdict in seen else verdict
            seen.add(verdict)
            axes.plot([value], [row], color=colour, marker=marker, linestyle="", label=label)
    for at, meaning in (
        (audit.rule.unacceptable, "stable beyond"),
        (audit.rule.acceptable, "unstable below"),
    ):
        axes.axvline(at, color="black", linewidth=0.8, linestyle="--")
        words_at = f"{meaning} {100 * at:.0f} %"
        side = "right" if at == audit.rule.unacceptable else "left"
        axes.annotate(
            words_at, (at, 1), (3 if side == "left" else -3, 2), xycoords=("data", "axes fraction"),
            textcoords="offset points", ha=side, va="bottom", fontsize=SMALL + 1,
        )  # fmt: skip
    names = [f"{each.name}, n {each.case.runs}" for each in groups]
    axes.set_yticks(range(len(groups)), [name.replace("$", r"\$") for name in names])
    axes.set_ylim(len(groups) - 0.5, -0.5)
    axes.set_xlim(0, 1.02)
    axes.xaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
    axes.set_xlabel("share of runs that decide alike")
    axes.legend(loc="lower left", frameon=False)
    return figure
