"""The tests of growth and of diffusion in words: what was shown, what wasn't, what could be."""

import math
from collections.abc import Sequence

from plenum.reports.article.families import ALPHA, Fit, Tested, hopeless, shaky
from plenum.reports.article.material import Kind, Material
from plenum.reports.article.words import (
    LISTED,
    between,
    capital,
    count,
    estimated,
    listed,
    of_all,
    p_value,
    some,
    spelt,
    verb,
)

_SHAKY = {
    "flip_dominated": "few replicates are behind that slope, and it is not to be taken for a rate",
    "few_apart": "most replicates stand together, and the slope is about the few that do not",
    "saturated": "the ceiling of D(t) bends that slope down",
}
"""What the warnings say that a claim about a slope can't be read without."""


def growth(material: Material, kind: Kind) -> str:
    """Which conditions grow or contract, adjusted over all."""
    found, where = kind.tested, _where(material, kind)
    said, verdict = _family(len(found), where), kind.verdicts
    for own, what in ((verdict.up, "Growth of D(t)"), (verdict.down, "Contraction")):
        if own:
            said += f" {what} was shown{_shown(material, own, len(found), where)}."
    said += _carried(material, [t.fit for t in (*verdict.up, *verdict.down)])
    said += _split(material, verdict.split, len(found), where)
    if verdict.rest:
        which = _rest(verdict.rest, len(found))
        said += f" Growth was not shown{which}, which is not evidence that there is none."
    return said + (_attainable(found) or _map(found))


def diffusion(material: Material, kind: Kind) -> str:
    """What is faster or slower than independent random walks, adjusted over all conditions."""
    found, s = kind.tested, kind.symbol
    null = between([t.fit.diagnostics.diffusion for t in found], 4)
    said = (
        f"{s} > 0 alone shows no amplification: independent random walks, which drift apart as the "
        f"square root of time, have λ = {null} over the same rounds."
    )
    verdict = kind.verdicts
    for own, what in ((verdict.faster, "above"), (verdict.slower, "below")):
        if own:
            names = _with_excess(own, material, len(found), _where(material, kind))
            said += f" {s} is {what} diffusion{_in(own, found)}: {names}."
    shown = [*verdict.faster, *verdict.slower]
    said += _carried(material, [t.fit for t in shown])
    if not shown:
        said += _none_beyond(found, s)
    elif len(shown) < len(found):
        rest = _rest(len(found) - len(shown), len(found))
        said += f" {capital(rest.strip())} it was not shown to differ from diffusion."
    return said + _figures(material, len(found))


def _where(material: Material, kind: Kind) -> str:
    """The table with the tests: their own, or that of the conditions where there is one alone."""
    names = (f"growth{kind.suffix}", f"conditions{kind.suffix}")
    return material.table(next(name for name in names if name in material.sheets))


def _family(n: int, where: str) -> str:
    if n == 1:
        return (
            "Random time reversal tests whether the distance grows at all. Growth counts as shown "
            f"where its p is below 0.05 and the interval excludes 0 ({where})."
        )
    return (
        "Random time reversal tests whether the distance grows at all. A condition counts as shown "
        f"where p, adjusted by Holm over the {spelt(n)} conditions, is below 0.05 and the interval "
        f"excludes 0 ({where})."
    )


def _shown(material: Material, own: Sequence[Tested], total: int, where: str) -> str:
    """How many were shown, and which, with λ̂ and p."""
    if total == 1:
        return f" ({p_value(own[0].growth_holm)})"
    told = []
    for t in own:
        e = t.fit.exponent
        value = estimated(e.value, e.ci_low, e.ci_high)
        told.append(f"{material.name(t.fit.row)} ({value}, adjusted {p_value(t.growth_holm)})")
    return f" in {of_all(len(own), total)}: {some(told, where)}"


def _split(material: Material, split: Sequence[Tested], total: int, where: str) -> str:
    """Where the test and the interval disagree."""
    if not split:
        return ""
    if total == 1:
        return " Time reversal rejects, but the interval does not exclude 0: no claim is made."
    names = material.name.several([t.fit.row for t in split], where)
    return (
        f" In {count(len(split), 'condition')} time reversal rejects while the interval does "
        "not exclude 0, so "
        f"that no claim is made: {names}."
    )


def _rest(rest: int, total: int) -> str:
    """Where something wasn't shown, after what was: "in the other two"."""
    if total == 1:
        return ""
    if rest == total:
        return " in either condition" if total == 2 else f" in any of the {spelt(total)}"
    return f" in the other {'condition' if rest == 1 else spelt(rest)}"


def _map(found: Sequence[Tested]) -> str:
    """What holds at a false discovery rate."""
    if len(found) < 2:
        return ""
    rejected = sum(t.growth_bh < ALPHA for t in found)
    return (
        " As a map, at a false discovery rate of 5 % (Benjamini-Hochberg), time reversal rejects "
        f"in {of_all(rejected, len(found))}."
    )


def _attainable(found: Sequence[Tested]) -> str:
    """Whether so few replicates could have shown anything: the least p is 2 / 2^R."""
    if not hopeless(found):
        return ""
    least = [2.0 ** (1 - t.fit.row.n) for t in found]
    replicates = listed([str(n) for n in sorted({t.fit.row.n for t in found})], "or")
    over = f", adjusted over {count(len(found), 'condition')}," if len(found) > 1 else ""
    return (
        f" With {replicates} replicates time reversal can't give a p below "
        f"{between(least)}: whatever the committees did, this test{over} could not have rejected."
    )


def _in(own: Sequence[Tested], found: Sequence[Tested]) -> str:
    if len(found) == 1:
        return ""
    return f" in {of_all(len(own), len(found))} after Holm's adjustment"


def _with_excess(own: Sequence[Tested], material: Material, total: int, where: str) -> str:
    """Conditions with what λ̂ exceeds diffusion by, and an adjusted p."""
    told = []
    for t in own:
        d = t.fit.diagnostics
        excess = f"difference {estimated(d.excess, d.excess_ci_low, d.excess_ci_high)}"
        p = f"{'adjusted ' * (total > 1)}{p_value(t.diffusion_holm)}"
        alone = len(material.rows) == 1
        told.append(f"{excess}, {p}" if alone else f"{material.name(t.fit.row)} ({excess}, {p})")
    return some(told, where)


def _none_beyond(found: Sequence[Tested], s: str) -> str:
    known = [t.diffusion_holm for t in found if not math.isnan(t.diffusion_holm)]
    if not known:
        return f" No test of {s} against diffusion exists here."
    if len(found) > 1:
        smallest = p_value(min(known))
        return (
            f" In no condition was {s} shown to differ from diffusion (smallest adjusted "
            f"{smallest})."
        )
    d = found[0].fit.diagnostics
    excess = estimated(d.excess, d.excess_ci_low, d.excess_ci_high)
    return (
        f" {s} was not shown to differ from diffusion (difference {excess}, {p_value(known[0])})."
    )


def _carried(material: Material, fits: Sequence[Fit]) -> str:
    """Which claims rest on a λ̂ that few replicates carry."""
    said = ""
    for warning, own in shaky(fits).items():
        if len(fits) == 1:
            lead = "This estimate"
        elif len(own) == len(fits):
            lead = capital(of_all(len(own), len(own)))
        elif len(own) > LISTED:
            lead = f"Of these, {spelt(len(own))}"
        else:
            lead = f"Of these, {listed([material.name(row) for row in own])}"
        said += f" {lead} {verb(len(own), 'carries', 'carry')} {warning}: {_SHAKY[warning]}."
    return said


def _figures(material: Material, n: int) -> str:
    own = [f"Figure {p.number}" for p in material.pictures if p.name == "divergence"]
    of_each = " of each condition" * (n > 1)
    return f" {listed(own)} {verb(len(own), 'shows', 'show')} D(t){of_each}." if own else ""
