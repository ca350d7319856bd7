"""The tables of effects: contrasts, interactions, and effects pooled over scenarios."""

from collections.abc import Callable, Sequence

from plenum.design.factors import FACTORS, list_varying
from plenum.dynamics.contrasts import Contrast
from plenum.dynamics.estimate import Estimate
from plenum.dynamics.growth_contrasts import GrowthContrast
from plenum.reports.effects import Effect, make_effect_frame
from plenum.reports.notes import write_notes
from plenum.reports.rows import Row, symbol
from plenum.show.formats import (
    NONE,
    format_decimals,
    format_finite,
    format_limits,
    format_or_dash,
    format_p_value,
    format_significant,
    format_warnings,
)
from plenum.show.table import Column, Format, Table


def tabulate_contrasts(
    effects: Sequence[Effect[Contrast]], rows: Sequence[Row], *, interaction: bool = False
) -> list[Table]:
    """Make the table with one line a contrast, with D first and headroom of its conditions."""
    if not effects:
        return []
    cells = [row for effect in effects for row in effect.cells]
    exponent = symbol(cells)
    columns = (
        *make_factor_columns(effects),
        Column("effect", "contrast", key=True),
        *tabulate_compared(f"Δ{exponent}", 4),
        Column("p_bh", "BH", format_p_value),
        Column("n"),
        Column("d_first", "D first", _each(format_significant(2))),
        Column("headroom", format=_each(format_finite(2))),
        Column("warnings", format=format_warnings),
    )
    legend = write_notes(
        "contrasts",
        rows,
        interaction=interaction,
        welch=any(effect.estimate.method == "Welch jackknife" for effect in effects)
        and any(row.tracked.outline for row in rows),
        any_perturbed=any(row.tracked.perturbed for row in cells),
        wordings_met={row.estimand for row in cells} != {"lambda"},
        mixed_estimands=any("mixed_estimands" in effect.warnings for effect in effects),
    )
    title = f"Contrasts: Δ{exponent} to the reference, all else equal"
    if interaction:
        title = "Interaction: (both - roles) - (mixed - neither)"
    name = "interactions" if interaction else "contrasts"
    return [Table(name, title, make_effect_frame(effects, cells[0].tracked.study), columns, legend)]


def tabulate_growth(effects: Sequence[Effect[GrowthContrast]], rows: Sequence[Row]) -> list[Table]:
    """Make the table of growth compared; means over scenarios have an interval for others, too."""
    if not effects:
        return []
    several = any(not effect.cells for effect in effects)
    like = Column(("like_low", "like_high"), "for scenarios\nlike these", format_limits(4))
    columns = (
        *make_factor_columns(effects),
        Column("effect", "contrast", key=True),
        *((Column("scenarios"),) if several else ()),
        Column("growth", "typical pairs", format=_each(format_finite(3))),
        *tabulate_compared("Δ", 4),
        *((like,) if several else ()),
        Column("n"),
    )
    title = "Growth of a typical pair compared: Δ to the reference, all else equal"
    found = make_effect_frame(effects, rows[0].tracked.study)
    return [Table("growth_contrasts", title, found, columns, write_notes("growth_contrasts", rows))]


def tabulate_compared(label: str, digits: int) -> tuple[Column, ...]:
    """Make the columns of a difference: its value, interval, p and adjusted p."""
    return (
        Column("estimate", label, format_decimals(digits)),
        Column(("ci_low", "ci_high"), "95 % CI", format_limits(digits)),
        Column("p", format=format_p_value),
        Column("p_holm", "Holm", format_p_value),
    )


def tabulate_pooled(effects: Sequence[Effect[Estimate]], rows: Sequence[Row]) -> list[Table]:
    """Make the table of effects pooled over scenarios."""
    if not effects:
        return []
    columns = (
        *make_factor_columns(effects),
        Column("effect", key=True),
        Column("scenarios"),
        *tabulate_compared("estimate", 4),
        Column("tau", "τ", format_decimals(4)),
        Column("pooling", "warnings", format_warnings),
    )
    carried = dict.fromkeys(name for effect in effects for name in effect.carried)
    table = make_effect_frame(effects, rows[0].tracked.study)
    table["pooling"] = [" ".join(effect.warnings) for effect in effects]
    legend = write_notes("pooled", rows, carried=list(carried))
    return [Table("pooled", "Pooled over scenarios", table, columns, legend)]


def make_factor_columns(effects: Sequence[Effect[Estimate]], *always: str) -> list[Column]:
    """Make the columns of the factors in which effects differ, and of those named.

    A dash marks a factor that isn't held.
    """
    shown = {*list_varying(effect.others for effect in effects), *always}
    return [Column(n, n, format_or_dash, key=True) for n in FACTORS if n in shown]


def _each(format: Callable[[float], str]) -> Format:
    """Format the values of several cells, one after the other."""
    return lambda values: " ".join(map(format, values)) or NONE
