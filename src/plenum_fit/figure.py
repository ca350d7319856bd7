"""The figure of a fit: predictions for scenarios that the model never saw, and the records."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from plenum.reports import COLOURS, MARKERS, PAGE, add_caption, apply_style, make_panels

_PANELS = {
    "disagreement": "Disagreement",
    "divergence": "D, last round",
    "switches": "Switches per seat",
    "majority": "First majority, round",
}


def draw_predictions(frame: pd.DataFrame, model: str, origin: str) -> Figure:
    """Draw predicted against recorded statistics, a panel each, a mark a condition.

    Parameters
    ----------
    frame
        Predictions of one model in one setting, as
        :func:`plenum_fit.tables.tabulate_predictions` lists them.
    model, origin
        The model's name, and where the runs come from, for the caption.
    """
    with apply_style():
        figure, axes = make_panels(1, len(_PANELS), (PAGE, 2.5))
        groups = list(frame.groupby(["roles", "line_up"], sort=True))
        for panel, (name, title) in zip(axes.flat, _PANELS.items(), strict=True):
            _draw_panel(panel, name, groups)
            panel.set_title(title)
        axes[0, 0].set_ylabel("predicted")
        handles, texts = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, texts, loc="outside upper left", ncols=len(groups))
        caption = (
            f"Predictions by the model {model}, which was fitted to the other scenarios and"
            f" goes on from the recorded first round, against what was recorded; {len(frame)}"
            " conditions."
            " The line is where both are equal."
        )
        add_caption(figure, [caption, f"simulated agents, fitted to runs of {origin}"])
    return figure


def _draw_panel(panel: Axes, name: str, groups: Sequence[tuple[object, pd.DataFrame]]) -> None:
    high = 0.0
    for number, (key, group) in enumerate(groups):
        roles, line_up = key if isinstance(key, tuple) else (key, "")
        recorded, predicted = group[f"recorded_{name}"], group[f"predicted_{name}"]
        high = max(high, recorded.max(), predicted.max())
        panel.plot(
            recorded,
            predicted,
            linestyle="none",
            marker=MARKERS[number % len(MARKERS)],
            markersize=4,
            color=COLOURS[number % len(COLOURS)],
            alpha=0.8,
            fillstyle="none",  # so that marks on one another are seen
            label=f"roles={roles}, model={line_up}",
        )
    low = 1.0 if name == "majority" else 0.0
    panel.plot([low, high], [low, high], color="0.4", linewidth=0.8)
    ticks = [float(tick) for tick in MaxNLocator(4).tick_values(low, high) if tick <= high]
    panel.set_xticks(ticks)
    panel.set_yticks(ticks)
    panel.set_xlabel("recorded")
