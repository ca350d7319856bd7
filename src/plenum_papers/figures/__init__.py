"""Figures that only the papers have: nulls, meaning and temperature.

Plenum finds each by an entry point of the group ``plenum.figures``.
"""

from matplotlib.figure import Figure

from plenum.reports.figures.catalogue import Drawing, draw_nothing
from plenum.reports.study import EstimatedStudy
from plenum_papers.figures import null, temperature, wordings

__all__ = ["NULL", "SEMANTIC", "TEMPERATURE"]


def _temperature(study: EstimatedStudy) -> Figure | None:
    return temperature.draw_temperatures(study.deliberated)


TEMPERATURE = Drawing(
    "temperature",
    "λ̂ against temperature",
    _temperature,
    "two temperatures, all else equal",
    draw_nothing,
)
NULL = Drawing("null", "λ̂ among time reversals and shuffles", null.draw_null, "a condition with λ̂")
SEMANTIC = Drawing(
    "semantic",
    "trajectories and D(t) of wordings",
    wordings.draw_wordings,
    "perturbed conditions with estimates",
)
