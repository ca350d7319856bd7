"""Fragility and branches in words."""

import math

from plenum.dynamics import Branching
from plenum.reports.article.decided import fragility as measured
from plenum.reports.article.document import Block, Text
from plenum.reports.article.families import ALPHA, excludes
from plenum.reports.article.material import Material
from plenum.reports.article.words import count, estimated, of_all, p_value
from plenum.reports.rows import Row


def fragility(material: Material) -> list[Block]:
    """How often a wording changes the decision."""
    rows = [row for row in material.rows if row.wordings]
    if not rows:
        return []
    grid = material.grid("fragility")
    have = material.decided.fragile
    said = (
        "Fragility is the share of wordings that decide otherwise than the canonical wording "
        f"({material.table('fragility')})."
    )
    if not have:
        return [Text(f"{said} It could not be measured: no canonical wording completed."), *grid]
    least, most = have[0], have[-1]
    at = material.name.at
    if len(have) == 1:
        said += f" It is {_share(most)}{at(most) if len(rows) > 1 else ''}."
    elif measured(most).value == measured(least).value:
        said += f" It is {_share(most)} in {of_all(len(have), len(rows))} conditions."
    else:
        said += f" It is lowest{at(least)}, {_share(least)}, and highest{at(most)}, {_share(most)}."
    said += (
        " The canonical decision is taken as given: where it is the odd one out, all other "
        "wordings count as changed."
    )
    own = [f"Figure {p.number}" for p in material.pictures if p.name == "hosted"]
    said += f" {own[0]} shows it by condition." if own else ""
    return [Text(said), *grid]


def _share(row: Row) -> str:
    share = measured(row)
    told = estimated(share.value, share.ci_low, share.ci_high, 2)
    return f"{share.value * share.n:g} of {share.n} or {told}"


def branching(material: Material, row: Row) -> str:
    """Whether continuations of one state part."""
    found = row.branches
    if found is None:
        return f"Continuations ({material.name(row)}): they have no estimate yet."
    gamma = found.gamma
    said = (
        f"With {count(found.bases, 'base state')}, each continued {found.branches} times after "
        f"round {row.tracked.after_round}, Γ̂ is "
        f"{estimated(gamma.value, gamma.ci_low, gamma.ci_high)} ({material.table('branching')}; "
        "interval over base states). All continuations of a base begin in one state, so that Γ̂ "
        "can't be negative: Γ̂ > 0 certifies noise, nothing more."
    )
    return said + _signed(found) + _memory(found)


def _signed(found: Branching) -> str:
    signed = found.signed
    if math.isnan(signed.value):
        return " The signed growth could not be computed."
    said = (
        " The signed growth beyond diffusion is "
        f"{estimated(signed.value, signed.ci_low, signed.ci_high)}"
    )
    if not math.isfinite(signed.ci_low):
        return f"{said}; without an interval it shows nothing."
    if not (side := growth_beyond(found)):
        return f"{said}: its interval holds 0, so that nothing other than diffusion was shown."
    return f"{said}: its interval excludes 0, on the side of {side}."


def growth_beyond(found: Branching) -> str:
    """What the signed growth of branches was shown to be; empty for no more than diffusion."""
    signed = found.signed
    if not excludes(signed.ci_low, signed.ci_high):
        return ""
    return "amplification" if signed.value > 0 else "contraction"


def _memory(found: Branching) -> str:
    if math.isnan(found.c_p):
        return ""
    p = p_value(found.c_p)
    if found.c_p < ALPHA:
        return (
            f" Preferences are more alike within bases than across them ({p}), which shows memory "
            "of the base state; contraction and expansion both give it."
        )
    return f" Preferences were not shown to be more alike within bases than across them ({p})."
