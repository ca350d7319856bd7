"""Everything that the papers report on the conditions of a study, beside what this run gives."""

from collections.abc import Sequence

import pandas as pd

from plenum.reports.effects import Effect
from plenum.reports.numbered.common import notes, record, told
from plenum.reports.numbered.source import Made, Source
from plenum.reports.published import NOTE, Published, key, published, usual
from plenum.reports.rows import Row, named, shown, symbol
from plenum.reports.sheets import Sheet, limits, number, of_cells, probability, provenance

_FILES = ("fig-1", "table-s5", "table-s6", "table-s8")


def reported(source: Source) -> Made | None:
    """λ̂, Γ̂ and the decisions of wordings, with the papers' values beside them."""
    fitted = [row for row in source.deliberated if told(row, _FILES)]
    parts = [[r for r in fitted if r.tracked.perturbed is wanted] for wanted in (False, True)]
    sheets = [_exponents(own) for own in parts if own]
    records = [{"what": "exponent", **record(row, _FILES)} for row in fitted]
    for row in source.rows:
        for what, made in (("branching", _branching(row)), ("wordings", _wordings(row))):
            if made is not None:
                sheets.append(made[0])
                records += [{"what": what, **line} for line in made[1]]
    return Made(tuple(sheets), pd.DataFrame(records)) if sheets else None


def _exponents(rows: Sequence[Row]) -> Sheet:
    names, same = shown(rows)
    exponent = symbol(rows)
    head = (
        *(*names, *("condition",) * same, exponent, "95 % CI", "n", "warnings"),
        *(f"published\n{exponent}", "published\nn", "where"),
    )
    body = tuple((*named(row, names, same), *_beside(row)) for row in rows)
    title = f"Published {exponent} beside this run"
    return of_cells(title, head, body, notes(rows, _FILES), len(names) + same)


def _beside(row: Row) -> tuple[str, ...]:
    known = told(row, _FILES)
    assert known is not None
    own = ("-", "-")
    if row.summary is not None:
        e = row.summary.lyapunov
        value = row.status if pd.isna(e.value) else f"{e.value:.4f}"
        own = (value, limits(e.ci_low, e.ci_high))
    warned = "\n".join(row.warnings) or "-"
    count = f"{row.n}/{row.tracked.target}"
    return (*own, count, warned, known["lambda"], known["n"], known.source)


def _branching(row: Row) -> tuple[Sheet, list[dict[str, object]]] | None:
    """Γ̂ of branches, and the paper's."""
    found = row.branches
    known = next(iter(published("fig-s6")))
    if found is None or key(known.factors) != key(row.tracked.factors):
        return None
    gamma = found.gamma
    head = ("source", "bases x branches", "Γ̂", "95 % CI", "SE", "bases with Γ̂ > 0", "c in > c out")
    ours = (
        *("this run", f"{found.bases} x {found.branches}", number(gamma.value, 4)),
        *(limits(gamma.ci_low, gamma.ci_high), number(gamma.se, 4)),
        *(str(int((found.gamma_by_base > 0).sum())), str(int((found.c_in > found.c_out).sum()))),
    )
    theirs = (
        *("published", f"{known['bases']} x {known['branches']}", known["gamma"], "-"),
        *(known["gamma_se"], known["positive"], known["positive"]),
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
    return of_cells("Published Γ̂ beside this run", head, (ours, theirs), legend), [line]


def _wordings(row: Row) -> tuple[Sheet, list[dict[str, object]]] | None:
    """What each wording led to, and what it did in the paper."""
    known = {one["variant"]: one for one in published("fig-s7") if _same(one, row)}
    if not known or not row.readings:
        return None
    read = [(one.variant, one.decision) for one in row.readings]
    body = tuple((v, d, known[v]["decision"] if v in known else "-") for v, d in read)
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
    head = ("wording", "decision", "published decision")
    return of_cells("Decisions by wording, published and of this run", head, body, legend), lines


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
    head = (
        *("scenario", "effect", "Δλ̂", "95 % CI", "p", "Holm", "n", "warnings"),
        *("published:\nλ̂ is", "95 % CI\nexcludes 0", "where"),
    )
    body = tuple(
        (effect.others["scenario"], effect.name, *_measured(effect), *_directed(one))
        for _, effect, one in lines
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
    sheet = of_cells("Published directions beside this run", head, body, legend, 2)
    return Made((sheet,), pd.DataFrame(records))


def _measured(effect: Effect) -> tuple[str, ...]:
    found = effect.contrast
    return (
        *(number(found.value, 4), limits(found.ci_low, found.ci_high)),
        *(probability(found.p), probability(effect.p_holm)),
        " ".join(str(cell.replicates) for cell in found.cells),
        "\n".join(effect.warnings) or "-",
    )


def _directed(one: Published) -> tuple[str, ...]:
    return one["direction"], one["ci_excludes_0"], one.source
