"""Section 6: the warnings that occur, what they mean, and where."""

from typing import Any

from plenum.dynamics.warnings import WARNINGS, Warned
from plenum.reports.article.material import Material
from plenum.reports.rows import Row

_UNKNOWN = Warned("", "", "", "the estimates carry it", "see the documentation of estimates")
"""What is written of a warning that isn't known."""


def facts(material: Material) -> dict[str, Any]:
    """Each warning that occurs, what it means, and for which conditions."""
    study, carried = material.study, dict[str, list[Row]]()
    for row in material.rows:
        for name in row.warnings:
            if WARNINGS.get(name, _UNKNOWN).seen:
                carried.setdefault(name, []).append(row)
    occurring = {
        *carried,
        *(name for effect in (*study.contrasts, *study.interactions) for name in effect.warnings),
        *(name for across in study.across for name in across.warnings),
    }
    names = [name for name in WARNINGS if name in occurring]
    names += sorted(occurring - set(names))
    return {
        "conditions": len(material.rows),
        "warned": len({row.tracked.run_id for rows in carried.values() for row in rows}),
        "warnings": [(name, WARNINGS.get(name, _UNKNOWN), carried.get(name, [])) for name in names],
        "tables": [material.table(name) for name in material.named("conditions")],
    }
