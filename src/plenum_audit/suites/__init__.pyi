from .assessment import SuiteAssessment as SuiteAssessment
from .assessment import assess_suite as assess_suite
from .disagreement import UnsteadyCases as UnsteadyCases
from .disagreement import bound_unsteady_cases as bound_unsteady_cases
from .disagreement import estimate_disagreement as estimate_disagreement
from .intervals import SuiteEstimate as SuiteEstimate
from .scores import HALVING as HALVING
from .scores import SuiteScore as SuiteScore
from .scores import score_suite as score_suite
from .suite_runs import Codes as Codes
from .suite_runs import SuiteRuns as SuiteRuns
from .suite_verdict import SuiteRule as SuiteRule
from .suite_verdict import SuiteVerdict as SuiteVerdict
from .suite_verdict import judge_suite as judge_suite

__all__ = [
    "HALVING",
    "Codes",
    "SuiteAssessment",
    "SuiteEstimate",
    "SuiteRule",
    "SuiteRuns",
    "SuiteScore",
    "SuiteVerdict",
    "UnsteadyCases",
    "assess_suite",
    "bound_unsteady_cases",
    "estimate_disagreement",
    "judge_suite",
    "score_suite",
]
