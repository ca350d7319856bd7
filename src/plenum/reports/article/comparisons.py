"""Section 5: contrasts, interactions, pooled effects and differences of fragility."""

import math
from collections.abc import Sequence

import numpy as np

from plenum.design.factors import FACTORS
from plenum.dynamics import Pooled
from plenum.dynamics.planning import detectable
from plenum.reports.article.document import Block, Points, Text
from plenum.reports.article.families import ALPHA, SHAKY, holds
from plenum.reports.article.material import Material, section
from plenum.reports.article.words import (
    between,
    capital,
    count,
    estimated,
    interval,
    listed,
    number,
    of_all,
    p_value,
    some,
    spelt,
    verb,
)
from plenum.reports.effects import Across, Effect
from plenum.reports.fragility import Change
from plenum.reports.rows import symbol

_FEW = 3
"""Up to this many contrasts that weren't shown are told with their estimates."""


def tests(material: Material) -> list[Block]:
    """What differs between conditions, what was not shown to, and what could have been."""
    study = material.study
    blocks: list[Block] = []
    if study.contrasts:
        blocks.append(Text(_how(material)))
        for factor in dict.fromkeys(effect.name.split(" ")[0] for effect in study.contrasts):
            own = [e for e in study.contrasts if e.name.split(" ")[0] == factor]
            blocks.append(Text(factor_told(factor, own, material.table("contrasts"))))
        blocks += material.grid("contrasts")
    if study.interactions:
        blocks += [Text(_interactions(material)), *material.grid("interactions")]
    if study.across:
        blocks += [*_pooled(material), *material.grid("pooled")]
    if material.changes:
        blocks += [Text(_fragilities(material))]
        blocks += material.grid(*material.named("compared"))
    return blocks or [Text(_nothing(material))]


def _nothing(material: Material) -> str:
    if len(material.rows) == 1:
        return "There is one condition, hence nothing to compare."
    return (
        "No two conditions could be compared: a contrast needs two estimated conditions that "
        "differ "
        "in one factor alone, or that read the same wordings."
    )


def _how(material: Material) -> str:
    effects = material.study.contrasts
    s = symbol([row for effect in effects for row in effect.cells])
    return (
        f"{material.table('contrasts')} sets each level of a factor against its reference with all "
        f"other factors held: Δ{s}, the difference of two slopes, per round. A difference "
        "counts as "
        "shown where p of the studentised permutation test, adjusted by Holm over the contrasts of "
        "the factor, is below 0.05 and the 95 % interval excludes 0."
    )


def factor_told(factor: str, own: Sequence[Effect], where: str) -> str:
    """The contrasts of a factor: what differs, what doesn't, and what may be read into it."""
    measured = [e for e in own if math.isfinite(e.contrast.value)]
    said = f"{capital(factor)}. "
    if not measured:
        n = count(len(own), "contrast")
        return (
            f"{said}{capital(n)} {verb(len(own), 'has', 'have')} no estimate, since a λ̂ is missing."
        )
    shown = shown_of(measured)
    split = [e for e in measured if e.p_holm < ALPHA and e not in shown]
    if shown:
        named = [_told(e, own) for e in shown]
        of = (
            f"{capital(of_all(len(shown), len(own)))} contrasts" if len(own) > 1 else "The contrast"
        )
        said += f"{of} {verb(len(shown), 'differs', 'differ')} from zero: {some(named, where)}."
    if split:
        which = count(len(split), "contrast")
        said += (
            f" In {which} the test rejects while the interval holds 0, so that no claim is made "
            f"({some([e_name(e, own) for e in split], where)})."
        )
    rest = [e for e in measured if e not in shown and e not in split]
    if rest:
        said += " " * (not said.endswith(" ")) + _not_shown(rest, own, bool(shown or split))
    return said + _room(shown)


def shown_of(effects: Sequence[Effect]) -> list[Effect]:
    """The effects that count as shown, the clearest first."""
    found = (e for e in effects if holds(e.p_holm, e.contrast.ci_low, e.contrast.ci_high))
    return sorted(found, key=lambda e: e.p_holm)


def e_name(effect: Effect, family: Sequence[Effect]) -> str:
    """A contrast, with what is held where other contrasts hold something else."""
    held = _held(effect.others, [e.others for e in family])
    name = effect.name.replace(" - ", " against ")
    return f"{name}, {held}" if held else name


def _held(own: dict[str, str], family: Sequence[dict[str, str]]) -> str:
    """The factors in which effects of a name differ: "in HL-01 at model uniform"."""
    varying = [n for n in FACTORS if own.get(n) and len({o.get(n) for o in family}) > 1]
    at = listed([f"{n} {own[n]}" for n in varying if n != "scenario"])
    where = [f"in {own['scenario']}"] if "scenario" in varying else []
    return " ".join([*where, *[f"at {at}"] * bool(at)])


def _told(effect: Effect, family: Sequence[Effect]) -> str:
    c, s = effect.contrast, symbol(effect.cells)
    return (
        f"{e_name(effect, family)} (Δ{s} = {estimated(c.value, c.ci_low, c.ci_high)}, "
        f"{_adjusted(effect.p_holm, len(family))}{_factor_of_growth(effect)})"
    )


def _factor_of_growth(effect: Effect) -> str:
    """What Δλ̂ comes to over the rounds that both cells share."""
    c = effect.contrast
    spans = [cell.rounds_used + cell.zero_rounds - 1 for cell in c.cells]
    if len(set(spans)) > 1 or spans[0] < 1:
        return ""
    times = [math.exp(v * spans[0]) for v in (c.value, c.ci_low, c.ci_high)]
    if max(times) > 1000:
        return ""
    return (
        f"; over the rounds of the fit the growth factor of D is {number(times[0], 2)} "
        f"{interval(times[1], times[2], 2)} times that of the reference"
    )


def _not_shown(rest: Sequence[Effect], own: Sequence[Effect], others: bool) -> str:
    """What wasn't shown to differ, with its estimates where these are few."""
    few = len(rest) <= _FEW
    if len(own) == 1:
        said = f"The contrast was not shown to differ from zero: {with_estimate(rest[0], own)}."
    elif few:
        lead = "The other contrast" if len(rest) == 1 else "The others" if others else (
            f"None of the {spelt(len(rest))} contrasts" if len(rest) > 2 else "Neither contrast"
        )  # fmt: skip
        verbed = "were not shown" if others and len(rest) > 1 else (
            "was not shown" if others else "was shown"
        )  # fmt: skip
        told = some([with_estimate(e, own) for e in rest])
        said = f"{lead} {verbed} to differ from zero: {told}."
    else:
        smallest = min((e.p_holm for e in rest if not math.isnan(e.p_holm)), default=math.nan)
        lead = f"The other {spelt(len(rest))} were not" if others else (
            f"None of the {spelt(len(rest))} contrasts was"
        )  # fmt: skip
        said = f"{lead} shown to differ from zero"
        said += "." if math.isnan(smallest) else f" (smallest adjusted {p_value(smallest)})."
    return said + " That is not evidence of no effect" + _detectable(rest)


def with_estimate(effect: Effect, family: Sequence[Effect]) -> str:
    """A contrast with its estimate and its p."""
    c, s = effect.contrast, symbol(effect.cells)
    told = f"Δ{s} = {estimated(c.value, c.ci_low, c.ci_high)}"
    return f"{e_name(effect, family)} ({told}, {_adjusted(effect.p_holm, len(family))})"


def _adjusted(p: float, family: int) -> str:
    """An adjusted p; in a family of one there is nothing to adjust for."""
    return f"{'adjusted ' * (family > 1)}{p_value(p)}"


def _detectable(rest: Sequence[Effect]) -> str:
    """The difference that could have been found at the realised n and spread."""
    found = [detectable(e.contrast.se, e.contrast.df) for e in rest]
    found = [d for d in found if math.isfinite(d)]
    if not found:
        return "."
    median = number(float(np.median(found)), 3)
    least = f"{between(found)} per round" + ", by contrast" * (len(found) > 1)
    least += f" (median {median})" if len(found) > 2 else ""
    return (
        ": with the realised n and spread, the least true difference that would have been found "
        f"with a power of 80 % is {least}{', before any adjustment' * (len(rest) > 1)}."
    )


def _room(shown: Sequence[Effect]) -> str:
    """What speaks against reading a contrast of slopes as one of growth."""
    suspect = [e for e in shown if set(SHAKY) & set(e.warnings)]
    if not suspect:
        return ""
    which = (
        "It compares"
        if len(shown) == 1
        else "All of those shown compare"
        if len(suspect) == len(shown)
        else f"{capital(spelt(len(suspect)))} of those shown "
        f"{verb(len(suspect), 'compares', 'compare')}"
    )
    names = suspicious(suspect)
    return (
        f" {which} conditions that carry {listed(names, 'or')} ({section('warnings')}): a "
        "difference "
        "of slopes need not be one of growth there."
    )


def suspicious(effects: Sequence[Effect]) -> list[str]:
    """The warnings with which a difference of slopes need not be one of growth."""
    return [w for w in SHAKY if any(w in e.warnings for e in effects)]


def _interactions(material: Material) -> str:
    own = [e for e in material.study.interactions if math.isfinite(e.contrast.value)]
    where = material.table("interactions")
    if not own:
        return (
            f"The interaction of roles and model has no estimate, since a λ̂ is missing ({where})."
        )
    shown = shown_of(own)
    said = (
        "The interaction of roles and model is the effect of roles in mixed line-ups minus "
        "that in "
        f"uniform ones ({where}; Student's t). "
    )
    if shown:
        named = [_interaction(e, own) for e in shown]
        of = (
            f"In {spelt(len(shown))} of {spelt(len(own))} it differs"
            if len(own) > 1
            else "It differs"
        )
        said += f"{of} from zero: {some(named, where)}.{_room(shown)}"
    rest = [e for e in own if e not in shown]
    if not rest:
        return said
    if len(own) == 1:
        (e,) = own
        said += f"It was not shown to differ from zero ({_interaction(e, own)})."
    elif shown:
        said += f" In the other {spelt(len(rest))} it was not shown to differ from zero."
    else:
        smallest = min(e.p_holm for e in rest)
        said += (
            f"In none of {spelt(len(own))} scenarios or settings was it shown to differ from zero "
            f"(smallest adjusted {p_value(smallest)})."
        )
    said += " That is not evidence of no interaction" + _detectable(rest)
    return said


def _interaction(effect: Effect, family: Sequence[Effect]) -> str:
    c = effect.contrast
    held = _held(effect.others, [e.others for e in family])
    told = f"{estimated(c.value, c.ci_low, c.ci_high)}, {_adjusted(effect.p_holm, len(family))}"
    return f"{held} ({told})" if held else told


def _pooled(material: Material) -> list[Block]:
    means = [a for a in material.study.across if isinstance(a.estimate, Pooled)]
    terms = [a for a in material.study.across if not isinstance(a.estimate, Pooled)]
    said = f"Scenarios are the units of what is pooled over them ({material.table('pooled')})."
    items = [_mean(across, means) for across in means]
    for a in terms:
        e, name = a.estimate, a.name.removeprefix("mixed model: ")
        value = estimated(e.value, e.ci_low, e.ci_high)
        told = f"{value} per round, adjusted {p_value(a.p_holm)}"
        items.append((f"Mixed model of the complete 2x2s, {name}.", f"{told}{_shown_or_not(a)}."))
    return [Text(said), Points(tuple(items))]


def _shown_or_not(across: Across) -> str:
    e = across.estimate
    return "" if holds(across.p_holm, e.ci_low, e.ci_high) else ", not shown to differ from zero"


def _mean(across: Across, family: Sequence[Across]) -> tuple[str, str]:
    """A pooled effect: its name, and what it is."""
    e = across.estimate
    held = _held(across.others, [a.others for a in family if a.name == across.name])
    name = across.name.replace(" - ", " against ") + (f", {held}" if held else "")
    lead = f"{capital(name)}."
    if math.isnan(e.value):
        return lead, "It could not be pooled."
    said = (
        f"A mean of {estimated(e.value, e.ci_low, e.ci_high)} per round over "
        f"{count(e.n, 'scenario')} (random effects, adjusted {p_value(across.p_holm)})"
        f"{_shown_or_not(across)}"
    )
    if isinstance(e, Pooled) and math.isfinite(e.prediction_low):
        said += (
            "; in a scenario that was not run the effect is expected within "
            f"{interval(e.prediction_low, e.prediction_high)}"
        )
    return lead, f"{said}."


def _fragilities(material: Material) -> str:
    """Differences of fragility, wording by wording."""
    found = [c for c in material.changes if not math.isnan(c.contrast.value)]
    if not found:
        return "No two conditions share wordings that both completed: fragility can't be compared."
    where = listed([material.table(n) for n in material.named("compared")])
    shown = [c for c in found if holds(c.p_holm, c.contrast.ci_low, c.contrast.ci_high)]
    said = (
        f"Fragility was compared wording by wording in {count(len(found), 'pair')} of "
        f"conditions ({where}). "
    )
    if shown:
        said += (
            f"It differs in {spelt(len(shown))}: "
            f"{some([_change(c, len(found)) for c in shown], where)}."
        )
    rest = [c for c in found if c not in shown]
    if len(found) == 1 and rest:
        said += f"It was not shown to differ: {_change(rest[0], 1)}."
    elif rest and shown:
        said += f" In the other {spelt(len(rest))} it was not shown to."
    elif rest:
        smallest = min(c.p_holm for c in rest)
        said += f"In none was it shown to differ (smallest adjusted {p_value(smallest)})."
    return said + " That is not evidence of no difference." * bool(rest)


def _change(change: Change, family: int) -> str:
    c = change.contrast
    at = change.others.get("scenario", "")
    name = f"{at}, {change.name}" if at else change.name
    return (
        f"{name.replace(' - ', ' against ')} ({estimated(c.value, c.ci_low, c.ci_high, 2)} over "
        f"{count(c.n, 'wording')}, {_adjusted(change.p_holm, family)})"
    )
