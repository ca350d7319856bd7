"""The figure of rules: how much each steadies, and what it costs."""

import math
from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from plenum.reports.figures.words import add_sourced_caption
from plenum.show.phrases import space_words as in_words
from plenum.show.style import COLOURS, GREY, PAGE, SMALL, apply_style, make_panels
from plenum.tracking.conditions import TrackedCondition
from plenum_rules.tables import SECTIONS

_HIGH = 0.17
"""Height of a line in inches."""

_COLOURS = {"aggregation": COLOURS[0], "stopping": COLOURS[1], "control": GREY}


def draw_rules(frame: pd.DataFrame, conditions: Sequence[TrackedCondition]) -> Figure:
    """Draw the change of disagreement under each rule with its interval, and the tokens used.

    Parameters
    ----------
    frame
        The rules, as :func:`plenum_rules.evaluation.tabulate_rules` gives them.
    conditions
        Those that the runs are of: the caption tells where they come from.
    """
    shown = frame[frame["conditions"] > 0]
    with apply_style():
        size = (PAGE, _HIGH * (len(shown) + len(SECTIONS)) + 0.5)
        figure, axes = make_panels(1, 2, size, sharey=True, width_ratios=(3, 1))
        lines = _lines(shown)
        _draw_changes(axes[0, 0], shown, lines)
        _draw_costs(axes[0, 1], shown, lines)
        add_sourced_caption(figure, [_caption(shown)], conditions)
    return figure


def _lines(shown: pd.DataFrame) -> list[float]:
    """Place the rules from above, with a gap between kinds."""
    kinds = list(dict.fromkeys(shown["kind"]))
    return [n + 0.7 * kinds.index(kind) for n, kind in enumerate(shown["kind"])]


def _draw_changes(panel: Axes, shown: pd.DataFrame, lines: Sequence[float]) -> None:
    panel.axvline(0, color="black", linewidth=0.6)
    for line, rule in zip(lines, shown.to_dict("records"), strict=True):
        colour = _COLOURS[rule["kind"]]
        low, high = 100 * rule["ci_low"], 100 * rule["ci_high"]
        if math.isfinite(low):
            panel.plot([low, high], [line, line], color=colour, linewidth=1.2)
        face = colour if rule["p_holm"] < 0.05 else "white"
        value = 100 * rule["difference"]
        panel.plot([value], [line], marker="o", markersize=4, color=colour, markerfacecolor=face)
    panel.set_yticks(lines, [in_words(str(name)) for name in shown["rule"]])
    panel.invert_yaxis()
    panel.set_xlabel("change in the chance that two runs end differently, percentage points")
    panel.grid(axis="x", linewidth=0.3)


def _draw_costs(panel: Axes, shown: pd.DataFrame, lines: Sequence[float]) -> None:
    colours = [_COLOURS[kind] for kind in shown["kind"]]
    panel.barh(lines, 100 * shown["tokens"], color=colours, height=0.55)
    panel.axvline(100, color="black", linewidth=0.6)
    panel.set_xscale("symlog", linthresh=100)
    ticks = [0, 50, 100, 500]
    panel.set_xticks(ticks, [str(tick) for tick in ticks], fontsize=SMALL)
    panel.minorticks_off()
    panel.set_xlabel("tokens, % of the protocol's")


def _caption(shown: pd.DataFrame) -> str:
    widest = max(shown.to_dict("records"), key=lambda row: int(row["conditions"]))
    protocol, many = 100 * widest["protocol_disagreement"], int(widest["conditions"])
    return (
        f"Rules applied to the recorded runs of {many} condition{'s' if many > 1 else ''}. Under"
        f" the protocol two runs end differently with a chance of {protocol:.1f} %. Left of the"
        " line a rule steadies. Bars are 95 % intervals, which need ten conditions in which"
        " decisions differ; filled marks are shown after Holm's correction; controls (grey)"
        " aren't tested."
    )
