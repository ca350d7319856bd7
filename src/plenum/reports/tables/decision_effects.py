"""The tables of decisions compared: disagreement, and the share of every decision."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from plenum.dynamics.decisions import NO_MAJORITY
from plenum.reports.decision_effects import DecisionEffect
from plenum.reports.effects import make_effect_frame
from plenum.reports.notes import write_notes
from plenum.reports.study import EstimatedStudy
from plenum.reports.tables.effects import make_factor_columns, tabulate_compared
from plenum.show.formats import (
    NO_DECISION,
    NONE,
    format_limits,
    format_number,
    format_p_value,
    format_warnings,
)
from plenum.show.table import Column, Table

LINES = 16
"""The largest number of lines of diagnostics, decisions and contrasts that are printed."""


def sort_effects(study: EstimatedStudy) -> list[DecisionEffect]:
    """List the differences of disagreement: contrasts, interactions, means over scenarios."""
    return [*study.decided, *study.decided_interactions, *study.decided_across]


def tabulate_decision_effects(study: EstimatedStudy) -> list[Table]:
    """Make the tables of disagreement and of shares; none where nothing is compared."""
    effects = sort_effects(study)
    if not effects:
        return []
    cells = [row for effect in effects for row in effect.cells]
    facts = {
        "interaction": bool(study.decided_interactions),
        "several": bool(study.decided_across),
        "paired": any(effect.estimate.method.startswith("swaps") for effect in effects),
        "drawn": any(effect.estimate.drawn for effect in effects),
        "draws": study.chosen.draws,
        "mixed_estimands": any("mixed_estimands" in effect.warnings for effect in effects),
    }
    sizes = {row.n for row in cells}
    alike = f" ({sizes.pop()} replicates in each)" if len(sizes) == 1 else ""
    like = Column(("like_low", "like_high"), "for scenarios\nlike these", format_limits(3))
    scenarios = (Column("scenarios"), like) if study.decided_across else ()
    parts = {"all else equal": effects}
    if len(effects) > LINES:  # each part alone may be short enough to be printed
        parts = {"all else equal": study.decided, "interactions": study.decided_interactions}
        parts["means over scenarios"] = study.decided_across
    tables = [
        Table(
            "decision_contrasts",
            f"Decisions compared: Δ of the pairwise disagreement, {what}{alike}",
            make_effect_frame(part, study.name),
            _columns(part, scenarios if part[-1] in study.decided_across else (), bool(alike)),
        )
        for what, part in parts.items()
        if part
    ]
    tables[-1] = replace(tables[-1], notes=write_notes("decision_contrasts", cells, **facts))
    shares = Table(
        "share_contrasts",
        "Decisions compared: Δ of the share of each, all else equal",
        make_effect_frame(study.shares, study.name),
        (
            *make_factor_columns(effects),
            Column("effect", "contrast", key=True),
            *scenarios[:1],
            Column("decision", format=_decision, key=True),
            Column("shares", format=_each),
            *tabulate_compared("Δ", 3),
        ),
        write_notes("share_contrasts", cells, **facts),
    )
    return [*tables, shares]


def _columns(
    part: Sequence[DecisionEffect], scenarios: tuple[Column, ...], equal: bool
) -> tuple[Column, ...]:
    size = () if equal else (Column("n"),)
    return (
        *make_factor_columns(part),
        Column("effect", "contrast", key=True),
        *scenarios[:1],
        Column("disagreement", format=_each),
        *tabulate_compared("Δ", 3),
        *scenarios[1:],
        Column("p_law", "p law", format_p_value),
        Column("p_law_holm", "Holm", format_p_value),
        *size,
        Column("warnings", format=format_warnings),
    )


def _each(values: Sequence[float] | Any) -> str:
    """Format the values of several conditions, one after the other."""
    return " ".join(format_number(value, 2) for value in values) or NONE


def _decision(label: str) -> str:
    return NO_DECISION if label == NO_MAJORITY else label
