"""The pictures of cases: intervals or disagreement of all, and the decisions of each."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, PercentFormatter

from plenum.show.document import Picture
from plenum.show.style import COLOURS, GREY, PAGE, SMALL, apply_style, make_panels, save_figure
from plenum_verdicts.reports.audit import AuditReport, CaseAudit
from plenum_verdicts.reports.case_groups import CaseGroup, count_cases, group_cases
from plenum_verdicts.reports.strip import draw_strip
from plenum_verdicts.reports.words import name_decisions
from plenum_verdicts.suites.assessment import SuiteAssessment

MOST_LINES = 30
"""Number of lines of decisions that are drawn, the least agreeing first."""

_MOST_OPTIONS = 6
_MOST_BARS = 200
"""Number of cases up to which each has a bar; of more, equal ones share one."""
_RIGHT, _PARTLY, _WRONG = COLOURS[0], COLOURS[4], COLOURS[1]
_LETTERS = 90
"""Number of a name's letters that fit into a bar over the whole width."""
_FLAT = 0.03
"""Height of the mark of a case, so that one whose runs all agree is seen too."""


def draw_pictures(audit: AuditReport, folder: Path, kinds: Sequence[str]) -> list[Picture]:
    """Draw the pictures of the cases that have ended runs, numbered from 1.

    Parameters
    ----------
    kinds
        Formats of the files: ``svg``, ``png``.
    """
    ended = [case for case in audit.by_need if case.share]
    if not ended:
        return []
    if audit.suite:
        strip = draw_disagreement(audit.suite.found, ended, folder, kinds)
    else:
        strip = draw_strip(audit, folder, kinds)
    return [strip, draw_decisions(ended, folder, kinds)]


def draw_disagreement(
    suite: SuiteAssessment, cases: Sequence[CaseAudit], folder: Path, kinds: Sequence[str]
) -> Picture:
    """Draw a bar for each case by its disagreement, coloured by its score, and the mean of all."""
    repeated = [each for each in cases if each.disagreement is not None]
    with apply_style():
        figure, panels = make_panels(1, 2, (PAGE, 2.5), width_ratios=(5, 1), sharey=True)
        draw_bars(panels[0, 0], repeated)
        _draw_mean(panels[0, 1], suite)
        files = save_figure(figure, folder, "disagreement", kinds)
    n, k = len(repeated), len(suite.contradicted)
    shows = "Cases by how likely two of their runs end differently"
    known = any(each.score is not None for each in repeated)
    colours = "; its colour says how many of its runs are right" if known else ""
    caption = (
        f"{shows}. Each bar is a case, the least agreeing first{colours}. On the right is the mean "
        "over cases, with its 95 % intervals for these cases (thick) and for cases like these "
        "(thin); dashed lines are the limits of the criterion, which are for that mean."
    )
    mean = suite.disagreement.value
    alt = f"{shows}: {k} of {n} cases contradict themselves; the mean is {100 * mean:.1f} %."
    return Picture(1, "disagreement", tuple(files), shows, caption, alt)


def draw_decisions(cases: Sequence[CaseAudit], folder: Path, kinds: Sequence[str]) -> Picture:
    """Draw the shares of decisions, a line for each case or group of equal cases."""
    groups = group_cases(sorted(cases, key=lambda each: -(each.disagreement or 0)))
    shown = groups[:MOST_LINES]
    lines = [name_decisions(each.case) for each in shown]
    names = _names(lines)
    with apply_style():
        figure, panels = make_panels(1, 1, (PAGE, 0.8 + 0.19 * len(shown)))
        _draw_shares(panels[0, 0], shown, lines, names)
        files = save_figure(figure, folder, "decisions", kinds)
    left = count_cases(groups[MOST_LINES:])
    shows = "Shares of decisions by case"
    grouped = " Equal cases share a line." if len(groups) < len(cases) else ""
    more = f" {left:,} more cases, which agree more, aren't drawn." if left else ""
    ranked = ""
    if not names:
        ranked = " There are too many decisions for a colour each: colours are ranks within a case."
    caption = f"{shows}, the least agreeing first.{grouped}{more}{ranked}"
    drawn = count_cases(shown)
    alt = f"{shows}: {len(shown)} lines of {drawn} cases; the table of cases has the numbers."
    return Picture(2, "decisions", tuple(files), shows, caption, alt)


def draw_bars(axes: Any, cases: Sequence[CaseAudit]) -> None:
    """Draw cases by disagreement, coloured by score.

    Neighbours of equal height and colour are one bar, so that 50,000 cases can be drawn.
    """
    used: dict[str, str] = {}
    at = 0
    heights = Counter((each.disagreement or 0.0, _look(each.score)) for each in cases)
    for (apart, (_, colour, meaning)), many in sorted(
        heights.items(), key=lambda bar: (-bar[0][0], bar[0][1])
    ):
        used[meaning] = colour
        for width in [1] * many if len(cases) <= _MOST_BARS else [many]:
            axes.bar(at, max(apart, _FLAT), width, align="edge", color=colour, edgecolor="white",
                     linewidth=0.4 if width == 1 else 0.0)  # fmt: skip
            at += width
    axes.set_xlim(0, max(at, 1))
    axes.set_ylim(0, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("cases, the least agreeing first")
    axes.set_ylabel("two runs differ")
    if any(each.score is not None for each in cases):
        keys = [Patch(color=colour, label=meaning) for meaning, colour in used.items()]
        axes.legend(handles=keys, loc="upper right")


def _look(score: float | None) -> tuple[int, str, str]:
    """Return place, colour and meaning of a score: cases of one colour stand together."""
    if score is None:
        return 2, _RIGHT, ""
    if score >= 1:
        return 2, _RIGHT, "right in all runs"
    return (1, _PARTLY, "right in some runs") if score > 0 else (0, _WRONG, "wrong in all runs")


def _draw_mean(axes: Any, suite: SuiteAssessment) -> None:
    found = suite.disagreement
    axes.plot([0, 0], found.like, color="black", linewidth=1)
    axes.plot([0, 0], found.these, color="black", linewidth=3, solid_capstyle="butt")
    axes.plot([0], [found.value], color="black", marker="o", markerfacecolor="white")
    limits = {"acceptable": suite.rule.acceptable, "unacceptable": suite.rule.unacceptable}
    for name, limit in limits.items():
        axes.axhline(limit, color=GREY, linestyle="--", linewidth=0.8)
        side = "top" if name == "acceptable" else "bottom"
        axes.annotate(
            f"{100 * limit:.3g} %", (1, limit), (0, -1 if side == "top" else 1),
            xycoords=("axes fraction", "data"), textcoords="offset points",
            ha="right", va=side, fontsize=SMALL,
        )  # fmt: skip
    axes.set_xlim(-1, 1)
    axes.set_xticks([])
    axes.set_xlabel("mean")


def _names(lines: Sequence[Mapping[str, int]]) -> list[str]:
    """Return the decisions that get a colour each; none if there are too many for that."""
    names = sorted({name for decisions in lines for name in decisions})
    return names if len(names) <= _MOST_OPTIONS else []


def _draw_shares(
    axes: Any,
    groups: Sequence[CaseGroup],
    lines: Sequence[Mapping[str, int]],
    names: Sequence[str],
) -> None:
    labels = names or ["most frequent", "second", "third", "fourth", "fifth", "others"]
    for row, decisions in enumerate(lines):
        left, runs = 0.0, sum(decisions.values())
        for rank, (name, count) in enumerate(decisions.items()):
            number = names.index(name) if names else min(rank, len(labels) - 1)
            share = count / runs
            axes.barh(row, share, 0.78, left, color=COLOURS[number], edgecolor="white")
            if not names and len(name) <= _LETTERS * share:
                axes.text(
                    left + 0.008, row, name.replace("$", r"\$"), color="white", va="center",
                    fontsize=SMALL,
                )  # fmt: skip
            left += share
    marks = [f"{each.name}, n {each.case.runs}".replace("$", r"\$") for each in groups]
    axes.set_yticks(range(len(groups)), marks)
    axes.set_ylim(len(groups) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
    axes.set_xlabel("share of the case's runs")
    most = len(names) if names else min(max(map(len, lines)), len(labels))
    keys = [Patch(color=COLOURS[n], label=labels[n].replace("$", r"\$")) for n in range(most)]
    axes.legend(handles=keys, loc="lower left", bbox_to_anchor=(0, 1), ncols=3, borderaxespad=0.2)
