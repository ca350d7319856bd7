from .design import VerdictConfig as VerdictConfig
from .suites.assessment import assess_suite as assess_suite
from .suites.suite_runs import SuiteRuns as SuiteRuns
from .suites.suite_verdict import SuiteRule as SuiteRule

__all__ = ["SuiteRule", "SuiteRuns", "VerdictConfig", "assess_suite"]
