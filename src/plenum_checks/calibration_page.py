"""The page and figure of the calibration. The page's text is in calibration.md.j2."""

import math
import platform
from collections.abc import Hashable
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from plenum.dynamics import INTERVALS
from plenum.reports import (
    COLOURS,
    MARKERS,
    PAGE,
    Column,
    Format,
    Table,
    add_caption,
    apply_style,
    format_decimals,
    format_lines,
    format_text,
    load_template,
    save_figure,
)
from plenum_checks import calibration, generators
from plenum_checks.calibration import (
    CALIBRATED,
    CONTRASTS,
    MORE,
    NULLS,
    POOLING,
    PROCESSES,
    Measurements,
)

TESTS = ("reversal", "reversal on the mean", "Wald, λ = 0", "Wald, diffusion", "shuffle (papers)")
PRECISE = f"{INTERVALS[0]}, {MORE} times the draws"
_FORMATS: dict[str, Format] = {
    **dict.fromkeys(("process", "arms", "measures", "method"), format_text),
    "λ": format_decimals(4),
    "bias": "{:+.4f}".format,
    "sd of λ̂": format_decimals(4),
    "width": format_decimals(3),
    "mean width": format_decimals(4),
}
"""Formats of columns; the others are shares, written in percent."""


def coverage(rows: pd.DataFrame, truth: float, method: str = "") -> float:
    """Return the share of draws whose interval contains the truth; a missing interval misses."""
    low, high = (rows[f"{method} {end}".strip()] for end in ("low", "high"))
    return float(((low <= truth) & (truth <= high)).mean())


def share_rejected(p: "pd.Series[float]") -> float:
    """Return the share of p-values below 5 % among those that exist."""
    return float((p.dropna() < 0.05).mean())


def intervals(measured: Measurements) -> pd.DataFrame:
    """Return bias, spread, coverage and width by process."""
    default, more = INTERVALS[0], measured["jackknives"].groupby("number")
    records = []
    for number, rows in measured["estimates"].groupby("number"):
        name, make = PROCESSES[int(str(number))]
        truth = make().exponent()
        records.append(
            {
                "process": name,
                "λ": truth,
                "bias": rows["value"].mean() - truth,
                "sd of λ̂": rows["value"].std(ddof=0),
                PRECISE: coverage(more.get_group(number), truth, default),
                **{method: coverage(rows, truth, method) for method in INTERVALS},
                "width": (rows[f"{default} high"] - rows[f"{default} low"]).median(),
                "`uneven`": rows["uneven"].mean(),
            }
        )
    return pd.DataFrame(records)


def growth(measured: Measurements) -> pd.DataFrame:
    """Return rates of rejecting no growth and diffusion, by process."""
    shares = measured["estimates"].groupby("number")[[*TESTS]].agg(share_rejected)
    shares.insert(0, "λ", [make().exponent() for _, make in PROCESSES])
    shares.insert(0, "process", [name for name, _ in PROCESSES])
    return shares.reset_index(drop=True)


def contrasts(measured: Measurements) -> pd.DataFrame:
    """Return size and power of the contrasts, and the coverage of their intervals."""
    records = []
    for number, rows in measured["contrasts"].groupby("number"):
        name, null, treated, control = CONTRASTS[int(str(number))]
        records.append(
            {
                "arms": name,
                "measures": "size" if null else "power",
                **{test: share_rejected(rows[test]) for test in ("permutation", "Welch")},
                "coverage of Δλ": coverage(rows, treated().exponent() - control().exponent()),
            }
        )
    return pd.DataFrame(records)


def tabulate_pooled(measured: Measurements) -> pd.DataFrame:
    """Return the coverage of the pooled interaction by method."""
    rows = measured["pools"]
    return pd.DataFrame(
        {
            "method": method,
            "coverage": coverage(rows, calibration.INTERACTION, method),
            "mean width": (rows[f"{method} high"] - rows[f"{method} low"]).mean(),
        }
        for method in POOLING
    )


def find_ranges(shares: pd.DataFrame, sizes: pd.DataFrame) -> dict[str, float]:
    """Return the range of coverage and size over the processes that must be calibrated.

    Parameters
    ----------
    shares, sizes
        Results of :func:`intervals` and :func:`growth`.
    """
    held = shares.set_index("process").loc[list(CALIBRATED)]
    size = sizes.set_index("process").loc[list(NULLS), TESTS[0]]
    return {
        "coverage_min": held[INTERVALS[0]].min(),
        "coverage_max": held[INTERVALS[0]].max(),
        "coverage_min_more_draws": held[PRECISE].min(),
        "coverage_max_more_draws": held[PRECISE].max(),
        "reversal_size_min": size.min(),
        "reversal_size_max": size.max(),
    }


def failures(shares: pd.DataFrame) -> list[dict[Hashable, object]]:
    """Return processes covered below 90 % by the default interval, with the best alternative."""
    return [
        {**record, "best": max(INTERVALS[1:], key=lambda method: record[method])}
        for record in shares.to_dict("records")
        if record[INTERVALS[0]] < 0.9
    ]


def figure(shares: pd.DataFrame, sizes: pd.DataFrame) -> Figure:
    """Draw the coverage of every interval and the rejections of every test, by process."""
    drawn, (left, right) = plt.subplots(
        1, 2, figsize=(PAGE, 0.21 * len(shares) + 1.2), sharey=True, layout="constrained"
    )
    left.axvspan(93.5, 96.5, color="0.9", zorder=0)
    left.axvline(95, color="0.6", lw=0.8, zorder=0)
    _shares(left, shares, INTERVALS, "coverage of nominal 95 % intervals, %")
    right.axvline(5, color="0.6", lw=0.8, zorder=0)
    _shares(right, sizes, TESTS, "rejected at a nominal 5 %, %")
    add_caption(drawn, ["simulated ensembles with known λ, R = T = 20, K = 3"])
    return drawn


def _shares(axes: Axes, frame: pd.DataFrame, columns: tuple[str, ...], label: str) -> None:
    """Draw columns of shares, the first in black and filled."""
    places = np.arange(len(frame))[::-1]
    styles = zip(MARKERS, (COLOURS[-1], *COLOURS[:-1]), columns, strict=False)
    for marker, colour, name in styles:
        filled = colour if name == columns[0] else "none"
        axes.plot(100 * frame[name], places, marker, color=colour, label=name, mfc=filled)
    named = zip(frame["process"], frame["λ"], strict=True)
    axes.set_yticks(places, [f"{process} (λ = {exponent:.3f})" for process, exponent in named])
    axes.set_xlabel(label)
    axes.grid(axis="y")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)


def page(measured: Measurements, draws: int) -> str:
    """Return the text of docs/calibration.md."""
    shares, sizes = intervals(measured), growth(measured)
    return load_template(
        Path(__file__).parent / "calibration.md.j2", percent=percent, table=table
    ).render(
        settings=vars(calibration),
        rounds=generators.ROUNDS,
        draws=draws,
        error=f"{100 * math.sqrt(0.95 * 0.05 / draws):.1f}",
        python=platform.python_version(),
        numpy=np.__version__,
        reached=find_ranges(shares, sizes),
        failures=failures(shares),
        default=INTERVALS[0],
        intervals=shares,
        growth=sizes,
        contrasts=contrasts(measured),
        pooled=tabulate_pooled(measured),
    )


def percent(value: float) -> str:
    """Format a share in percent with one decimal."""
    return f"{100 * value:.1f}"


def table(frame: pd.DataFrame) -> str:
    """Format a frame as Markdown."""
    names = map(str, frame.columns)
    columns = tuple(Column(name, name, _FORMATS.get(name, percent)) for name in names)
    return format_lines(Table("calibration", "Calibration", frame, columns))


def publish(draws: int, workers: int, out: Path) -> dict[str, float]:
    """Measure, write the page and the figure, and return the coverage and size reached."""
    measured = calibration.measure(draws, workers)
    shares, sizes = intervals(measured), growth(measured)
    with apply_style():
        drawn = figure(shares, sizes)
    save_figure(drawn, out / "images", "calibration", ("png",))
    written = page(measured, draws)
    (out / "calibration.md").write_text(written, encoding="utf-8")
    print("\n".join(line for line in written.splitlines() if "(to reach: " in line))
    print(f"written: {out / 'calibration.md'}, {out / 'images' / 'calibration.png'}")
    return find_ranges(shares, sizes)
