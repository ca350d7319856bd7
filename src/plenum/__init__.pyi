from .base.errors import UserError
from .dynamics.branching import branching
from .dynamics.contrasts import contrast, interaction
from .dynamics.decision_contrasts import compare_decisions, decision_interaction, pool_decisions
from .dynamics.decision_sample_sizes import plan_decisions
from .dynamics.decisions import flip_rate, mcnemar, pairwise_disagreement
from .dynamics.divergence import divergence
from .dynamics.lyapunov import lyapunov
from .dynamics.majority import time_to_majority
from .dynamics.meta_analysis import pool
from .dynamics.multiplicity import benjamini_hochberg, holm
from .dynamics.nulls import reversal_test, shuffle_test
from .dynamics.sample_sizes import plan_replicates
from .dynamics.summary import summarise
from .dynamics.switches import switch_counts
from .reports.notebook import study, sweep

__version__: str
__all__ = [
    "UserError",
    "benjamini_hochberg",
    "branching",
    "compare_decisions",
    "contrast",
    "decision_interaction",
    "divergence",
    "flip_rate",
    "holm",
    "interaction",
    "lyapunov",
    "mcnemar",
    "pairwise_disagreement",
    "plan_decisions",
    "plan_replicates",
    "pool",
    "pool_decisions",
    "reversal_test",
    "shuffle_test",
    "study",
    "summarise",
    "sweep",
    "switch_counts",
    "time_to_majority",
]  # fmt: skip
