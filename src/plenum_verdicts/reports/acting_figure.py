"""The picture of the advice on acting alone: risk against coverage."""

from pathlib import Path
from typing import Any

from matplotlib.ticker import PercentFormatter

from plenum.show.style import COLOURS, GREY, PAGE, SMALL, apply_style, make_panels, save_figure
from plenum_verdicts.acting.choice import ActAdvice, ActRisk

_HEIGHT = 2.6


def draw_acting(advice: ActAdvice, folder: Path) -> list[Path]:
    """Draw what each number of runs acts on and gets wrong, with upper bounds, as PNG and SVG."""
    with apply_style():
        figure, panels = make_panels(1, 1, (PAGE, _HEIGHT))
        _draw_risk(panels[0, 0], advice)
        return save_figure(figure, folder, "acting")


def _draw_risk(axes: Any, advice: ActAdvice) -> None:
    acting = [each for each in advice.rules if each.acts.value > 0]
    least = min((each.acts.value for each in acting), default=0.0)
    wide = 1.05 - least
    near: list[list[ActRisk]] = []
    for each in acting:
        if not near or near[-1][0].acts.value - each.acts.value > 0.05 * wide:
            near.append([])
        near[-1].append(each)
        colour = COLOURS[0] if each.shown else GREY
        x = each.acts.value
        axes.plot([x, x], [each.wrong, each.at_most], color=colour, linewidth=1)
        axes.plot([x], [each.at_most], color=colour, marker="_", markersize=6)
        filled = colour if each.rule == advice.chosen else "white"
        axes.plot([x], [each.wrong], color=colour, marker="o", markerfacecolor=filled)
    for group in near:
        axes.annotate(
            "–".join(str(each.rule.runs) for each in dict.fromkeys((group[0], group[-1]))),
            (group[0].acts.value, max(each.at_most for each in group)),
            (0, 3), textcoords="offset points", ha="center",
        )  # fmt: skip
    axes.axhline(advice.risk, color="black", linestyle="--", linewidth=0.8)
    axes.annotate(
        f"risk {100 * advice.risk:.3g} %", (0, advice.risk), (2, 2),
        xycoords=("axes fraction", "data"), textcoords="offset points", fontsize=SMALL,
    )  # fmt: skip
    axes.set_xlim(least - 0.1 * wide, 1 + 0.05 * wide)
    axes.set_ylim(0, 1.12 * max(advice.risk, *(each.at_most for each in advice.rules)))
    axes.set_xlabel("cases that it acts on")
    axes.set_ylabel("wrong acts, up to the bound" if advice.known else "contradicted acts")
    axes.set_title("Numbers: runs that must agree. Blue: shown; filled: chosen.", fontsize=SMALL)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(PercentFormatter(1))
