from .audit import run_audit as run_audit
from .audit_logs import describe_log as describe_log
from .fixed_runs import act as act
from .fixed_runs import run_suite as run_suite
from .logged_suite import compares_right as compares_right
from .logged_suite import describe_choices as describe_choices
from .logged_suite import list_options_by_case as list_options_by_case
from .logged_suite import read_baseline as read_baseline
from .logged_suite import read_sources as read_sources
from .logged_suite import read_suite as read_suite
from .logged_suite import wants_suite as wants_suite
from .varied_runs import count_runs as count_runs
from .varied_runs import read_varied_runs as read_varied_runs

__all__ = [
    "act",
    "compares_right",
    "count_runs",
    "describe_choices",
    "describe_log",
    "list_options_by_case",
    "read_baseline",
    "read_sources",
    "read_suite",
    "read_varied_runs",
    "run_audit",
    "run_suite",
    "wants_suite",
]
