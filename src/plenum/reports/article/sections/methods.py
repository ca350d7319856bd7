"""Section 9: how the numbers were computed; section 10: where they come from."""

import platform
from typing import Any

import numpy
import scipy

from plenum.base import project
from plenum.reports.article.material import Material


def facts(material: Material) -> dict[str, Any]:
    """Which methods were used, and the versions of the software."""
    chosen, rows, study = material.chosen, material.rows, material.study
    return {
        "exponents": bool(material.kinds),
        "window": chosen.window,
        "interval": chosen.interval,
        "draws": chosen.draws,
        "decisions": any(row.summary for row in rows),
        "wordings": any(row.wordings for row in rows),
        "branches": bool(material.branched),
        "contrasts": bool(study.contrasts),
        "perturbed": any(row.tracked.perturbed for row in rows),
        "interactions": bool(study.interactions),
        "pooled": bool(study.across),
        "version": project.code_version(),
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "python": platform.python_version(),
    }


def runs(material: Material) -> dict[str, Any]:
    """The tables of the appendix."""
    squares = [*material.named("square"), *material.named("landscape")]
    details = material.named("diagnostics")
    return {
        "squares": [material.table(name) for name in squares],
        "details": [material.table(name) for name in details],
        "tables": [*squares, *details],
        "conditions": len(material.every),
        "study": material.chosen.study,
    }
