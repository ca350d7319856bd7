"""Estimates from ensembles of replicates; pure functions of arrays.

Imports numpy, scipy and, to pool, statsmodels.
"""

from plenum.dynamics.attrition import Association, association, independence
from plenum.dynamics.branching import Branching, branching, of_replicates
from plenum.dynamics.contrasts import Contrast, contrast, interaction, of_estimates
from plenum.dynamics.decisions import (
    NO_MAJORITY,
    McNemar,
    Share,
    flip_rate,
    mcnemar,
    pairwise_disagreement,
    share,
    tally,
)
from plenum.dynamics.diagnostics import Diagnostics, cap
from plenum.dynamics.divergence import ZERO, divergence, pairwise_distances
from plenum.dynamics.estimate import Estimate
from plenum.dynamics.fit import WINDOW
from plenum.dynamics.lyapunov import LyapunovEstimate, lyapunov
from plenum.dynamics.majority import TimeToMajority, time_to_majority
from plenum.dynamics.multiplicity import benjamini_hochberg, holm
from plenum.dynamics.nulls import NullTest, reversal_test, shuffle_test
from plenum.dynamics.planning import Look, Plan, look, plan_replicates
from plenum.dynamics.pooled import MixedModel, Pooled, mixed_model, pooled
from plenum.dynamics.resampling import DRAWS, INTERVALS, Bootstrap, Interval, bootstrap
from plenum.dynamics.summary import Summary, summarise
from plenum.dynamics.switches import SwitchCounts, switch_counts

__all__ = [
    "DRAWS", "INTERVALS", "NO_MAJORITY", "WINDOW", "ZERO", "Association", "Bootstrap",
    "Branching", "Contrast", "Diagnostics", "Estimate", "Interval", "Look", "LyapunovEstimate",
    "McNemar", "MixedModel", "NullTest", "Plan", "Pooled", "Share", "Summary",
    "SwitchCounts", "TimeToMajority", "association", "benjamini_hochberg", "bootstrap",
    "branching", "cap", "contrast", "divergence", "flip_rate", "holm", "independence",
    "interaction", "look", "lyapunov", "mcnemar", "mixed_model", "of_estimates",
    "of_replicates", "pairwise_disagreement", "pairwise_distances", "plan_replicates", "pooled",
    "reversal_test", "share", "shuffle_test", "summarise", "switch_counts", "tally",
    "time_to_majority",
]  # fmt: skip
