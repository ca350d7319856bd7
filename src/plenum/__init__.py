"""plenum: a laboratory for the stability of committees of language models.

In a notebook, ``plenum.study("default").frame()`` is the condition table of a study, and
``plenum.sweep("roles=on,off")`` runs one; ``docs/api.md`` shows an analysis.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for editors and type checkers, which run nothing
    from plenum.base.errors import UserError as UserError
    from plenum.dynamics.branching import branching as branching
    from plenum.dynamics.contrasts import contrast as contrast
    from plenum.dynamics.contrasts import interaction as interaction
    from plenum.dynamics.decision_contrasts import compare_decisions as compare_decisions
    from plenum.dynamics.decision_contrasts import decision_interaction as decision_interaction
    from plenum.dynamics.decision_contrasts import pool_decisions as pool_decisions
    from plenum.dynamics.decision_sample_sizes import plan_decisions as plan_decisions
    from plenum.dynamics.decisions import flip_rate as flip_rate
    from plenum.dynamics.decisions import mcnemar as mcnemar
    from plenum.dynamics.decisions import pairwise_disagreement as pairwise_disagreement
    from plenum.dynamics.divergence import divergence as divergence
    from plenum.dynamics.lyapunov import lyapunov as lyapunov
    from plenum.dynamics.majority import time_to_majority as time_to_majority
    from plenum.dynamics.meta_analysis import pool as pool
    from plenum.dynamics.multiplicity import benjamini_hochberg as benjamini_hochberg
    from plenum.dynamics.multiplicity import holm as holm
    from plenum.dynamics.nulls import reversal_test as reversal_test
    from plenum.dynamics.nulls import shuffle_test as shuffle_test
    from plenum.dynamics.sample_sizes import plan_replicates as plan_replicates
    from plenum.dynamics.summary import summarise as summarise
    from plenum.dynamics.switches import switch_counts as switch_counts
    from plenum.reports.notebook import study as study
    from plenum.reports.notebook import sweep as sweep

__version__ = "0.3.0"

_NAMES = {
    "base.errors": "UserError", "dynamics.branching": "branching",
    "dynamics.contrasts": "contrast interaction",
    "dynamics.decision_contrasts": "compare_decisions decision_interaction pool_decisions",
    "dynamics.decision_sample_sizes": "plan_decisions",
    "dynamics.decisions": "flip_rate mcnemar pairwise_disagreement",
    "dynamics.divergence": "divergence", "dynamics.lyapunov": "lyapunov",
    "dynamics.majority": "time_to_majority", "dynamics.meta_analysis": "pool",
    "dynamics.multiplicity": "benjamini_hochberg holm",
    "dynamics.nulls": "reversal_test shuffle_test", "dynamics.sample_sizes": "plan_replicates",
    "dynamics.summary": "summarise", "dynamics.switches": "switch_counts",
    "reports.notebook": "study sweep",
}  # fmt: skip
"""The names of each module, which is imported when one is first used (PEP 562)."""

_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"plenum.{_HOMES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
