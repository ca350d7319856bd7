from .accuracy import estimate_accuracy as estimate_accuracy
from .audit_baseline import CaseComparison as CaseComparison
from .audit_baseline import compare as compare
from .audit_baseline import worse as worse
from .audit_growth import growth as growth
from .audit_result import STOPPED as STOPPED
from .audit_result import AuditResult as AuditResult
from .audit_result import TriedOption as TriedOption
from .audit_result import exit_status as exit_status
from .audit_runs import Further as Further
from .audit_runs import further as further
from .audit_runs import horizon as horizon
from .audit_runs import simulate_audits as simulate_audits
from .audit_votes import gain as gain
from .audit_votes import votes as votes
from .audits import FAILED as FAILED
from .audits import NO_DECISION as NO_DECISION
from .audits import STABLE as STABLE
from .audits import UNDECIDED as UNDECIDED
from .audits import UNSTABLE as UNSTABLE
from .audits import CaseVerdict as CaseVerdict
from .audits import FamilyVerdict as FamilyVerdict
from .audits import StabilityRule as StabilityRule
from .audits import begin_evidence as begin_evidence
from .audits import case_verdict as case_verdict
from .audits import case_verdicts as case_verdicts
from .audits import encode_outcomes as encode_outcomes
from .audits import evidence_by_run as evidence_by_run
from .audits import family as family
from .audits import in_order as in_order
from .audits import outcome as outcome
from .audits import p_value as p_value
from .audits import several_fingerprints as several_fingerprints
from .parting_calls import LEAST_REPEATS as LEAST_REPEATS
from .parting_calls import LEAST_TOKENS as LEAST_TOKENS
from .parting_calls import Place as Place
from .parting_calls import alike_before_parting as alike_before_parting
from .parting_calls import begun_later as begun_later
from .parting_calls import compare_calls as compare_calls
from .parting_calls import find_cache as find_cache
from .parting_calls import find_cache_without_calls as find_cache_without_calls
from .parting_calls import find_change as find_change
from .sequential import e_value as e_value
from .sequential import unstable_at as unstable_at

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
    "alike_before_parting",
    "begin_evidence",
    "begun_later",
    "case_verdict",
    "case_verdicts",
    "compare",
    "compare_calls",
    "e_value",
    "encode_outcomes",
    "estimate_accuracy",
    "evidence_by_run",
    "exit_status",
    "family",
    "find_cache",
    "find_cache_without_calls",
    "find_change",
    "further",
    "gain",
    "growth",
    "horizon",
    "in_order",
    "outcome",
    "p_value",
    "several_fingerprints",
    "simulate_audits",
    "unstable_at",
    "votes",
    "worse",
]
