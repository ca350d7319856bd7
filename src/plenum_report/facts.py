"""Facts for the sentences of a committees' report, and for those after its tables."""

import platform
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy
import scipy

from plenum.base import code_version
from plenum.dynamics import ALPHA, WARNINGS, Branching, EstimateWarning, association, excludes_zero
from plenum.reports import (
    WHY,
    Row,
    has_mixed_environments,
    list_waits,
    sort_reasons,
    space_words,
    sum_usage,
    symbol,
)
from plenum.tracking import Provenance
from plenum_report import comparisons
from plenum_report.choices import choices, option_in_words
from plenum_report.disagreement import decision_families
from plenum_report.factors import is_factorial, levels
from plenum_report.families import shaky
from plenum_report.material import MOST_LINES, Material

_FEW = 10
"""Number of replicates below which they are called few."""

_UNKNOWN = EstimateWarning(
    "", "", "", "the estimates carry it", "see the documentation of estimates"
)
"""Text for an unknown warning."""


def facts(material: Material) -> dict[str, Any]:
    """Return all that a report of a study of committees says; templates have the words.

    Failed and pending replicates of a condition under two labels are counted once.
    """
    rows, chosen = material.rows, material.chosen
    once = {row.tracked.identity: row for row in rows}.values()
    return {
        "large": material.study.large,
        "most_lines": MOST_LINES,
        "study": chosen.study,
        "conditions": len(rows),
        "alpha": ALPHA,
        "window": chosen.window,
        "interval": chosen.interval,
        "draws": chosen.draws,
        "simulated": sum(row.tracked.simulated for row in rows),
        "tiny": sum(row.tracked.tiny for row in rows),
        "failed": sum(row.failed for row in once),
        "pending": sum(row.pending for row in once),
        "kinds": material.kinds,
        "shaky": shaky,
        "picks": material.picks,
        "decided": material.decided,
        "perturbed": any(row.tracked.perturbed for row in rows),
        "worded": [row for row in rows if row.wordings],
        "branched": [(row, _growth_beyond(row.branches)) for row in material.branched],
        "decisions": any(row.summary for row in rows),
        "choices": choices([row for row in rows if row.summary and not row.tracked.rerun]),
        "published": sorted({row.tracked.published for row in rows} - {""}),
        "committees": sum(not (r.tracked.rerun or r.tracked.after_round) for r in rows),
        "unseen": any(kind.rest or kind.split for kind in material.kinds if kind.fits),
        "option": option_in_words,
        **_comparisons(material),
    }


def report(material: Material) -> dict[str, Any]:
    """Return the facts of all sections of a report."""
    return {
        **facts(material),
        **_design(material),
        **_attrition(material),
        **_warnings(material),
        **_limits(material),
        **_appendix(material),
    }


def _growth_beyond(branches: Branching | None) -> str:
    """Return the significant sign of branches' growth as a word; or empty."""
    if branches is None or not excludes_zero(branches.signed.ci_low, branches.signed.ci_high):
        return ""
    return "amplification" if branches.signed.value > 0 else "contraction"


def _design(material: Material) -> dict[str, Any]:
    """Return facts of the design: factors, committee, models, rounds, wordings, seeds, code."""
    rows = material.rows
    begun = [row for row in rows if not row.tracked.after_round]
    origins = [o for row in rows if (o := material.origins.get(row.tracked.run_id))]
    reworded = {row.tracked.perturbed for row in rows}
    versions = list(dict.fromkeys(version for origin in origins for version in origin.versions))
    return {
        "reworded": "partly" if len(reworded) > 1 else "always" if True in reworded else "never",
        "only_votes": all(row.one_shot for row in rows),
        "votes": any(row.one_shot for row in begun),
        "planned": sorted({row.tracked.target for row in begun or rows}),
        "lengths": sorted({_rounds(row) for row in begun or rows}),
        "targets": [row.tracked.target for row in begun],
        "rounds": [_rounds(row) for row in begun if not row.one_shot],
        "backends": list(dict.fromkeys(row.tracked.factors["backend"] for row in rows)),
        "varied": levels(rows),
        "crossed": is_factorial(rows),
        **_committee(origins),
        "orders": _orders(material),
        "models": _models(material),
        **_wordings(rows, origins),
        "branches": [_branch(row) for row in material.branched],
        "seeds": list(dict.fromkeys(row.tracked.factors["seed"] for row in rows)),
        "seed": material.chosen.seed,
        "versions": versions,
        "begun": min((origin.begun for origin in origins), default=None),
        "dirty": any(version.endswith("dirty") for version in versions),
    }


def _rounds(row: Row) -> int:
    return int(row.tracked.factors["rounds"] or 0)


def _committee(origins: Sequence[Provenance]) -> dict[str, Any]:
    """Return the different sets of seats, and their options."""
    return {
        "seats": sorted({tuple(sorted(seat for seat, _ in o.models)) for o in origins if o.models}),
        "options": [
            options.split(" / ") for options in dict.fromkeys(o.options for o in origins) if options
        ],
    }


def _orders(material: Material) -> int:
    """Return the largest number of speaking orders of the same seats, scenario and seed."""
    orders: dict[tuple[object, ...], set[tuple[str, ...]]] = {}
    for row in material.rows:
        origin, factors = material.origins.get(row.tracked.run_id), row.tracked.factors
        if origin and origin.models:
            seats = tuple(seat for seat, _ in origin.models)
            same = (factors["scenario"], factors["seed"], frozenset(seats))
            orders.setdefault(same, set()).add(seats)
    return max(map(len, orders.values()), default=0)


def _models(material: Material) -> dict[str, list[str]]:
    """Return the models of each line-up, by the level of the factor."""
    by_level: dict[str, dict[str, None]] = {}
    for row in material.rows:
        origin = material.origins.get(row.tracked.run_id)
        if origin and origin.models:
            models = by_level.setdefault(row.tracked.factors["model"], {})
            models.update(dict.fromkeys(model for _, model in sorted(origin.models)))
    return {level: list(models) for level, models in by_level.items()}


def _wordings(rows: Sequence[Row], origins: Sequence[Provenance]) -> dict[str, Any]:
    """Return the number of the scenario's wordings, and of those read by family."""
    wordings = next((origin.wordings for origin in origins if origin.wordings), "")
    pairs = {
        pair
        for row in rows
        for pair in zip(row.tracked.families, row.tracked.variants, strict=True)
    }
    families = Counter(family for family, _ in sorted(pairs))
    return {
        "wordings": sum(int(entry.rpartition(":")[2]) for entry in wordings.split()),
        "families": [f"{family} ({n:,})" for family, n in families.items()],
    }


def _branch(row: Row) -> dict[str, int]:
    """Return the number of a condition's continuations; per base state once it has estimates."""
    branches = row.branches
    return {
        "branches": branches.branches if branches else row.tracked.target,
        "bases": branches.bases if branches else 0,
        "after_round": row.tracked.after_round,
    }


def _attrition(material: Material) -> dict[str, Any]:
    """Return outcomes of replicates, overall and where conditions differ, and usage."""
    counted = material.accounted
    tracked = [usage.tracked for usage in counted]
    failures = sum((Counter(t.failures) for t in tracked), Counter[str]())
    known = [usage for usage in counted if usage.models is not None]
    completed = [t.completed for t in tracked]
    return {
        "target": sum(t.target for t in tracked),
        "each": completed,
        "twice": len(counted) < len(material.every),
        "whys": [
            f"{space_words(why)} ({WHY[why]})" if why in WHY else space_words(why)
            for why in list_waits(counted)
        ],
        "reasons": [
            f"{space_words(reason)} ({failures[reason]:,})"
            for reason in sort_reasons(set(failures))
        ],
        "association": association(completed, [sum(t.failures.values()) for t in tracked]),
        "spent": sum_usage(known),
        "unknown": len(counted) - len(known),
    }


def _comparisons(material: Material) -> dict[str, Any]:
    """Return facts of the comparisons: significant or not, and detectable differences."""
    study = material.study
    return {
        "deciding": decision_families(study),
        "contrasts": comparisons.factors(study.contrasts),
        "contrast_symbol": symbol([row for effect in study.contrasts for row in effect.cells]),
        "interactions": comparisons.family("interaction", study.interactions),
        "means": comparisons.means(study.across),
        "terms": comparisons.terms(study.across),
        "fragilities": comparisons.fragilities(material.changes),
        **{name: getattr(comparisons, name) for name in ("suspicious", "smallest", "least")},
        "of_family": comparisons.find_least,
        "adjusted": comparisons.has_adjusted,
    }


def _warnings(material: Material) -> dict[str, Any]:
    """Return each warning that occurs, its meaning, and its conditions."""
    study, carried = material.study, dict[str, list[Row]]()
    for row in material.rows:
        for name in row.warnings:
            if WARNINGS.get(name, _UNKNOWN).seen:
                carried.setdefault(name, []).append(row)
    effects = [effect.warnings for effect in (*study.contrasts, *study.interactions)]
    effects += [across.warnings for across in study.across]
    occurring = {*carried, *(name for warned in effects for name in warned)}
    names = [name for name in WARNINGS if name in occurring]
    names += sorted(occurring - set(names))
    return {
        "warned": len({row.tracked.run_id for rows in carried.values() for row in rows}),
        "warnings": [(name, WARNINGS.get(name, _UNKNOWN), carried.get(name, [])) for name in names],
    }


def _limits(material: Material) -> dict[str, Any]:
    """Return facts that limit the conclusions."""
    rows = material.rows
    fits = [fit for kind in material.kinds for fit in kind.fits]
    cold = any(row.tracked.factors["temperature"] == "t0" for row in rows)
    warned = Counter(name for fit in fits for name in fit.exponent.warnings)
    return {
        "deterministic_api": cold and any(r.tracked.factors["backend"] == "api" for r in rows),
        "environments": (
            any("environments" in row.warnings for row in rows) or has_mixed_environments(rows)
        ),
        "exponents": [fit.exponent.value for fit in fits],
        "diffusion": [fit.diagnostics.diffusion for fit in fits],
        "jumps": [fit.diagnostics.jumps for fit in fits],
        **{name: warned[name] for name in ("uneven", "saturated")},
        "few": [row.n for row in rows if row.summary is not None and row.n < _FEW],
        "without": [row for row in rows if row.status in ("no_estimates", "no_replicates")],
        "scenarios": len({row.tracked.factors["scenario"] for row in rows}),
        "several": any(len(kind.fits) > 1 for kind in material.kinds),
    }


def _appendix(material: Material) -> dict[str, Any]:
    """Return the figures, the tables of the appendix, and the software's versions."""
    return {
        "pictures": material.pictures,
        "squares": [*material.list_tables("square"), *material.list_tables("landscape")],
        "details": material.list_tables("diagnostics"),
        "compared": material.list_tables("compared"),
        "version": code_version(),
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "python": platform.python_version(),
    }
