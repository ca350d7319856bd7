"""The picture of protocols: disagreement against quality, beside the mechanical curve."""

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

from matplotlib.ticker import PercentFormatter

from plenum.show.document import Picture
from plenum.show.style import COLOURS, GREY, PAGE, SMALL, apply_style, make_panels, save_figure
from plenum_verdicts.steadiness.judged_protocols import SteadyVerdict

_AREA = 45


def draw_steadiness(found: SteadyVerdict, folder: Path, kinds: Sequence[str]) -> Picture:
    """Draw protocols and controls by disagreement over wordings and accuracy, and the curve."""
    with apply_style():
        figure, panels = make_panels(1, 1, (PAGE, 3.4))
        axes = panels[0, 0]
        axes.plot([x for _, x, _ in found.curve], [y for _, _, y in found.curve],
                  color=GREY, marker=".", zorder=1)  # fmt: skip
        for size, x, y in found.curve[1:]:
            axes.annotate(f"{size}", (x, y), (0, -11), textcoords="offset points", fontsize=SMALL,
                          color=GREY, ha="center")  # fmt: skip
        for each, colour in zip(found.shown, cycle(COLOURS), strict=False):
            if each.stability is None:
                continue
            at, control = (each.stability, each.quality), each in found.controls
            area = _AREA * min(max(each.cost or 1.0, 0.3), 9)
            axes.scatter(*at, s=area, color=GREY if control else colour, zorder=2,
                         marker="x" if control else "o", alpha=0.8)  # fmt: skip
            # Marks of equal place must not hide each other's names.
            axes.annotate(each.name, at, (7, -11 if control else 6), textcoords="offset points",
                          fontsize=SMALL)  # fmt: skip
        axes.margins(0.15)
        axes.set_xlim(left=max(axes.get_xlim()[0], -0.04))
        axes.set_xlabel("two runs at different wordings differ (less is better)")
        axes.set_ylabel("accuracy")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(PercentFormatter(1))
        files = save_figure(figure, folder, "steadiness", kinds)
    shows = "Protocols by disagreement over wordings and accuracy"
    caption = (
        f"{shows}. The line has plurality votes of as many whole committees of the reference as "
        "its numbers say, at as many times the cost; area is cost, and crosses are controls."
    )
    return Picture(1, "steadiness", tuple(files), shows, caption, f"{shows}.")
