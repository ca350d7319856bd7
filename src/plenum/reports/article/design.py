"""Section 2: what was run, and how."""

from collections import Counter
from collections.abc import Sequence

from plenum.design.factors import USUAL
from plenum.reports.article.document import Block, Text
from plenum.reports.article.factors import crossed, fixed, levels
from plenum.reports.article.material import Material
from plenum.reports.article.words import (
    capital,
    count,
    counts_between,
    listed,
    of_all,
    spelt,
    verb,
)
from plenum.reports.rows import Row
from plenum.tracking.study import Provenance

_LEVELS = 8
"""More levels than this are counted; the table names them."""

_MODELS = 8
"""More models than this are counted, not named."""


def provenance(material: Material) -> str:
    """What a reader has to know of where the numbers come from; empty where agents are real."""
    simulated = [row for row in material.rows if row.tracked.simulated]
    tiny = [row for row in material.rows if row.tracked.tiny]
    said = []
    if simulated:
        whose = "All agents were simulated" if len(simulated) == len(material.rows) else (
            f"In {len(simulated)} of {len(material.rows)} conditions the agents were simulated"
        )  # fmt: skip
        said.append(
            f"{whose}: no language model answered. These numbers show what the method reports; "
            "they are no evidence about language models, whatever models the design names."
        )
    if tiny:
        said.append(
            f"{capital(count(len(tiny), 'condition'))} called the tiny model that ships with the "
            "project. It shows that the hosted path works and stands for no real model."
        )
    return " ".join(said)


def design(material: Material) -> list[Block]:
    """Factors, committee, models, rounds, window, seeds and code."""
    blocks: list[Block] = [Text(f"{_backend(material)} {_factors(material)}")]
    blocks += material.grid("design")
    blocks += [Text(_committee(material)), Text(_run(material)), Text(_code(material))]
    return blocks


def _backend(material: Material) -> str:
    """What answered, first of all."""
    backends = list(dict.fromkeys(row.tracked.factors["backend"] for row in material.rows))
    said = f"{verb(len(backends), 'The backend is', 'Backends are')} {listed(backends)}"
    simulated = sum(row.tracked.simulated for row in material.rows)
    if simulated == len(material.rows):
        return f"{said}: agents follow a written rule, and no language model was called."
    if simulated:
        return (
            f"{said}; in {of_all(simulated, len(material.rows))} conditions agents were simulated."
        )
    return f"{said}."


def _factors(material: Material) -> str:
    rows, own = material.rows, levels(material.rows)
    said = f"The study holds {count(len(rows), 'condition')} ({material.table('design')})."
    if len(own) == 1:
        ((name, found),) = own.items()
        said += f" One factor varies: {_levels(name, found)}."
    elif own:
        said += (
            f" {capital(spelt(len(own)))} factors vary: "
            f"{listed([_levels(*one) for one in own.items()])}. "
        )
        said += (
            "They are fully crossed."
            if crossed(rows)
            else "They are not fully crossed: some combinations were not run."
        )
    held = [f"{n} {v}" for n, v in fixed(rows).items() if v and USUAL.get(n) != v]
    if held and own:
        said += f" Held fixed: {listed(held)}."
    return said


def _levels(name: str, found: Sequence[str]) -> str:
    return f"{name} ({' / '.join(found) if len(found) <= _LEVELS else count(len(found), 'level')})"


def _committee(material: Material) -> str:
    found = [origin for row in material.rows if (origin := _origin(material, row))]
    tables = {tuple(sorted(seat for seat, _ in origin.models)) for origin in found}
    tables.discard(())
    if not tables:
        return "Who sat at the table is not recorded."
    if len(tables) == 1:
        (seats,) = tables
        said = f"The committee has {count(len(seats), 'seat')}: {listed(seats)}."
    else:
        said = f"Committees have {counts_between([len(own) for own in tables])} seats."
    if len({tuple(seat for seat, _ in o.models) for o in found}) > 1:
        said += (
            " The order of speaking is drawn for each condition, so that conditions differ in it."
        )
    said += " " + _models(material)
    options = list(dict.fromkeys(origin.options for origin in found if origin.options))
    sizes = [1 + own.count(" / ") for own in options]
    if sizes:
        said += f" Each scenario offers {counts_between(sizes)} options"
        said += f": {listed(options[0].split(' / '))}." if len(options) == 1 else "."
    return said


def _models(material: Material) -> str:
    """Which models each line-up has, by the level of the factor."""
    by_level: dict[str, dict[str, None]] = {}
    for row in material.rows:
        origin = _origin(material, row)
        models = dict.fromkeys(model for _, model in sorted(origin.models)) if origin else {}
        by_level.setdefault(row.tracked.factors["model"], {}).update(models)
    told = [
        f"{level}: {listed(list(own)) if len(own) <= _MODELS else count(len(own), 'model')}"
        for level, own in by_level.items()
        if own
    ]
    simulated = all(row.tracked.simulated for row in material.rows)
    verbed = "Models that the design names, none of which was called" if simulated else "Models"
    return f"{verbed}: {'; '.join(told)}." if told else "Models are not recorded."


def _run(material: Material) -> str:
    rows = [row for row in material.rows if not row.tracked.after_round]
    said = ""
    deliberated = [row for row in rows if not row.one_shot]
    if deliberated:
        rounds = [int(row.tracked.factors["rounds"] or 0) for row in deliberated]
        said += (
            f" A deliberation has {counts_between(rounds)} {verb(max(rounds), 'round', 'rounds')}."
        )
        said += f" {_window(material, deliberated)}"
    if any(row.one_shot for row in rows):
        said += " One-shot committees vote after a single round without reading one another."
    if rows:
        targets = [row.tracked.target for row in rows]
        said += (
            f" The target is {counts_between(targets)} "
            f"{verb(max(targets), 'replicate', 'replicates')} "
            "a condition."
        )
    said += _wordings(material) + _branches(material)
    seeds = list(dict.fromkeys(row.tracked.factors["seed"] for row in material.rows))
    said += (
        f" Deliberations are drawn from seed {listed(seeds)}; bootstrap, reversals and "
        "permutations "
        f"take {material.chosen.draws:,} draws from seed {material.chosen.seed}."
    )
    return said.strip()


def _window(material: Material, rows: Sequence[Row]) -> str:
    first, last = material.chosen.window
    run = [int(row.tracked.factors["rounds"] or 0) for row in rows]
    said = f"λ̂ is fitted over rounds {first} to {min(last, max(run))}"
    if min(run) <= first:
        return said + f"; runs of {counts_between(sorted(run)[:1])} rounds are too short for it."
    if max(run) < last:
        said += f", the part of the window {first} to {last} that was run"
    elif min(run) < last:
        said += ", or to the last round where a deliberation has fewer"
    return said + "."


def _wordings(material: Material) -> str:
    found = {
        origin.wordings
        for row in material.rows
        if (origin := _origin(material, row)) and origin.wordings
    }
    if not found:
        return ""
    there = sum(int(entry.rpartition(":")[2]) for entry in next(iter(found)).split())
    met = {
        (family, variant)
        for row in material.rows
        for family, variant in zip(row.tracked.families, row.tracked.variants, strict=True)
    }
    counts = Counter(family for family, _ in sorted(met))
    told = listed([f"{family} ({n:,})" for family, n in counts.items()]) or "none yet"
    return (
        " In perturbed conditions each replicate reads another wording of the scenario. There are "
        f"{there:,}; read were, by family: {told}. Distances are between wordings, not between "
        "repeats."
    )


def _branches(material: Material) -> str:
    said = ""
    for row in material.branched:
        found, n = row.branches, count(row.tracked.target, "continuation")
        if found:
            n = count(found.branches, "continuation")
            n += f" each of {count(found.bases, 'base state')}"
        said += f" {capital(n)} part after round {row.tracked.after_round}."
    return said


def _code(material: Material) -> str:
    own = [o for row in material.rows if (o := _origin(material, row))]
    versions = list(dict.fromkeys(v for origin in own for v in origin.versions))
    if not versions:
        return "The code version of the runs is not recorded."
    said = f"The runs were written by plenum {listed(versions)}"
    said += f", the first of them begun on {min(o.begun for o in own):%-d %B %Y} (UTC)."
    if len(versions) > 1:
        said += (
            " Several versions of the code took part; whether that matters is for the reader to "
            "judge."
        )
    if any(v.endswith("dirty") for v in versions):
        said += " A version that ends in “dirty” had changes that no commit holds."
    return said


def _origin(material: Material, row: Row) -> Provenance | None:
    return material.origins.get(row.tracked.run_id)
