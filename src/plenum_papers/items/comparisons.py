"""Comparison of a study's conditions with all that the papers report on them."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from plenum.dynamics.branching import estimate_next_answers
from plenum.dynamics.nulls import shuffle_test
from plenum.reports.labels import condition_keys, describe_provenance
from plenum.reports.rows import Row, symbol
from plenum.reports.tables.conditions import WARNINGS, N, tabulate_exponents
from plenum.reports.tables.effects import tabulate_compared
from plenum.show.formats import (
    NONE,
    format_decimals,
    format_interval,
    format_number,
    format_or_dash,
    format_p_value,
    format_warnings,
)
from plenum.show.table import Column, Table, make_keys
from plenum_papers.items.departures import sum_up
from plenum_papers.items.published_values import PublishedLine, find_published, select_lines
from plenum_papers.items.source import (
    NumberedTable,
    TableSource,
    add_published,
    numbers,
    render_notes,
    write_source_notes,
)

_FILES = ("fig-1", "table-s5", "table-s6", "table-s8", "fig-1-hosted")


def compare_estimates(source: TableSource) -> NumberedTable | None:
    """Make tables of λ̂, flips, the null, Γ̂ and decisions of wordings, with published values."""
    fitted = [r for r in source.deliberated if find_published(_FILES, r.tracked.factors)]
    parts = [[r for r in fitted if r.tracked.perturbed is perturbed] for perturbed in (False, True)]
    tables = [_exponents(rows) for rows in parts if rows]
    frames = [numbers(fitted, _FILES).assign(what="exponent")] if fitted else []
    for row in source.rows:
        parts_of_row = {
            "null": _null(row),
            "branching": _compare_branching(row),
            "wordings": _wordings(row),
        }
        for what, numbered in parts_of_row.items():
            if numbered is not None:
                tables += numbered.tables
                frames.append(numbered.frame.assign(what=what))
    if not tables:
        return None
    frame = pd.concat(frames, ignore_index=True)
    frame.insert(0, "what", frame.pop("what"))
    return NumberedTable(tuple(tables), frame)


def _exponents(rows: Sequence[Row]) -> Table:
    exponent = symbol(rows)
    columns = (
        *condition_keys(rows),
        *tabulate_exponents(exponent),
        N,
        WARNINGS,
        Column("flip_rate", "off the\nplurality", format_decimals(3)),
        Column("printed_lambda", f"published\n{exponent}", format_or_dash),
        Column("printed_flip_rate", "published\noff the plurality", format_or_dash),
        Column("printed_n", "published\nn", format_or_dash),
        Column("printed_in", "where"),
        Column("departs", "departs in", format_warnings),
    )
    title = f"Published {exponent} next to this run"
    legend = (*render_notes("plurality"), *write_source_notes(rows, _FILES))
    return Table("", title, add_published(rows, _FILES), columns, legend)


def _null(row: Row) -> NumberedTable | None:
    """Compare p of the papers' permutation null with the published one and the reversal test."""
    paper = find_published(("fig-s5",), row.tracked.factors)
    if paper is None or row.summary is None:
        return None
    null = shuffle_test(row.tracked.ensemble, draws=int(paper["draws"]), rounds="all")
    line = {
        **row.tracked.factors,
        "p_shuffle_all_right": null.p_right,
        "p_shuffle_all": null.p,
        "p_reversal": row.summary.reversal.p,
        "published_p": paper["p"],
        "published_source": paper["source"],
    }
    columns = (
        *make_keys(["scenario", "roles", "temperature"]),
        Column("p_shuffle_all_right", "p, all rounds,\nright tail", format_p_value),
        Column("published_p", "published\np"),
        Column("p_reversal", "p growth", format_p_value),
    )
    frame = pd.DataFrame([line])
    legend = (*render_notes("null", **_collect_notes(row, paper)), describe_provenance([row]))
    title = "Published permutation null next to this run"
    return NumberedTable((Table("", title, frame, columns, legend),), frame)


def _collect_notes(row: Row, paper: PublishedLine) -> dict[str, list[str]]:
    """Return facts for the notes: the published source, and departures from the papers."""
    return {"sources": [paper["source"]], "departing": sum_up([row.tracked])}


def _compare_branching(row: Row) -> NumberedTable | None:
    """Compare Γ̂ of branches with the paper's, each by its own definition."""
    estimate, known = row.branches, select_lines("fig-s6", row.tracked.factors)
    if estimate is None or not known:
        return None
    gamma, paper, after = estimate.gamma, known[0], row.tracked.after_round
    answers = _next_answers(row)
    lines = [
        {
            "source": "this run",
            "bases": estimate.bases,
            "branches": estimate.branches,
            "gamma": format_number(gamma.value, 4),
            "low": gamma.ci_low,
            "high": gamma.ci_high,
            "answers": format_number(answers, 4),
            "positive": int((estimate.gamma_by_base > 0).sum()),
            "within": int((estimate.c_in > estimate.c_out).sum()),
        },
        {
            "source": "published",
            "bases": paper["bases"],
            "branches": paper["branches"],
            "gamma": NONE,
            "positive": NONE,
            "within": NONE,
            "answers": f"{paper['gamma']} (SE {paper['gamma_se']})",
        },
    ]
    columns = (
        Column("source", key=True),
        Column(("bases", "branches"), "bases x branches", lambda *n: " x ".join(map(str, n))),
        Column("gamma", "Γ̂ of continuations"),
        Column(("low", "high"), "95 % CI", format_interval),
        Column("positive", "bases with Γ̂ > 0"),
        Column("within", "c in > c out"),
        Column("answers", "Γ̂ of next answers"),
    )
    legend = (
        *render_notes("branching", after=after, **_collect_notes(row, paper)),
        describe_provenance([row]),
    )
    line = {
        **row.tracked.factors,
        "gamma": gamma.value,
        "ci_low": gamma.ci_low,
        "ci_high": gamma.ci_high,
        "se": gamma.se,
        "bases": estimate.bases,
        "branches": estimate.branches,
        "gamma_next_answers": answers,
        "published_gamma_next_answers": float(paper["gamma"]),
        "published_se": float(paper["gamma_se"]),
        "published_source": paper["source"],
    }
    title = "Published Γ̂ next to this run"
    table = Table("", title, pd.DataFrame(lines), columns, legend)
    return NumberedTable((table,), pd.DataFrame([line]))


def _next_answers(row: Row) -> float:
    """Return Γ̂ by the released files' definition, from the first turn after each branching.

    Only these turns answer the same prompt. Seats are in speaking order.
    """
    turns = row.tracked.preferences[:, row.tracked.after_round, 0]
    bases = np.asarray(row.tracked.bases)
    return estimate_next_answers([turns[bases == base] for base in np.unique(bases)]).gamma


def _wordings(row: Row) -> NumberedTable | None:
    """Compare the decision of each wording with that in the paper."""
    known = {line["variant"]: line for line in select_lines("fig-s7", row.tracked.factors)}
    if not known or not row.readings:
        return None
    source = next(iter(known.values()))["source"]
    legend = (
        *render_notes("wordings", **_collect_notes(row, next(iter(known.values())))),
        describe_provenance([row]),
    )
    frame = pd.DataFrame(
        {
            **row.tracked.factors,
            "variant": reading.variant,
            "decision": reading.decision,
            "published_decision": known[reading.variant]["decision"] if in_paper else "",
            "published_source": source if in_paper else "",
        }
        for reading in row.readings
        for in_paper in [reading.variant in known]
    )
    columns = (
        Column("variant", "wording", key=True),
        Column("decision"),
        Column("published_decision", format=format_or_dash),
    )
    title = "Decisions by wording, published and of this run"
    return NumberedTable((Table("", title, frame, columns, legend),), frame)


def directions(source: TableSource) -> NumberedTable | None:
    """Compare Δλ̂ and its interval with the directions of effects that the papers report."""
    known = [
        (study, effect, line)
        for study in source.studies
        for effect in study.contrasts
        if (line := find_published(("directions",), effect.others, effect=effect.name))
    ]
    if not known:
        return None
    columns = (
        *make_keys(["scenario", "effect"]),
        *tabulate_compared("Δλ̂", 4),
        Column("n"),
        WARNINGS,
        Column("published_direction", "published:\nλ̂ is", format_or_dash),
        Column("published_ci_excludes_0", "95 % CI\nexcludes 0", format_or_dash),
        Column("released", "released\nfiles: Δλ̂", format_or_dash),
        Column("published_source", "where"),
    )
    cells = [row for _, effect, _ in known for row in effect.cells]
    departing = sum_up([row.tracked for row in cells])
    legend = (*render_notes("directions", departing=departing), describe_provenance(cells))
    frame = pd.DataFrame(
        {
            **effect.record(study.name),
            "published_direction": line["direction"],
            "published_ci_excludes_0": line["ci_excludes_0"],
            "released": line["released"],
            "published_source": line["source"],
        }
        for study, effect, line in known
    )
    title = "Published directions next to this run"
    return NumberedTable((Table("directions", title, frame, columns, legend),), frame)
