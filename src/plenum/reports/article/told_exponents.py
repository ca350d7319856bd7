"""λ̂ in words: where there is one, the extremes, and on which side of 0 its intervals lie."""

import math
from collections.abc import Sequence

from plenum.reports.article.families import Fit, excludes
from plenum.reports.article.material import Kind, Material, section
from plenum.reports.article.words import capital, count, estimated, listed, of_all, verb
from plenum.reports.rows import Row

NO_SLOPE = {
    "identical": "all replicates were identical in the rounds of the fit (D = 0)",
    "short": "fewer than two rounds of the fit have D > 0",
    "single": "only one replicate was completed",
    "no_replicates": "no replicate was completed",
    "no_estimates": "the run was interrupted before its estimates",
}
"""Why a condition has no λ̂, by its status."""


def found(material: Material, kind: Kind) -> str:
    """Where λ̂ could be estimated, and what it is."""
    fits, s = kind.fits, kind.symbol
    rows = [row for row in kind.rows if not row.tracked.rerun]
    said = ""
    if kind.perturbed:
        said = (
            f"{s} is the growth rate of the distance between deliberations that read the case in "
            "different words, and no λ̂ between repeats. "
        )
    said += _how_many(material, kind, len(fits), len(rows))
    if len(fits) < len(rows):
        said += _without(material, rows)
    if len(rows) == len(fits) == 1:
        said += f" It is {_value(fits[0])}."
    elif fits:
        said += _extremes(material, fits, s)
    said += _intervals(fits, s)
    again = len(kind.rows) - len(rows)
    if again:
        said += (
            f" {capital(count(again, 'further line'))} of the table {verb(again, 'is', 'are')} of "
            "reruns of the same condition, which are no further evidence and enter no test."
        )
    return said


def _how_many(material: Material, kind: Kind, fits: int, n: int) -> str:
    where, s = material.table(f"conditions{kind.suffix}"), kind.symbol
    if n == 1:
        return (
            f"{s} {'could' if fits else 'could not'} be estimated in the one condition ({where})."
        )
    return f"{s} could be estimated in {of_all(fits, n)} conditions ({where})."


def _without(material: Material, rows: Sequence[Row]) -> str:
    """The conditions that have no λ̂, by why."""
    said = ""
    for status, why in NO_SLOPE.items():
        own = [row for row in rows if row.status == status]
        if own and len(rows) == 1:
            said += f" The reason: {why}."
        elif len(own) == len(rows):
            said += f" The reason, in {of_all(len(own), len(own))}: {why}."
        elif own:
            names = material.name.several(own, "named in the table")
            said += f" There is none where {why}: {names}."
    return said


def _value(fit: Fit) -> str:
    e = fit.exponent
    return f"{estimated(e.value, e.ci_low, e.ci_high)} per round (95 % interval, n = {fit.row.n})"


def _extremes(material: Material, fits: Sequence[Fit], s: str) -> str:
    """The most and the least divergent condition, and what warns of them."""
    at = material.name.at
    if len(fits) == 1:
        return f" It is {_value(fits[0])}{at(fits[0].row)}."
    ordered = sorted(fits, key=lambda f: f.exponent.value)
    least, most = ordered[0], ordered[-1]
    several = len(fits) > 2
    said = (
        f" It is {'largest' if several else 'larger'}{at(most.row)}, {s} = {_value(most)}, and "
        f"{'smallest' if several else 'smaller'}{at(least.row)}, {s} = {_value(least)}. "
    )
    if several:
        said += "The largest and the smallest of several estimates are extreme partly by chance; "
    said += f"{'w' if several else 'W'}hether conditions differ is tested in {section('tests')}."
    flipped = [f.row for f in (most, least) if "flip_dominated" in f.exponent.warnings]
    if flipped:
        one = f"The estimate{at(flipped[0])} carries"
        said += (
            f" {'Both carry' if len(flipped) == 2 else one} the warning flip_dominated: few "
            f"replicates are behind {s}, and no interval is to be believed ({section('warnings')})."
        )
    return said


def _intervals(fits: Sequence[Fit], s: str) -> str:
    """On which side of 0 the intervals lie."""
    if not fits:
        return ""
    ends = [(f.exponent.ci_low, f.exponent.ci_high) for f in fits]
    ends = [(low, high) for low, high in ends if math.isfinite(low) and math.isfinite(high)]
    if len(fits) == 1:
        if not ends:
            return f" {s} has no interval."
        ((low, high),) = ends
        outside = f"lies {'above' if low > 0 else 'below'} 0"
        return f" The interval {outside if excludes(low, high) else 'holds 0'}."
    above, below = sum(low > 0 for low, _ in ends), sum(high < 0 for _, high in ends)
    sides = {
        "lies above 0": above,
        "holds 0": len(ends) - above - below,
        "lies below 0": below,
        "doesn't exist": len(fits) - len(ends),
    }
    told = [f"{side} in {of_all(n, len(fits))}" for side, n in sides.items() if n]
    return f" The 95 % interval, unadjusted, {listed(told)} conditions."
