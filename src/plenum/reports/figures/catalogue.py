"""The catalogue of figures, by name."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure

from plenum.base.extensions import Registry
from plenum.reports.effects import select_deliberations
from plenum.reports.figures.branching import draw_branching
from plenum.reports.figures.decision_effects import differences
from plenum.reports.figures.decisions import decisions
from plenum.reports.figures.divergence import draw_divergence
from plenum.reports.figures.forest import forest
from plenum.reports.figures.majority import majority
from plenum.reports.figures.maps import draw_landscape, matrix
from plenum.reports.figures.simplex import simplex
from plenum.reports.study import EstimatedStudy


class Drawing(NamedTuple):
    """A figure: the stem of its files, what it shows in a line, and how it is drawn.

    ``draw`` gives ``None`` for a study that has nothing to show in it, and several figures where
    one page isn't enough. ``needs`` says what a study must have. ``many`` draws a large study,
    whose arrays aren't in memory; without it ``draw`` gets a sample of its conditions.
    """

    name: str
    shows: str
    draw: Callable[[EstimatedStudy], Figure | Sequence[Figure] | None]
    needs: str = ""
    many: Callable[[EstimatedStudy], Figure | Sequence[Figure] | None] | None = None


class SavedFigure(NamedTuple):
    """A page of a figure that was written.

    Attributes
    ----------
    name, shows
        Those of its drawing.
    files
        Its PNG and its SVG.
    caption
        What stands beside it, as plain text.
    """

    name: str
    shows: str
    files: list[Path]
    caption: str


def draw_nothing(study: EstimatedStudy) -> None:
    """Draw nothing of a large study, whose conditions don't fit into the figure."""


def _divergence(study: EstimatedStudy) -> Sequence[Figure] | None:
    rows = [row for row in study.deliberated if row.n > 1]
    return draw_divergence(rows, study.chosen.window) if rows else None


def _matrix(study: EstimatedStudy) -> Figure | None:
    return matrix(select_deliberations(study.rows))


def _landscape(study: EstimatedStudy) -> Sequence[Figure]:
    return draw_landscape(select_deliberations(study.rows))


def _forest(study: EstimatedStudy) -> Sequence[Figure] | None:
    effects = [*study.contrasts, *study.interactions]
    if not any(math.isfinite(effect.estimate.value) for effect in effects):
        return None
    return forest(study.contrasts, study.interactions, study.across)


_OF_COMMITTEES = (
    Drawing("decisions", "shares of each option, of no majority and of flips", decisions,
            "a condition with a completed replicate"),
    Drawing("differences", "shares of decisions in conditions that are compared, and how often runs"
            " disagree", differences, "two levels of a factor, all else equal"),
    Drawing("divergence", "D(t) by round with the fitted slopes", _divergence,
            "a deliberation with two completed replicates"),
    Drawing("matrix", "λ̂ by roles and model", _matrix,
            "two levels of roles by two of model, in at most four panels", draw_nothing),
    Drawing("forest", "differences of λ̂ with their intervals", _forest,
            "two levels of a factor, all else equal", draw_nothing),
    Drawing("landscape", "λ̂ over scenarios and conditions", _landscape, "two scenarios",
            draw_nothing),
    Drawing("simplex", "committee mean preferences on the simplex", simplex,
            "a deliberation with a completed replicate"),
    Drawing("majority", "time to majority, first and stable", majority,
            "a deliberation with a completed replicate"),
    Drawing("branching", "Γ̂, signed growth, ĉ of continuations", draw_branching,
            "continuations of replicates", draw_branching),
)  # fmt: skip

CATALOGUE: Registry[Drawing] = Registry("plenum.figures", "figure", Drawing)
"""Every figure by its name: those above, then those of installed packages."""

for _drawing in _OF_COMMITTEES:
    CATALOGUE.add(_drawing.name, _drawing)
