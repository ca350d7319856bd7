from .case_logs import CaseLog as CaseLog
from .case_logs import Log as Log
from .case_logs import read_log as read_log
from .compared_runs import ComparedRuns as ComparedRuns
from .compared_runs import is_suite as is_suite
from .compared_runs import list_outcomes as list_outcomes
from .independent_runs import have_days_apart as have_days_apart
from .independent_runs import list_days as list_days
from .independent_runs import select_independent as select_independent
from .log_choices import describe_choices as describe_choices
from .log_columns import Columns as Columns
from .log_doubts import list_doubts as list_doubts
from .log_files import digest_sources as digest_sources
from .log_files import find_sources as find_sources
from .log_files import identify as identify
from .log_mixtures import folder_name as folder_name
from .log_scores import RIGHT as RIGHT
from .log_scores import UNNAMED as UNNAMED
from .log_scores import WRONG as WRONG
from .log_scores import read_score as read_score
from .logged_run import list_messages as list_messages
from .logged_run import read_usage as read_usage
from .protocol_logs import PERTURBED as PERTURBED
from .protocol_logs import ProtocolLog as ProtocolLog
from .protocol_logs import count_protocols as count_protocols
from .protocol_logs import read_protocols as read_protocols

__all__ = [
    "PERTURBED",
    "RIGHT",
    "UNNAMED",
    "WRONG",
    "CaseLog",
    "Columns",
    "ComparedRuns",
    "Log",
    "ProtocolLog",
    "count_protocols",
    "describe_choices",
    "digest_sources",
    "find_sources",
    "folder_name",
    "have_days_apart",
    "identify",
    "is_suite",
    "list_days",
    "list_doubts",
    "list_messages",
    "list_outcomes",
    "read_log",
    "read_protocols",
    "read_score",
    "read_usage",
    "select_independent",
]
