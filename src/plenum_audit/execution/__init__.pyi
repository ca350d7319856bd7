from .audit import run_audit as run_audit
from .audit_logs import is_large as is_large
from .audit_logs import logged_program as logged_program
from .logged_suite import read_suite as read_suite

__all__ = ["is_large", "logged_program", "read_suite", "run_audit"]
