"""Decisions of committees: shares of options, of no majority and of flips, a line a condition."""

from collections import Counter
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from plenum.dynamics.decisions import NO_MAJORITY, Share, estimate_share
from plenum.reports.figures import words
from plenum.reports.figures.options import choose_look, name_options
from plenum.reports.rows import Row, group_rows
from plenum.reports.study import EstimatedStudy
from plenum.show.style import GREY, PAGE, SMALL, make_panels, width

MOST = 40
"""Lines of a page, headings included."""

COLUMNS = 5
"""The largest number of columns of options; of more options the least frequent share one."""

OTHERS = "others"

_HIGH = 0.16
"""Height of a line in inches."""

_NAMES = 2.4
"""Largest width of the names of conditions, in inches."""

_FLIPS = "0.35"


Line = tuple[str, Row]
"""A name and the condition to draw."""


def decisions(study: EstimatedStudy) -> list[Figure]:
    """Draw the share of every option, of no majority and of flips, with their intervals."""
    rows = [row for row in study.rows if _has_own_decisions(row)]
    if not rows:
        return []
    names = words.list_distinguishing(rows)
    columns = list_columns(rows)
    pages = words.fill_pages(_groups(rows, names), MOST)
    return [_page(page, columns, (at, len(pages))) for at, page in enumerate(pages, start=1)]


def _has_own_decisions(row: Row) -> bool:
    """Return whether its replicates are decisions of their own: no continuations, no reruns."""
    t = row.tracked
    return row.summary is not None and bool(t.decisions) and not (t.after_round or t.rerun)


def list_columns(rows: Sequence[Row]) -> list[str]:
    """List the options of all conditions, the rarest of many together, and no majority."""
    options = words.option_labels(max(row.tracked.preferences.shape[-1] for row in rows))
    if len(options) <= COLUMNS:
        return [*options, NO_MAJORITY]
    counts = Counter(d for row in rows for d in row.tracked.decisions)
    kept = sorted(sorted(options, key=lambda label: -counts[label])[: COLUMNS - 1])
    return [*kept, OTHERS, NO_MAJORITY]


def estimate_option_share(row: Row, column: str, columns: Sequence[str]) -> Share | None:
    """Estimate the share of replicates with a decision; ``None`` if the case has no such option."""
    ends = row.tracked.decisions
    if column == OTHERS:
        return estimate_share(sum(decision not in columns for decision in ends), len(ends))
    own = words.option_labels(row.tracked.preferences.shape[-1])
    return estimate_share(ends.count(column), len(ends)) if column in (*own, NO_MAJORITY) else None


def _groups(rows: Sequence[Row], names: Sequence[str]) -> list[tuple[str, list[Line]]]:
    """Group the conditions, a line each, under their scenario if there are several."""
    cases = {
        words.clean(case, words.LONG): own
        for (case,), own in group_rows(rows, ["scenario"]).items()
    }
    headed = len(cases) > 1 and bool(names)
    return [
        (case if headed else "", [(words.spell_factors(row, names) or case, row) for row in own])
        for case, own in cases.items()
    ]


def _page(lines: Sequence[Line | str], columns: Sequence[str], place: tuple[int, int]) -> Figure:
    drawn = {at: line for at, line in enumerate(lines) if not isinstance(line, str)}
    rows = [row for _, row in drawn.values()]
    room = min(max(width(name) for name, _ in drawn.values()) + 0.6, _NAMES)
    plot = (PAGE - room) / (len(columns) + 1)
    heads = {column: _head(rows, column, plot) for column in (*columns, "flips")}
    high = _HIGH * len(lines) + 0.11 * max(head.count("\n") for head in heads.values()) + 0.6
    figure, (axes,) = make_panels(
        1, len(columns) + 2, (PAGE, high), sharey=True,
        width_ratios=(room, *[plot] * (len(columns) + 1)),
    )  # fmt: skip
    names, *plots = axes
    for at, line in enumerate(lines):
        if isinstance(line, str):
            words.write_text(names, 0, at, line, bold=True)
            continue
        words.write_text(names, 0, at, words.cut_to_width(line[0], room - 0.5))
        words.write_text(names, room - 0.45, at, f"n {words.format_replicates(line[1])}")
    for panel, column in zip(plots, heads, strict=True):
        _panel(panel, {at: row for at, (_, row) in drawn.items()}, column, columns)
        panel.set_title(heads[column], fontsize=SMALL + 0.5, loc="left")
    names.set_axis_off()
    names.set_xlim(0, room)
    names.set_ylim(len(lines) - 0.4, -0.6)
    figure.get_layout_engine().set(w_pad=0.08)  # type: ignore[union-attr, call-arg]
    words.write_caption(figure, "decisions", rows, page=place, others=OTHERS in columns)
    return figure


def _head(rows: Sequence[Row], column: str, plot: float) -> str:
    """Write the head of a column: the option with its name, if all conditions share it."""
    if column == "flips":
        return "flips"
    if column in (NO_MAJORITY, OTHERS):
        return name_options(column)
    shared = {row.tracked.options for row in rows}
    options = shared.pop() if len(shared) == 1 else ()
    place = words.option_labels(26).find(column)
    named = words.clean(f"{column} {options[place]}") if place < len(options) else column
    lines = words.wrap_letters(named, max(int(plot / 0.06), 8)).split("\n")
    fits = len(lines) <= 3 and max(width(line, SMALL + 0.5) for line in lines) <= plot - 0.1
    return "\n".join(lines) if fits else column


def _panel(axes: Axes, rows: Mapping[int, Row], column: str, columns: Sequence[str]) -> None:
    colour, marker = (_FLIPS, "d") if column == "flips" else choose_look(column)
    colour = GREY if column == OTHERS else colour
    for at, row in rows.items():
        assert row.summary is not None
        flips = row.summary.flip_rate
        found = flips if column == "flips" else estimate_option_share(row, column, columns)
        if found is None:
            axes.text(0.5, at, "no such option", ha="center", va="center", fontsize=SMALL,
                      color=GREY)  # fmt: skip
            continue
        axes.hlines(at, found.ci_low, found.ci_high, color=colour, lw=1.0)
        axes.plot(found.value, at, marker, color=colour, ms=3.8, clip_on=False, zorder=3,
                  mfc=colour if found.count else "white", mew=0.8)  # fmt: skip
        axes.text(1.27, at, str(found.count), ha="right", va="center", fontsize=SMALL)
    axes.set_xlim(-0.04, 1.3)
    axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    axes.spines["bottom"].set_bounds(0, 1)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0, labelleft=False)
    axes.grid(axis="x")
