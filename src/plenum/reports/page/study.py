"""The page of a study of committees: composed from its tables, figures and findings."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from plenum.base.errors import UserError
from plenum.base.terminal import say
from plenum.dynamics.contrasts import Contrast
from plenum.dynamics.estimate import Estimate
from plenum.dynamics.sample_sizes import find_detectable
from plenum.dynamics.warnings import WARNINGS, EstimateWarning
from plenum.reports.accounting.common import select_distinct
from plenum.reports.figures.catalogue import SavedFigure
from plenum.reports.figures.publish import draw_figures
from plenum.reports.findings.comparisons import Family
from plenum.reports.findings.facts import collect_study_facts
from plenum.reports.findings.sentences import render_findings
from plenum.reports.labels import describe_provenance
from plenum.reports.page import protocol
from plenum.reports.page.publish import fill_page
from plenum.reports.page.sheets import MOST_LINES, tabulate_page
from plenum.reports.rows import (
    has_mixed_environments,
    list_levels,
    list_varying_factors,
    name_rows,
)
from plenum.reports.settings import Settings
from plenum.reports.study import EstimatedStudy, load_study
from plenum.show.document import Document
from plenum.show.phrases import spell_count
from plenum.tracking.provenance import Provenance
from plenum.tracking.study import Study
from plenum.tracking.usage import ConditionUsage

_PLACES = {
    "decisions": ("decisions", "simplex", "majority"),
    "growth": ("divergence", "null", "temperature", "matrix", "landscape"),
    "wordings": ("hosted", "semantic"),
    "branches": ("branching",),
    "tests": ("differences", "forest"),
}
"""Figures by the part of the page that they belong to, in order; others stand with decisions."""

_FEW = 10
"""Number of replicates below which they are called few."""

_UNKNOWN = EstimateWarning(
    "", "", "", "the estimates carry it", "see the documentation of estimates"
)
"""Text for an unknown warning."""


@dataclass(frozen=True)
class PageMaterial:
    """The parts of the page of a study of committees, before they are laid out.

    Attributes
    ----------
    study
        Rows and effects.
    every
        Accounts of all conditions, under each of their labels.
    origins
        Models and code versions by run.
    rebuilt
        Conditions by run, as far as they were wanted and can be rebuilt.
    """

    study: EstimatedStudy
    every: Sequence[ConditionUsage]
    origins: Mapping[str, Provenance]
    rebuilt: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def committee(self) -> Any | None:
        """The rebuilt condition with the most mandates, whose protocol is described."""
        conditions = list(self.rebuilt.values())
        return max(conditions, key=lambda c: sum(bool(s.mandate) for s in c.seats), default=None)


def compose_committees(chosen: Settings, folder: Path) -> Document:
    """Compose the page of a study of committees; draw its figures into a folder."""
    say(f"reading study {chosen.study}")
    study, tracked = load_study(chosen, outlined=True), Study(chosen.study, chosen.uri)
    _ = study.baseline, study.reruns  # a name that is wrong is refused before anything is written
    rebuilt = protocol.rebuild_conditions(tracked, study.rows)
    material = PageMaterial(study, tracked.usage, tracked.provenance, rebuilt)
    return compose(material, _draw(study, folder))


def _draw(study: EstimatedStudy, folder: Path) -> list[SavedFigure]:
    """Draw the figures for which the study has data; empty before it has estimates."""
    try:
        drawn = draw_figures(study, folder, told=lambda name: say(f"figure {name}"))
    except UserError:
        return []
    order = [name for names in _PLACES.values() for name in names]
    return sorted(drawn, key=lambda each: order.index(each.name) if each.name in order else -1)


def compose(material: PageMaterial, drawn: Sequence[SavedFigure] = ()) -> Document:
    """Compose the page of a study of committees, with figures in the order of their numbers."""
    study, rows = material.study, material.study.rows
    facts = collect_study_facts(study)
    design = [
        protocol.tabulate_design(rows, material.origins, material.rebuilt),
        *protocol.tabulate_seats(rows, material.origins, material.committee),
    ]
    tables = {table.name: table.first(MOST_LINES) for table in design}
    tables |= tabulate_page(study, material.every, facts["changes"])
    known = {
        **facts,
        **_describe_design(material),
        **_describe_limits(material),
        "compared": [_describe_family(f) for f in (*facts["contrasts"], facts["interactions"])],
    }
    conditions = spell_count(len(rows), "condition")
    completed = sum(usage.tracked.completed for usage in known["usages"])
    head = Document(
        title=f"Study {study.name}",
        lead=f"Results of {conditions} and {spell_count(completed, 'completed replicate')}",
        abstract=tuple(render_findings(rows, facts, noticed=False)),
    )
    return fill_page(
        head,
        "plenum.reports.page/study.md.j2",
        tables,
        drawn,
        said=[describe_provenance(rows)],
        f=known,
        name=name_rows(rows),
        figures={place: _list_figures(drawn, place) for place in _PLACES},
        fragilities=[name for name in tables if name.startswith("compared")],
    )


def _list_figures(drawn: Sequence[SavedFigure], place: str) -> list[str]:
    """List the figures that belong to a part of the page, by the names of their places."""
    places = {name: at for at, names in _PLACES.items() for name in names}
    return [
        f"figure{number}"
        for number, each in enumerate(drawn, start=1)
        if places.get(each.name, "decisions") == place
    ]


def _describe_design(material: PageMaterial) -> dict[str, Any]:
    """Return facts of the design: factors, seats, options, wordings, seeds, versions."""
    study, rows = material.study, material.study.rows
    origins = [o for row in rows if (o := material.origins.get(row.tracked.run_id))]
    levels = {n: list_levels(rows, n) for n in list_varying_factors(rows)}
    combinations = {tuple(row.tracked.factors[name] for name in levels) for row in rows}
    read = {p for r in rows for p in zip(r.tracked.families, r.tracked.variants, strict=True)}
    families = Counter(family for family, _ in sorted(read))
    wordings = next((origin.wordings for origin in origins if origin.wordings), "")
    return {
        "study": study.name,
        "large": study.large,
        "most_lines": MOST_LINES,
        "begun": [row for row in rows if not row.tracked.after_round] or rows,
        "varied": list(levels),
        "crossed": len(combinations) == math.prod(map(len, levels.values())),
        "committee": material.committee,
        "sizes": sorted({len(origin.models) for origin in origins if origin.models}),
        "orders": protocol.list_orders(rows, material.origins),
        "options": [len(origin.options.split(" / ")) for origin in origins],
        "windows": [int(level.removeprefix("k")) for level in list_levels(rows, "memory")],
        "temperatures": [level.removeprefix("t") for level in list_levels(rows, "temperature")],
        "wordings": sum(int(entry.rpartition(":")[2]) for entry in wordings.split()),
        "families": [f"{family} ({n:,})" for family, n in families.items()],
        "seeds": list_levels(rows, "seed"),
        "draws": study.chosen.draws,
        "seed": study.chosen.seed,
        "versions": list(dict.fromkeys(v for origin in origins for v in origin.versions)),
        "date": min((origin.begun for origin in origins), default=None),
    }


def _describe_limits(material: PageMaterial) -> dict[str, Any]:
    """Return what replicates are missing, and what limits the conclusions."""
    rows, usages = material.study.rows, select_distinct(material.every)
    cold = any(row.tracked.factors["temperature"] == "t0" for row in rows)
    return {
        "usages": usages,
        "warnings": _list_warnings(material.study),
        "cold": cold and any(row.tracked.factors["backend"] == "api" for row in rows),
        "environments": (
            any("environments" in row.warnings for row in rows) or has_mixed_environments(rows)
        ),
        "perturbed": any(row.tracked.perturbed for row in rows),
        "few": [row.n for row in rows if row.summary is not None and row.n < _FEW],
        "without": [row for row in rows if row.status in ("no_estimates", "no_replicates")],
        "scenarios": len({row.tracked.factors["scenario"] for row in rows}),
    }


def _list_warnings(study: EstimatedStudy) -> list[tuple[str, EstimateWarning, int]]:
    """List each warning that occurs, its meaning, and the number of its conditions."""
    carried = Counter(
        name for row in study.rows for name in row.warnings if WARNINGS.get(name, _UNKNOWN).seen
    )
    effects = (*study.contrasts, *study.interactions, *study.across)
    occurring = {*carried, *(name for effect in effects for name in effect.warnings)}
    names = [name for name in WARNINGS if name in occurring]
    names += sorted(occurring - set(names))
    return [(name, WARNINGS.get(name, _UNKNOWN), carried[name]) for name in names]


def _describe_family(family: Family) -> tuple[str, list[float], list[tuple[str, Estimate]]]:
    """Return what a family of Δλ̂ is called, least true differences, and factors of growth.

    A least difference is the one that would have been found with the realised n and spread; they
    are those of differences that weren't shown. Factors are those of differences that were.
    """
    missed = [d.estimate for d in family.measured if not d.shown]
    deltas = [find_detectable(estimate.se, estimate.df) for estimate in missed]
    grown = [(d, growth) for d in family.shown if (growth := _compute_growth(d.estimate))]
    return (
        family.what,
        [delta for delta in deltas if math.isfinite(delta)],
        [(", ".join(filter(None, (d.name, d.held))), growth) for d, growth in grown],
    )


def _compute_growth(contrast: Contrast) -> Estimate | None:
    """Compute the growth by Δλ̂ over the rounds that both conditions share; None if it is huge."""
    spans = [cell.rounds_used + cell.zero_rounds - 1 for cell in contrast.cells]
    if len(set(spans)) > 1 or spans[0] < 1:
        return None
    limits = (contrast.value, contrast.ci_low, contrast.ci_high)
    times = [math.exp(min(value * spans[0], 10)) for value in limits]
    value, low, high = times
    return None if max(times) > 1000 else Estimate(value, ci_low=low, ci_high=high)
