from .case import NO_DECISION as NO_DECISION
from .case import AuditCase as AuditCase
from .cases import CASE_COLUMNS as CASE_COLUMNS
from .cases import WORDINGS as WORDINGS
from .cases import apart as apart
from .cases import find_option as find_option
from .cases import load_cases as load_cases
from .cases import plain as plain
from .cases import read_options as read_options
from .cases import require_apart as require_apart
from .decision import GivenDecision as GivenDecision
from .decision import UnreadableDecision as UnreadableDecision
from .decision import at as at
from .decision import comparable as comparable
from .decision import last_json as last_json
from .decision import read_decision as read_decision
from .decision import rule_problem as rule_problem

__all__ = [
    "CASE_COLUMNS",
    "NO_DECISION",
    "WORDINGS",
    "AuditCase",
    "GivenDecision",
    "UnreadableDecision",
    "apart",
    "at",
    "comparable",
    "find_option",
    "last_json",
    "load_cases",
    "plain",
    "read_decision",
    "read_options",
    "require_apart",
    "rule_problem",
]
