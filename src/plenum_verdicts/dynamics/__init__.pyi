from .accuracy import estimate_accuracy as estimate_accuracy
from .audit_baseline import CaseComparison as CaseComparison
from .audit_baseline import compare as compare
from .audit_baseline import compute_worsening as compute_worsening
from .audit_result import STOPPED as STOPPED
from .audit_result import AuditResult as AuditResult
from .audit_result import TriedOption as TriedOption
from .audit_result import exit_status as exit_status
from .audit_runs import Further as Further
from .audit_runs import horizon as horizon
from .audit_runs import plan_further as plan_further
from .audit_runs import simulate_audits as simulate_audits
from .audit_votes import bound_gain as bound_gain
from .audit_votes import evaluate_votes as evaluate_votes
from .audits import FAILED as FAILED
from .audits import NO_DECISION as NO_DECISION
from .audits import STABLE as STABLE
from .audits import UNDECIDED as UNDECIDED
from .audits import UNSTABLE as UNSTABLE
from .audits import CaseVerdict as CaseVerdict
from .audits import FamilyVerdict as FamilyVerdict
from .audits import StabilityRule as StabilityRule
from .audits import begin_evidence as begin_evidence
from .audits import decide_outcome as decide_outcome
from .audits import encode_outcomes as encode_outcomes
from .audits import find_mixed_models as find_mixed_models
from .audits import judge_case as judge_case
from .audits import judge_cases as judge_cases
from .audits import judge_family as judge_family
from .audits import p_value as p_value
from .audits import select_ended as select_ended
from .parting_calls import LEAST_REPEATS as LEAST_REPEATS
from .parting_calls import LEAST_TOKENS as LEAST_TOKENS
from .parting_calls import Place as Place
from .parting_calls import compare_calls as compare_calls
from .parting_calls import describe_kept_results as describe_kept_results
from .parting_calls import find_cache as find_cache
from .parting_calls import find_cache_without_calls as find_cache_without_calls
from .parting_calls import find_change as find_change
from .sequential import compute_unstable as compute_unstable
from .sequential import e_value as e_value

__all__ = [
    "FAILED",
    "LEAST_REPEATS",
    "LEAST_TOKENS",
    "NO_DECISION",
    "STABLE",
    "STOPPED",
    "UNDECIDED",
    "UNSTABLE",
    "AuditResult",
    "CaseComparison",
    "CaseVerdict",
    "FamilyVerdict",
    "Further",
    "Place",
    "StabilityRule",
    "TriedOption",
    "begin_evidence",
    "bound_gain",
    "compare",
    "compare_calls",
    "compute_unstable",
    "compute_worsening",
    "decide_outcome",
    "describe_kept_results",
    "e_value",
    "encode_outcomes",
    "estimate_accuracy",
    "evaluate_votes",
    "exit_status",
    "find_cache",
    "find_cache_without_calls",
    "find_change",
    "find_mixed_models",
    "horizon",
    "judge_case",
    "judge_cases",
    "judge_family",
    "p_value",
    "plan_further",
    "select_ended",
    "simulate_audits",
]
