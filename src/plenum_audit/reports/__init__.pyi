from .acting import explain_advice as explain_advice
from .acting import publish_acts as publish_acts
from .acting import read_rule as read_rule
from .acting import remove_stale_acts as remove_stale_acts
from .acting import tabulate_advice as tabulate_advice
from .acting_figure import draw_acting as draw_acting
from .outputs import REHEARSAL as REHEARSAL
from .publish import publish_audited as publish_audited
from .publish import publish_log as publish_log
from .publish import publish_unbegun as publish_unbegun
from .publish import publish_unended as publish_unended
from .record import AuditSubject as AuditSubject
from .record import list_signatures as list_signatures
from .record import record_audit as record_audit
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

__all__ = [
    "REHEARSAL",
    "AuditSubject",
    "SuitePart",
    "SuiteSource",
    "draw_acting",
    "explain_advice",
    "explain_changes",
    "explain_comparison",
    "explain_gate",
    "explain_split",
    "explain_suite",
    "has_suite",
    "list_signatures",
    "publish_acts",
    "publish_audited",
    "publish_log",
    "publish_suite",
    "publish_unbegun",
    "publish_unended",
    "publish_unended_suite",
    "read_rule",
    "record_audit",
    "remove_stale_acts",
    "tabulate_advice",
]
