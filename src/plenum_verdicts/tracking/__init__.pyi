from .audits import Verdict as Verdict
from .audits import log_audit as log_audit
from .audits import metric_part as metric_part
from .audits import read_audited_programs as read_audited_programs
from .audits import read_last_report as read_last_report

__all__ = [
    "Verdict",
    "log_audit",
    "metric_part",
    "read_audited_programs",
    "read_last_report",
]
