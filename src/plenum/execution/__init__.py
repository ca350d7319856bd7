"""The execution of conditions, from their first call to their estimates."""

from plenum.execution.outcomes import Outcome
from plenum.execution.sweep import run_sweep

__all__ = ["Outcome", "run_sweep"]
