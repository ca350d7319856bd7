"""Decisions in words: flip rate, disagreement, majorities."""

import math
from collections.abc import Sequence

from plenum.dynamics import Share
from plenum.reports.article.document import Block, Text
from plenum.reports.article.material import Material
from plenum.reports.article.words import count, estimated, number, of_all, percent
from plenum.reports.rows import Row


def decisions(material: Material) -> list[Block]:
    """How often replicates decide differently, and when a majority stands."""
    rows = material.decided.rows
    if not rows:
        return []
    said = _flips(material, rows)
    deliberated = [row for row in rows if not row.one_shot and row.n > 1]
    blocks: list[Block] = [Text(said)]
    if deliberated:
        blocks.append(Text(_majorities(material, deliberated)))
    return [*blocks, *material.grid("decisions")]


def _flips(material: Material, rows: Sequence[Row]) -> str:
    where = material.table("decisions")
    said = f"The flip rate is the share of replicates off the most frequent decision ({where})."
    if max(row.n for row in rows) < 2:
        return f"{said} With a single replicate it says nothing."
    top, highest = material.decided.top, material.decided.highest
    if top and top.count:
        if len(rows) == 1:
            said += f" It is {_of(top)}."
        elif len(highest) == len(rows):
            said += f" It is {number(top.value, 2)} in {of_all(len(rows), len(rows))} conditions."
        else:
            said += f" It is highest, {_of(top)},{_among(material, highest)}."
        said += _disagreements(material, rows, highest)
    return said + _alike(material)


def _among(material: Material, equal: Sequence[Row]) -> str:
    """Where a number is the same: in one condition by name, or in several."""
    if len(equal) == 1:
        return material.name.at(equal[0])
    return f" in {count(len(equal), 'condition')} ({material.name.several(equal)})"


def _disagreements(material: Material, rows: Sequence[Row], flipping: Sequence[Row]) -> str:
    pairs = [row for row in rows if not math.isnan(_disagreement(row).value)]
    if not pairs:
        return ""
    top = max((_disagreement(row) for row in pairs), key=lambda share: share.value)
    said = (
        " The probability that two replicates decide differently, which unlike the flip rate is "
        "not "
        f"biased at small n, is estimated at {_in(top)}"
    )
    highest = [row for row in pairs if _disagreement(row).value == top.value]
    if len(rows) == 1:
        return f"{said}."
    if highest == list(flipping):
        return f"{said} there."
    return f"{said} where it is highest,{_among(material, highest)}."


def _alike(material: Material) -> str:
    """Equal decisions prove nothing: what is still possible."""
    rows, same = material.decided.rows, material.decided.alike
    if not same:
        return ""
    n = max(row.n for row in same)
    lead = "All" if len(rows) == 1 else f"In {of_all(len(same), len(rows))} conditions all"
    return (
        f" {lead} replicates decided alike. That does not prove a stable committee: with n = {n}, "
        f"as many as {percent(material.decided.unseen)} could still decide otherwise (upper 95 % "
        "limit)."
    )


def _majorities(material: Material, rows: Sequence[Row]) -> str:
    """The stable reading: the first one carries little."""
    times = {row.tracked.run_id: row.summary.time_to_stable for row in rows if row.summary}
    reached = [row for row in rows if math.isfinite(times[row.tracked.run_id].median)]
    if not reached:
        return (
            "In no condition did half of the replicates reach a majority that stands to the end."
            if len(rows) > 1
            else "Fewer than half of the replicates reached a majority that stands to the end."
        )
    medians = {row.tracked.run_id: times[row.tracked.run_id].median for row in reached}
    first, last = min(medians.values()), max(medians.values())
    said = f"Half of the replicates have a majority that stands to the end by round {first:.0f}"
    early, late = ([r for r in reached if medians[r.tracked.run_id] == m] for m in (first, last))
    if len(rows) == 1:
        own = times[rows[0].tracked.run_id]
        said += f" ({own.events} of {own.n} reach one; Kaplan-Meier median)."
    elif first == last:
        said += f" in {of_all(len(early), len(rows))} conditions (Kaplan-Meier medians)."
    else:
        where = (
            material.name.at(early[0])
            if len(early) == 1
            else f" in {of_all(len(early), len(rows))} conditions"
        )
        said += f"{where}, and at the latest by round {last:.0f},{_among(material, late)}"
        said += ". These are Kaplan-Meier medians."
    never = [row for row in rows if row not in reached]
    if never:
        said += (
            f" In {count(len(never), 'condition')} fewer than half of the replicates reach one: "
            f"{material.name.several(never)}."
        )
    return said


def _disagreement(row: Row) -> Share:
    assert row.summary is not None
    return row.summary.disagreement


def _of(share: Share) -> str:
    return f"{share.count} of {share.n}, {_in(share)}"


def _in(share: Share) -> str:
    return estimated(share.value, share.ci_low, share.ci_high, 2)
