from .acting import RULE_SCHEMA as RULE_SCHEMA
from .acting import publish_acts as publish_acts
from .acting import read_rule as read_rule
from .acting import remove_stale_acts as remove_stale_acts
from .acting import tabulate_advice as tabulate_advice
from .acting_figure import draw_acting as draw_acting
from .audit import AUDIT as AUDIT
from .audit import LOGS as LOGS
from .audit import SUITE as SUITE
from .audit import VERDICT as VERDICT
from .audit import Accuracy as Accuracy
from .audit import AuditReport as AuditReport
from .audit import CaseAudit as CaseAudit
from .audit import Circumstances as Circumstances
from .audit import Cost as Cost
from .audit import DifferingRuns as DifferingRuns
from .audit import DivergenceSource as DivergenceSource
from .audit import list_verdict_fields as list_verdict_fields
from .audit import measure_accuracy as measure_accuracy
from .causes import find_causes as find_causes
from .dialogue import latest_parting as latest_parting
from .dialogue import messages as messages
from .dialogue import sides as sides
from .empty_report import explain_end as explain_end
from .log_report import report_log as report_log
from .outputs import REHEARSAL as REHEARSAL
from .outputs import make_folder as make_folder
from .outputs import refuse_overwriting as refuse_overwriting
from .outputs import write_texts as write_texts
from .publish import compose_document as compose_document
from .publish import explain_causes as explain_causes
from .publish import findings as findings
from .publish import list_tables as list_tables
from .publish import make_frame_of_cases as make_frame_of_cases
from .publish import publish_log as publish_log
from .publish import publish_report as publish_report
from .publish import publish_unbegun as publish_unbegun
from .publish import read_study as read_study
from .publish import write_report as write_report
from .record import AuditSubject as AuditSubject
from .record import record_audit as record_audit
from .sections import collect_sections as collect_sections
from .steady import PlanCheck as PlanCheck
from .steady import publish_steadiness as publish_steadiness
from .steady import tabulate_steadiness as tabulate_steadiness
from .steady_figure import draw_steadiness as draw_steadiness
from .subjects import describe_file as describe_file
from .subjects import digest_bytes as digest_bytes
from .subjects import digest_file as digest_file
from .subjects import digest_manifest as digest_manifest
from .subjects import list_case_subjects as list_case_subjects
from .subjects import list_log_subjects as list_log_subjects
from .suite import SuitePart as SuitePart
from .suite import SuiteReport as SuiteReport
from .suite_words import explain as explain
from .suite_words import explain_needed as explain_needed
from .suite_words import explain_split as explain_split
from .suite_words import explain_suite as explain_suite
from .words import format_outcome as format_outcome

__all__ = [
    "AUDIT",
    "LOGS",
    "REHEARSAL",
    "RULE_SCHEMA",
    "SUITE",
    "VERDICT",
    "Accuracy",
    "AuditReport",
    "AuditSubject",
    "CaseAudit",
    "Circumstances",
    "Cost",
    "DifferingRuns",
    "DivergenceSource",
    "PlanCheck",
    "SuitePart",
    "SuiteReport",
    "collect_sections",
    "compose_document",
    "describe_file",
    "digest_bytes",
    "digest_file",
    "digest_manifest",
    "draw_acting",
    "draw_steadiness",
    "explain",
    "explain_causes",
    "explain_end",
    "explain_needed",
    "explain_split",
    "explain_suite",
    "find_causes",
    "findings",
    "format_outcome",
    "latest_parting",
    "list_case_subjects",
    "list_log_subjects",
    "list_tables",
    "list_verdict_fields",
    "make_folder",
    "make_frame_of_cases",
    "measure_accuracy",
    "messages",
    "publish_acts",
    "publish_log",
    "publish_report",
    "publish_steadiness",
    "publish_unbegun",
    "read_rule",
    "read_study",
    "record_audit",
    "refuse_overwriting",
    "remove_stale_acts",
    "report_log",
    "sides",
    "tabulate_advice",
    "tabulate_steadiness",
    "write_report",
    "write_texts",
]
