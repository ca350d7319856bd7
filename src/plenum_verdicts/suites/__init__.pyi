from .assessment import SuiteAssessment as SuiteAssessment
from .assessment import assess_suite as assess_suite
from .comparison import SuiteComparison as SuiteComparison
from .comparison import compare_suites as compare_suites
from .disagreement import UnsteadyCases as UnsteadyCases
from .disagreement import bound_lost_runs as bound_lost_runs
from .disagreement import bound_unsteady_cases as bound_unsteady_cases
from .disagreement import estimate_disagreement as estimate_disagreement
from .gate_assessment import GateAssessment as GateAssessment
from .gate_assessment import GateErrors as GateErrors
from .gate_assessment import assess_gate as assess_gate
from .gate_errors import chance_to_pass as chance_to_pass
from .gate_errors import drop_chances as drop_chances
from .gates import TOLERANCE as TOLERANCE
from .gates import Gate as Gate
from .gates import ScoreGate as ScoreGate
from .gates import parse_gate as parse_gate
from .intervals import SuiteEstimate as SuiteEstimate
from .intervals import estimate_mean_of_cases as estimate_mean_of_cases
from .scores import HALVING as HALVING
from .scores import SuiteScore as SuiteScore
from .scores import score_suite as score_suite
from .sources import Source as Source
from .sources import SourceSplit as SourceSplit
from .sources import split_by_source as split_by_source
from .suite_runs import Codes as Codes
from .suite_runs import SuiteRuns as SuiteRuns
from .suite_runs import sum_groups as sum_groups
from .suite_verdict import RunningSuite as RunningSuite
from .suite_verdict import SuiteRule as SuiteRule
from .suite_verdict import SuiteVerdict as SuiteVerdict
from .suite_verdict import count_cases_needed as count_cases_needed
from .suite_verdict import judge_suite as judge_suite
from .undecided_runs import drop_number as drop_number
from .undecided_runs import list_undecided as list_undecided
from .undecided_runs import tell_apart as tell_apart
from .unsteady_cases import find_unsteady as find_unsteady

__all__ = [
    "HALVING",
    "TOLERANCE",
    "Codes",
    "Gate",
    "GateAssessment",
    "GateErrors",
    "RunningSuite",
    "ScoreGate",
    "Source",
    "SourceSplit",
    "SuiteAssessment",
    "SuiteComparison",
    "SuiteEstimate",
    "SuiteRule",
    "SuiteRuns",
    "SuiteScore",
    "SuiteVerdict",
    "UnsteadyCases",
    "assess_gate",
    "assess_suite",
    "bound_lost_runs",
    "bound_unsteady_cases",
    "chance_to_pass",
    "compare_suites",
    "count_cases_needed",
    "drop_chances",
    "drop_number",
    "estimate_disagreement",
    "estimate_mean_of_cases",
    "find_unsteady",
    "judge_suite",
    "list_undecided",
    "parse_gate",
    "score_suite",
    "split_by_source",
    "sum_groups",
    "tell_apart",
]
