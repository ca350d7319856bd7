"""The table of rules, as a reader sees it."""

import math
from collections.abc import Iterator

import pandas as pd

from plenum.reports.labels import origin
from plenum.show.formats import (
    NONE,
    format_count,
    format_finite,
    format_limits,
    format_p_value,
    format_percent,
)
from plenum.show.phrases import space_words
from plenum.show.table import Column, Table
from plenum_rules.evaluation import Evaluation

SECTIONS = {
    "aggregation": "Other rules of aggregation, after all rounds",
    "stopping": "Earlier ends, decided by a majority of the states' tops",
    "control": "Controls that a rule must beat",
}
"""The titles of the tables, by the kind of their rules."""


def make_tables(frame: pd.DataFrame, evaluated: Evaluation) -> list[Table]:
    """Make one table a kind of rules; the last one has the notes."""
    there = [kind for kind in SECTIONS if (frame["kind"] == kind).any()]
    notes = (*_notes(frame), origin(evaluated.conditions))
    return [
        Table(
            name="rules",
            title=SECTIONS[kind],
            frame=frame[frame["kind"] == kind],
            columns=_columns(kind),
            notes=notes if kind == there[-1] else (),
        )
        for kind in there
    ]


def _columns(kind: str) -> tuple[Column, ...]:
    tested = (Column("p_holm", "Holm", format_p_value), Column("beaten_by", format=_names))
    compared = () if kind == "control" else tested
    rounds = (Column("rounds", format=format_finite(1)),) if kind == "stopping" else ()
    return (
        Column("rule", format=space_words, key=True),
        Column("meaning"),
        Column("disagreement", "differ", format_percent),
        Column(("difference", "ci_low", "ci_high"), "change [95 % CI]", _change),
        Column(("like_low", "like_high"), "for scenarios like these", _limits),
        *compared,
        Column("changed", format=format_percent),
        Column("undecided", "none", format_percent),
        *rounds,
        Column("tokens", format=format_percent),
    )


def _notes(frame: pd.DataFrame) -> Iterator[str]:
    rows = frame.to_dict("records")
    widest = max(rows, key=lambda row: int(row["conditions"]))
    protocol, most = widest["protocol_disagreement"], int(widest["conditions"])
    fewer = [
        f"{space_words(r['rule'])} in {r['conditions']}" for r in rows if r["conditions"] < most
    ]
    yield (
        f"Differ: the chance that two runs of a condition end differently. Under the protocol it is"
        f" {format_percent(protocol)}, in the mean over {format_count(most)}"
        f" condition{'s' if most > 1 else ''}."
    )
    if fewer:
        yield f"Not every condition has what each rule needs: {', '.join(fewer)}."
    yield from (
        "Change: in percentage points of that chance; below zero a rule steadies. Intervals and"
        " tests are for these conditions and other runs of them (jackknife over runs), and need ten"
        " conditions of ten runs in which decisions differ. For scenarios like these: Student's t"
        " over scenarios, ten or more with equally many conditions.",
        "Changed: the share of runs that end differently. None: the share without a"
        " decision. Tokens: what a decision takes, of what it takes under the protocol.",
        "A control beats a rule if it is as good in these three respects, and better in one.",
        "The rules are applied to what was recorded: no model was called. Agents who know that"
        " they may be stopped could have argued differently.",
    )


def _change(difference: float, low: float, high: float) -> str:
    if not math.isfinite(difference):
        return NONE
    limits = f" {_limits(low, high)}" if math.isfinite(low) else ""
    return f"{100 * difference:+.1f}{limits}"


def _limits(low: float, high: float) -> str:
    return format_limits(1)(100 * low, 100 * high) if math.isfinite(low) else NONE


def _names(text: str) -> str:
    return ", ".join(map(space_words, text.split())) or NONE
