from .acting import explain_advice as explain_advice
from .acting import publish_acts as publish_acts
from .acting import read_rule as read_rule
from .acting import remove_stale_acts as remove_stale_acts
from .acting import tabulate_advice as tabulate_advice
from .acting_figure import draw_acting as draw_acting
from .audit import LOGS as LOGS
from .audit import Accuracy as Accuracy
from .audit import AuditReport as AuditReport
from .audit import CaseAudit as CaseAudit
from .audit import Circumstances as Circumstances
from .audit import Cost as Cost
from .audit import DifferingRuns as DifferingRuns
from .audit import DivergenceSource as DivergenceSource
from .audit import ShareInterval as ShareInterval
from .audit import list_verdict_fields as list_verdict_fields
from .audit import measure_accuracy as measure_accuracy
from .causes import find_causes as find_causes
from .dialogue import latest_parting as latest_parting
from .dialogue import messages as messages
from .dialogue import sides as sides
from .outputs import REHEARSAL as REHEARSAL
from .publish import compose_document as compose_document
from .publish import describe_untracked as describe_untracked
from .publish import explain_causes as explain_causes
from .publish import findings as findings
from .publish import list_tables as list_tables
from .publish import make_frame_of_cases as make_frame_of_cases
from .publish import publish_log as publish_log
from .publish import publish_report as publish_report
from .publish import publish_unbegun as publish_unbegun
from .publish import write_report as write_report
from .record import AuditRecord as AuditRecord
from .record import AuditSubject as AuditSubject
from .record import list_signatures as list_signatures
from .record import record_audit as record_audit
from .sections import collect_sections as collect_sections
from .suite import SuitePart as SuitePart
from .suite import explain_suite as explain_suite
from .suite import has_suite as has_suite
from .suite import publish_suite as publish_suite
from .suite import publish_unended_suite as publish_unended_suite
from .suite_comparison import explain_comparison as explain_comparison
from .suite_gate import explain_gate as explain_gate
from .suite_source import SuiteSource as SuiteSource
from .suite_split import explain_changes as explain_changes
from .suite_split import explain_split as explain_split
from .words import format_outcome as format_outcome

__all__ = [
    "LOGS",
    "REHEARSAL",
    "Accuracy",
    "AuditRecord",
    "AuditReport",
    "AuditSubject",
    "CaseAudit",
    "Circumstances",
    "Cost",
    "DifferingRuns",
    "DivergenceSource",
    "ShareInterval",
    "SuitePart",
    "SuiteSource",
    "collect_sections",
    "compose_document",
    "describe_untracked",
    "draw_acting",
    "explain_advice",
    "explain_causes",
    "explain_changes",
    "explain_comparison",
    "explain_gate",
    "explain_split",
    "explain_suite",
    "find_causes",
    "findings",
    "format_outcome",
    "has_suite",
    "latest_parting",
    "list_signatures",
    "list_tables",
    "list_verdict_fields",
    "make_frame_of_cases",
    "measure_accuracy",
    "messages",
    "publish_acts",
    "publish_log",
    "publish_report",
    "publish_suite",
    "publish_unbegun",
    "publish_unended_suite",
    "read_rule",
    "record_audit",
    "remove_stale_acts",
    "sides",
    "tabulate_advice",
    "write_report",
]
