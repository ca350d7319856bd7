from .log_columns import DOCS as DOCS
from .log_columns import NOT_RENAMED as NOT_RENAMED
from .log_columns import Columns as Columns
from .log_files import find_common_reader as find_common_reader
from .log_files import find_sources as find_sources
from .log_files import identify as identify
from .log_scores import RIGHT as RIGHT
from .log_scores import WRONG as WRONG
from .log_scores import judge as judge
from .log_scores import read_score as read_score

__all__ = [
    "DOCS",
    "NOT_RENAMED",
    "RIGHT",
    "WRONG",
    "Columns",
    "find_common_reader",
    "find_sources",
    "identify",
    "judge",
    "read_score",
]
