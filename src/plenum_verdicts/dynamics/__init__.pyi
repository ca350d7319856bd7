from .accuracy import estimate_accuracy as estimate_accuracy
from .audit_baseline import CaseComparison as CaseComparison
from .audit_baseline import compare as compare
from .audit_baseline import compute_worsening as compute_worsening
from .audit_result import STOPPED as STOPPED
from .audit_result import AuditResult as AuditResult
from .audit_result import exit_status as exit_status
from .audit_runs import Further as Further
from .audit_runs import horizon as horizon
from .audit_runs import plan_further as plan_further
from .audit_runs import simulate_audits as simulate_audits
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
from .parting_place import Place as Place
from .sequential import compute_unstable as compute_unstable
from .sequential import e_value as e_value

__all__ = [
    "FAILED",
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
    "begin_evidence",
    "compare",
    "compute_unstable",
    "compute_worsening",
    "decide_outcome",
    "e_value",
    "encode_outcomes",
    "estimate_accuracy",
    "exit_status",
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
