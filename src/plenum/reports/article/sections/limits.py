"""Section 8: what can't be concluded from what there is."""

from typing import Any

from plenum.reports.article.material import Material
from plenum.reports.article.sections.question import PUBLISHED
from plenum.reports.rows import in_other_environments

_FEW = 10


def facts(material: Material) -> dict[str, Any]:
    """What the study holds, as far as it limits what can be concluded."""
    rows, kinds = material.rows, material.kinds
    fits = [fit for kind in kinds for fit in kind.fits]
    cold = any(row.tracked.factors["temperature"] == "t0" for row in rows)
    drawn = any("null" in picture.name for picture in material.pictures)
    return {
        "simulated": any(row.tracked.simulated for row in rows),
        "tiny": any(row.tracked.tiny for row in rows),
        "deterministic_api": cold and any(r.tracked.factors["backend"] == "api" for r in rows),
        "environments": (
            any("environments" in row.warnings for row in rows) or in_other_environments(rows)
        ),
        "symbol": kinds[0].symbol if kinds else "λ̂",
        "exponents": [fit.exponent.value for fit in fits],
        "diffusion": [fit.diagnostics.diffusion for fit in fits],
        "flip_dominated": sum("flip_dominated" in fit.exponent.warnings for fit in fits),
        "saturated": sum("saturated" in fit.exponent.warnings for fit in fits),
        "perturbed": any(row.tracked.perturbed for row in rows),
        "shuffled": material.chosen.study in PUBLISHED or drawn,
        "few": [row.n for row in rows if row.summary is not None and row.n < _FEW],
        "pending": sum(row.pending for row in rows),
        "failed": sum(row.failed for row in rows),
        "without": [row for row in rows if row.status in ("no_estimates", "no_replicates")],
        "scenarios": len({row.tracked.factors["scenario"] for row in rows}),
        "contrasts": bool(material.study.contrasts),
        "compared": any(len(kind.fits) > 1 for kind in kinds),
    }
