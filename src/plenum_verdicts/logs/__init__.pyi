from .case_logs import CaseLog as CaseLog
from .case_logs import Log as Log
from .case_logs import collect_log as collect_log
from .case_logs import read_log as read_log
from .case_names import list_names as list_names
from .log_columns import DOCS as DOCS
from .log_columns import NOT_RENAMED as NOT_RENAMED
from .log_columns import Columns as Columns
from .log_doubts import has_declared_options as has_declared_options
from .log_doubts import list_doubts as list_doubts
from .log_files import find_common_reader as find_common_reader
from .log_files import find_sources as find_sources
from .log_files import identify as identify
from .log_mixtures import SOURCES as SOURCES
from .log_mixtures import folder_name as folder_name
from .log_mixtures import read_value as read_value
from .log_scores import RIGHT as RIGHT
from .log_scores import UNNAMED as UNNAMED
from .log_scores import WRONG as WRONG
from .log_scores import read_score as read_score
from .log_scores import settle_results as settle_results
from .logged_run import list_messages as list_messages
from .logged_run import read_usage as read_usage
from .suite_rows import SuiteLog as SuiteLog
from .suite_rows import describe_choices as describe_choices
from .suite_rows import is_suite as is_suite
from .suite_rows import list_outcomes as list_outcomes

__all__ = [
    "DOCS",
    "NOT_RENAMED",
    "RIGHT",
    "SOURCES",
    "UNNAMED",
    "WRONG",
    "CaseLog",
    "Columns",
    "Log",
    "SuiteLog",
    "collect_log",
    "describe_choices",
    "find_common_reader",
    "find_sources",
    "folder_name",
    "has_declared_options",
    "identify",
    "is_suite",
    "list_doubts",
    "list_messages",
    "list_names",
    "list_outcomes",
    "read_log",
    "read_score",
    "read_usage",
    "read_value",
    "settle_results",
]
