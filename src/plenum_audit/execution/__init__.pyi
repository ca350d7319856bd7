from .audit import run_audit as run_audit
from .audit_logs import describe_log as describe_log
from .audit_logs import is_large as is_large
from .audit_logs import logged_program as logged_program
from .audit_logs import read_suite as read_suite

__all__ = ["describe_log", "is_large", "logged_program", "read_suite", "run_audit"]
