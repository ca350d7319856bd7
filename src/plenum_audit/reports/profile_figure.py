"""The picture of a reliability profile: what changes do, calibration, and risk over coverage."""

from pathlib import Path
from typing import Any

from matplotlib.ticker import PercentFormatter

from plenum.reports import COLOURS, GREY, PAGE, SMALL, apply_style, make_panels, save_figure
from plenum_audit.profiles import Predictability, ProfileEstimate, ReliabilityProfile
from plenum_audit.reports.outputs import REHEARSAL
from plenum_audit.reports.profile import CHANGES

_HEIGHT = 2.7


def draw_profile(profile: ReliabilityProfile, simulated: bool, folder: Path) -> list[Path]:
    """Draw consistency and robustness, and, with confidences, calibration and risk, as PNG and SVG.

    Parameters
    ----------
    simulated
        Simulated agents answered, which the figure says.
    """
    told = profile.predictability
    with apply_style():
        ratios = (1.25, 1, 1) if told is not None else (1,)
        figure, panels = make_panels(1, len(ratios), (PAGE, _HEIGHT), width_ratios=ratios)
        _draw_shares(panels[0, 0], profile)
        if told is not None:
            _draw_reliability(panels[0, 1], told)
            _draw_risk(panels[0, 2], told)
        if simulated:
            figure.suptitle(REHEARSAL.capitalize(), fontsize=SMALL, color=COLOURS[1])
        return save_figure(figure, folder, "profile")


def _draw_shares(axes: Any, profile: ReliabilityProfile) -> None:
    lines: list[tuple[str, ProfileEstimate]] = [("two runs differ", profile.disagreement)]
    for each in profile.robustness:
        lines.append((f"{CHANGES[each.change][0]}:\ndiffer more", each.differ_more))
        if each.score is not None:
            lines.append((f"{CHANGES[each.change][0]}:\nscore", each.score))
    if profile.spread is not None:
        lines.append((f"{profile.unit} differ", profile.spread))
    for row, (_, drawn) in enumerate(lines):
        if drawn.interval is not None:
            axes.plot(drawn.interval, [row, row], color=COLOURS[0], linewidth=1.5)
        axes.plot([drawn.value], [row], color=COLOURS[0], marker="o", markersize=4)
    axes.axvline(0, color=GREY, linewidth=0.8)
    axes.set_yticks(range(len(lines)), [name for name, _ in lines])
    axes.set_ylim(len(lines) - 0.5, -0.5)
    axes.xaxis.set_major_formatter(PercentFormatter(1))
    axes.set_title("Consistency and robustness: 0 is best", fontsize=SMALL)


def _draw_reliability(axes: Any, told: Predictability) -> None:
    axes.plot([0, 1], [0, 1], color=GREY, linestyle="--", linewidth=0.8)
    for each in told.calibration.bins:
        if each.right.interval is not None:
            axes.plot([each.stated] * 2, each.right.interval, color=COLOURS[0], linewidth=1)
        size = 3 + 40 * each.share
        axes.scatter([each.stated], [each.right.value], s=size, color=COLOURS[0], zorder=3)
    axes.set_xlabel("stated confidence\n")
    axes.set_ylabel("right")
    _percents(axes)
    axes.set_title("Calibration: on the line is best", fontsize=SMALL)


def _draw_risk(axes: Any, told: Predictability) -> None:
    x = [point.coverage for point in told.curve]
    axes.plot(x, [point.wrong.value for point in told.curve], color=COLOURS[1], marker="o",
              markersize=3)  # fmt: skip
    for point in told.curve:
        if point.wrong.interval is not None:
            axes.plot([point.coverage] * 2, point.wrong.interval, color=COLOURS[1], linewidth=1)
    axes.set_xlabel("runs acted on,\nmost confident first")
    axes.set_ylabel("wrong")
    _percents(axes)
    axes.set_title("Risk over coverage: low is best", fontsize=SMALL)


def _percents(axes: Any) -> None:
    axes.set_xlim(-0.03, 1.03)
    axes.set_ylim(-0.03, 1.03)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(PercentFormatter(1))
