"""Section 2: what was run, and how; and the notice of where the numbers come from."""

from collections import Counter
from typing import Any

from plenum.design.factors import USUAL
from plenum.reports.article.factors import crossed, fixed, levels
from plenum.reports.article.material import Material
from plenum.reports.rows import Row
from plenum.tracking.study import Provenance


def notice(material: Material) -> dict[str, Any]:
    """What a reader has to know of where the numbers come from."""
    rows = material.rows
    return {
        "conditions": len(rows),
        "simulated": sum(row.tracked.simulated for row in rows),
        "tiny": sum(row.tracked.tiny for row in rows),
        "world": False,
    }


def facts(material: Material) -> dict[str, Any]:
    """Backends, factors, committee, models, rounds, window, wordings, seeds and code."""
    rows, chosen = material.rows, material.chosen
    begun = [row for row in rows if not row.tracked.after_round]
    origins = [o for row in rows if (o := material.origins.get(row.tracked.run_id))]
    return {
        **notice(material),
        "backends": list(dict.fromkeys(row.tracked.factors["backend"] for row in rows)),
        "varied": levels(rows),
        "crossed": crossed(rows),
        "held": [f"{n} {v}" for n, v in fixed(rows).items() if v and USUAL.get(n) != v],
        **_committee(origins),
        "models": _models(material),
        "rounds": [int(row.tracked.factors["rounds"] or 0) for row in begun if not row.one_shot],
        "window": chosen.window,
        "votes": any(row.one_shot for row in begun),
        "targets": [row.tracked.target for row in begun],
        **_wordings(rows, origins),
        "branches": [_branch(row) for row in material.branched],
        "seeds": list(dict.fromkeys(row.tracked.factors["seed"] for row in rows)),
        "draws": chosen.draws,
        "seed": chosen.seed,
        "versions": (versions := list(dict.fromkeys(v for o in origins for v in o.versions))),
        "begun": min((o.begun for o in origins), default=None),
        "dirty": any(version.endswith("dirty") for version in versions),
    }


def _committee(origins: list[Provenance]) -> dict[str, Any]:
    """The different sets of seats, in how many orders they spoke, and the options they had."""
    orders = {tuple(seat for seat, _ in origin.models) for origin in origins}
    return {
        "seats": sorted({tuple(sorted(order)) for order in orders if order}),
        "orders": len(orders),
        "options": [
            options.split(" / ") for options in dict.fromkeys(o.options for o in origins) if options
        ],
    }


def _models(material: Material) -> dict[str, list[str]]:
    """Which models each line-up has, by the level of the factor."""
    by_level: dict[str, dict[str, None]] = {}
    for row in material.rows:
        origin = material.origins.get(row.tracked.run_id)
        if origin and origin.models:
            models = by_level.setdefault(row.tracked.factors["model"], {})
            models.update(dict.fromkeys(model for _, model in sorted(origin.models)))
    return {level: list(models) for level, models in by_level.items()}


def _wordings(rows: tuple[Row, ...], origins: list[Provenance]) -> dict[str, Any]:
    """How many wordings the scenario has, and how many were read, by family."""
    found = next((origin.wordings for origin in origins if origin.wordings), "")
    pairs = {
        pair
        for row in rows
        for pair in zip(row.tracked.families, row.tracked.variants, strict=True)
    }
    families = Counter(family for family, _ in sorted(pairs))
    return {
        "wordings": sum(int(entry.rpartition(":")[2]) for entry in found.split()),
        "families": [f"{family} ({n:,})" for family, n in families.items()],
    }


def _branch(row: Row) -> dict[str, int]:
    """How many continuations a condition has: of each base state, once it has estimates."""
    found = row.branches
    return {
        "branches": found.branches if found else row.tracked.target,
        "bases": found.bases if found else 0,
        "after_round": row.tracked.after_round,
    }
