from .suite_runs import Codes as Codes
from .suite_runs import SuiteRuns as SuiteRuns

__all__ = ["Codes", "SuiteRuns"]
