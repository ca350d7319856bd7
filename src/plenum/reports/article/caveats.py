"""Sections 6 and 8: warnings in plain words, and what can't be concluded from what there is."""

from collections.abc import Iterator

from plenum.dynamics.warnings import WARNINGS, Warned
from plenum.reports.article.document import Block, Points, Text
from plenum.reports.article.material import Material, section
from plenum.reports.article.question import MIRRORED
from plenum.reports.article.words import (
    between,
    capital,
    count,
    counts_between,
    listed,
    of_all,
    verb,
)
from plenum.reports.rows import Row, in_other_environments

_UNKNOWN = Warned("", "", "", "the estimates carry it", "see the documentation of estimates")
"""What is said of a warning that isn't known."""

_FEW = 10


def warnings(material: Material) -> list[Block]:
    """Each warning that occurs, what it means, and for which conditions."""
    carried = _carried(material)
    effects = [*material.study.contrasts, *material.study.interactions]
    own = {name for effect in effects for name in effect.warnings}
    own |= {name for across in material.study.across for name in across.warnings}
    of_effects = own - set(carried)
    names = [n for n in WARNINGS if n in carried or n in of_effects]
    names += sorted((set(carried) | of_effects) - set(names))
    if not names:
        return [Text("No estimate carries a warning.")]
    items = []
    for name in names:
        known = WARNINGS.get(name, _UNKNOWN)
        rows = carried.get(name, [])
        where = _where(material, rows) if rows else "Compared or pooled effects carry it."
        items.append((name, f"{capital(known.seen)}: {known.so}. {where}"))
    n = len({row.tracked.run_id for rows in carried.values() for row in rows})
    total = len(material.rows)
    lead = (
        f"{capital(of_all(n, total))} {'conditions ' if total > 1 else ''}"
        f"{verb(n, 'carries', 'carry')} warnings."
        if total > 1
        else "The condition carries warnings."
        if n
        else "The condition itself carries no warning."
    )
    return [Text(lead), Points(tuple(items))]


def _carried(material: Material) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in material.rows:
        for name in row.warnings:
            if WARNINGS.get(name, _UNKNOWN).seen:
                found.setdefault(name, []).append(row)
    return found


def _where(material: Material, rows: list[Row]) -> str:
    if len(material.rows) == 1:
        return "It concerns the only condition."
    if len(rows) == len(material.rows):
        return f"{capital(of_all(len(rows), len(rows)))} conditions carry it."
    if len(rows) == 1:
        return f"One condition carries it: {material.name(rows[0])}."
    return (
        f"{capital(count(len(rows), 'condition'))} carry it: "
        f"{material.name.several(rows, _table(material))}."
    )


def _table(material: Material) -> str:
    """Where the conditions that a long list leaves out are named."""
    return listed([material.table(name) for name in material.named("conditions")])


def limits(material: Material) -> list[Block]:
    """What the study can't show, generated from what it holds."""
    return [Points((*_of_agents(material), *_of_growth(material), *_of_design(material)))]


def _of_agents(material: Material) -> Iterator[tuple[str, str]]:
    rows = material.rows
    backends = {row.tracked.factors["backend"] for row in rows}
    if any(row.tracked.simulated for row in rows):
        yield (
            "Nothing about language models.",
            "Simulated agents follow a written rule. What they show, the rule shows.",
        )
    if any(row.tracked.tiny for row in rows):
        yield (
            "Nothing about useful models.",
            "The tiny model was trained to keep the format, not to reason.",
        )
    if "api" in backends and any(row.tracked.factors["temperature"] == "t0" for row in rows):
        yield (
            "Not where the first difference came from.",
            "Temperature 0 does not make a provider's answers deterministic: replicates may differ "
            "from the first call on, for reasons outside the committee.",
        )
    several = [row for row in rows if "environments" in row.warnings]
    if several or in_other_environments(rows):
        yield (
            "No comparison free of its environment.",
            "Conditions or replicates ran in different environments, whose arithmetic may differ.",
        )


def _of_growth(material: Material) -> Iterator[tuple[str, str]]:
    fits = [fit for kind in material.kinds for fit in kind.fits]
    s = material.kinds[0].symbol if material.kinds else "λ̂"
    if not fits:
        return
    yield (
        "No chaos in the strict sense.",
        f"{s} is a slope over a few rounds of a finite ensemble that began apart by finite "
        "distances; it is no Lyapunov exponent of a deterministic system.",
    )
    null = between([fit.diagnostics.diffusion for fit in fits], 4)
    if any(fit.exponent.value > 0 for fit in fits):
        yield (
            "No amplification from the sign alone.",
            f"{s} > 0 means that replicates move apart. So do independent random walks "
            f"({null} over the rounds of the fit). Only the comparison with diffusion in "
            f"{section('estimates')} speaks to more than that.",
        )
        yield (
            "No form of growth.",
            "Exponential growth and a power law can have the same slope over so few rounds; the "
            "misfits of both are in the diagnostics.",
        )
    flipped = [fit.row for fit in fits if "flip_dominated" in fit.exponent.warnings]
    if flipped:
        yield (
            "No rate where flips dominate.",
            f"In {count(len(flipped), 'condition')} few replicates carry {s}; the decisions are "
            "what "
            "can be reported there.",
        )
    full = [fit.row for fit in fits if "saturated" in fit.exponent.warnings]
    if full:
        yield (
            "No comparison of saturated rates.",
            f"{capital(count(len(full), 'condition'))} {verb(len(full), 'comes', 'come')} near the "
            "ceiling of D(t): a smaller slope there need not be slower growth.",
        )
    if any(row.tracked.perturbed for row in material.rows):
        yield (
            "No noise level.",
            "Between wordings, distances say how much wording moves a committee; how much it would "
            "move in the same words is another study. The wordings at hand are a sample of the "
            "ways "
            "to say the same thing, and not a random one.",
        )
    nulls = any("null" in picture.name for picture in material.pictures)
    if material.chosen.study in MIRRORED or nulls:
        yield (
            "No test of λ = 0 by shuffling rounds.",
            "The papers' permutation of rounds tests whether rounds are exchangeable. Committees "
            "remember, so they are not, growth or no growth; the tests here reverse time instead.",
        )


def _of_design(material: Material) -> Iterator[tuple[str, str]]:
    rows = material.rows
    done = [row.n for row in rows if row.summary is not None]
    if done and min(done) < _FEW:
        few = [n for n in done if n < _FEW]
        who = f"{capital(count(len(few), 'condition'))} {verb(len(few), 'has', 'have')}"
        yield (
            "Little from few replicates.",
            f"{who} fewer than ten completed replicates (n = {counts_between(few)}): intervals "
            "from so few are wide, and their coverage is less sure.",
        )
    pending = sum(row.pending for row in rows)
    if pending:
        yield (
            "Nothing final.",
            f"{capital(count(pending, 'replicate'))} {verb(pending, 'is', 'are')} pending; the "
            "numbers will change, and to stop once they please would bias them.",
        )
    failed = sum(row.failed for row in rows)
    if failed:
        yield (
            "Nothing about the replicates that failed.",
            f"{capital(count(failed, 'replicate'))} failed and {verb(failed, 'is', 'are')} in no "
            "estimate.",
        )
    without = [row for row in rows if row.status in ("no_estimates", "no_replicates")]
    if without:
        yield (
            "Nothing about conditions without estimates.",
            f"{capital(count(len(without), 'condition'))} {verb(len(without), 'has', 'have')} "
            "none: "
            f"{material.name.several(without)}.",
        )
    scenarios = {row.tracked.factors["scenario"] for row in rows}
    if len(scenarios) == 1:
        yield (
            "No claim beyond the scenario.",
            "One policy case was run. How effects vary between cases can't be estimated from it.",
        )
    if material.study.contrasts:
        yield (
            "No equality from a contrast that was not shown.",
            "A large p is compatible with no effect and with one that this n can't see.",
        )
        yield (
            "No effect of a factor apart from its speaking order.",
            "Each condition has an order of speaking of its own, drawn from its identity, and a "
            "contrast holds it along with the factor. Several seeds a cell would average over it.",
        )
    if material.kinds and any(len(kind.fits) > 1 for kind in material.kinds):
        yield (
            "Nothing from unadjusted comparisons.",
            "Intervals and p-values that are not called adjusted hold one by one. Two intervals "
            "that "
            "overlap, or do not, are no test of a difference.",
        )
