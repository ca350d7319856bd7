from .data_sets import TABLES as TABLES
from .data_sets import Row as Row
from .data_sets import Wrong as Wrong
from .data_sets import read_rows as read_rows
from .log_reader import LogReader as LogReader
from .log_reader import LogSource as LogSource
from .log_reader import Records as Records
from .log_reader import describe_program as describe_program
from .log_reader import find_reader as find_reader
from .log_reader import list_told as list_told
from .log_reader import read_records as read_records

__all__ = [
    "TABLES",
    "LogReader",
    "LogSource",
    "Records",
    "Row",
    "Wrong",
    "describe_program",
    "find_reader",
    "list_told",
    "read_records",
    "read_rows",
]
