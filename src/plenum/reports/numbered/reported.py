"""Everything that the papers report on the conditions of a study, beside what this run gives."""

from collections.abc import Sequence

import pandas as pd

from plenum.reports.formats import interval, number, or_dash
from plenum.reports.labels import provenance
from plenum.reports.numbered.common import notes, record, reported_of, with_published
from plenum.reports.numbered.source import Made, Source
from plenum.reports.published import NOTE, Published, key, published, usual
from plenum.reports.rows import Row, shown, symbol
from plenum.reports.table import Column, Table, keys
from plenum.reports.tables.conditions import WARNINGS, N, exponents
from plenum.reports.tables.effects import compared

_FILES = ("fig-1", "table-s5", "table-s6", "table-s8")


def reported(source: Source) -> Made | None:
    """λ̂, Γ̂ and the decisions of wordings, with the papers' values beside them."""
    fitted = [row for row in source.deliberated if reported_of(row, _FILES)]
    parts = [[r for r in fitted if r.tracked.perturbed is wanted] for wanted in (False, True)]
    tables = [_exponents(own) for own in parts if own]
    records = [{"what": "exponent", **record(row, _FILES)} for row in fitted]
    for row in source.rows:
        for what, made in (("branching", _branching(row)), ("wordings", _wordings(row))):
            if made is not None:
                tables.append(made[0])
                records += [{"what": what, **line} for line in made[1]]
    return Made(tuple(tables), pd.DataFrame(records)) if tables else None


def _exponents(rows: Sequence[Row]) -> Table:
    names, same = shown(rows)
    exponent = symbol(rows)
    columns = (
        *keys([*names, *["condition"] * same]),
        *exponents(rows),
        N,
        WARNINGS,
        Column("printed_lambda", f"published\n{exponent}", or_dash),
        Column("printed_n", "published\nn", or_dash),
        Column("printed_in", "where"),
    )
    title = f"Published {exponent} beside this run"
    return Table("", title, with_published(rows, _FILES), columns, notes(rows, _FILES))


def _branching(row: Row) -> tuple[Table, list[dict[str, object]]] | None:
    """Γ̂ of branches, and the paper's."""
    found = row.branches
    known = next(iter(published("fig-s6")))
    if found is None or key(known.factors) != key(row.tracked.factors):
        return None
    gamma = found.gamma
    lines = [
        {
            **{"source": "this run", "bases": found.bases, "branches": found.branches},
            **{"gamma": number(gamma.value, 4), "low": gamma.ci_low, "high": gamma.ci_high},
            "se": number(gamma.se, 4),
            "positive": int((found.gamma_by_base > 0).sum()),
            "within": int((found.c_in > found.c_out).sum()),
        },
        {
            **{"source": "published", "bases": known["bases"], "branches": known["branches"]},
            **{"gamma": known["gamma"], "se": known["gamma_se"]},
            **{"positive": known["positive"], "within": known["positive"]},
        },
    ]
    columns = (
        Column("source", key=True),
        Column(
            ("bases", "branches"), "bases x branches", lambda *counts: " x ".join(map(str, counts))
        ),
        Column("gamma", "Γ̂"),
        Column(("low", "high"), "95 % CI", interval),
        Column("se", "SE"),
        Column("positive", "bases with Γ̂ > 0"),
        Column("within", "c in > c out"),
    )
    legend = (
        "Γ̂ > 0 certifies noise alone, and c in > c out memory of the base state: see "
        "docs/decisions.md",
        f"this run: after round {row.tracked.after_round}; the paper doesn't name its round",
        f"{NOTE} ({known.source})",
        provenance([row]),
    )
    line = {
        **row.tracked.factors,
        **{"gamma": gamma.value, "ci_low": gamma.ci_low, "ci_high": gamma.ci_high, "se": gamma.se},
        **{"bases": found.bases, "branches": found.branches},
        **{"published_gamma": float(known["gamma"]), "published_se": float(known["gamma_se"])},
        "published_source": known.source,
    }
    title = "Published Γ̂ beside this run"
    return Table("", title, pd.DataFrame(lines), columns, legend), [line]


def _product(bases: object, branches: object) -> str:
    return f"{bases} x {branches}"


def _wordings(row: Row) -> tuple[Table, list[dict[str, object]]] | None:
    """What each wording led to, and what it did in the paper."""
    known = {one["variant"]: one for one in published("fig-s7") if _same(one, row)}
    if not known or not row.readings:
        return None
    read = [(one.variant, one.decision) for one in row.readings]
    source = next(iter(known.values())).source
    legend = (
        "published decisions are letters of the papers' options in the papers' words; here both "
        "scenario and wordings are written anew, so that a letter need not mean the same",
        f"{NOTE} ({source})",
        provenance([row]),
    )
    lines: list[dict[str, object]] = [
        {
            **row.tracked.factors,
            **{"variant": variant, "decision": decision},
            "published_decision": known[variant]["decision"] if variant in known else "",
            "published_source": source if variant in known else "",
        }
        for variant, decision in read
    ]
    columns = (
        Column("variant", "wording", key=True),
        Column("decision"),
        Column("published_decision", format=or_dash),
    )
    title = "Decisions by wording, published and of this run"
    return Table("", title, pd.DataFrame(lines), columns, legend), lines


def _same(one: Published, row: Row) -> bool:
    return key(one.factors) == key(row.tracked.factors)


def directions(source: Source) -> Made | None:
    """Effects of which the papers report a direction: Δλ̂ with its interval, and theirs."""
    known = {(one["effect"], key(one.factors)): one for one in published("directions")}
    lines = [
        (study.chosen.study, effect, one)
        for study in source.studies
        for effect in study.contrasts
        if (one := known.get((effect.name, key(effect.others)))) and usual(effect.others)
    ]
    if not lines:
        return None
    columns = (
        *keys(["scenario", "effect"]),
        *compared("λ̂", 4),
        Column("n"),
        WARNINGS,
        Column("published_direction", "published:\nλ̂ is", or_dash),
        Column("published_ci_excludes_0", "95 % CI\nexcludes 0", or_dash),
        Column("published_source", "where"),
    )
    legend = (
        "Δλ̂: treated - reference; p: studentised permutation; Holm: over all contrasts of the "
        "factor in the study; the papers print directions, and whether an interval excludes 0, but "
        "no values",
        NOTE,
        provenance([row for _, effect, _ in lines for row in effect.cells]),
    )
    records = [
        {
            **effect.record(study),
            "published_direction": one["direction"],
            "published_ci_excludes_0": one["ci_excludes_0"],
            "published_source": one.source,
        }
        for study, effect, one in lines
    ]
    frame = pd.DataFrame(records)
    title = "Published directions beside this run"
    return Made((Table("directions", title, frame, columns, legend),), frame)
