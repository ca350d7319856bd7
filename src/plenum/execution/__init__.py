"""Execution: conducts conditions from their first call to their estimates."""

from plenum.execution.conduct import conduct
from plenum.execution.outcomes import Outcome

__all__ = ["Outcome", "conduct"]
