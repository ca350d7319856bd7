from .data_sets import TABLES as TABLES
from .data_sets import Row as Row
from .data_sets import Wrong as Wrong
from .data_sets import read_rows as read_rows
from .fields import make_label as make_label
from .log_reader import READERS as READERS
from .log_reader import LogReader as LogReader
from .log_reader import LogSource as LogSource
from .log_reader import Records as Records
from .log_reader import describe_program as describe_program
from .log_reader import find_reader as find_reader
from .log_reader import list_told as list_told
from .log_reader import read_records as read_records
from .mlflow_traces import CASE_TAG as CASE_TAG
from .mlflow_traces import list_traces as list_traces
from .mlflow_traces import read_trace as read_trace

__all__ = [
    "CASE_TAG",
    "READERS",
    "TABLES",
    "LogReader",
    "LogSource",
    "Records",
    "Row",
    "Wrong",
    "describe_program",
    "find_reader",
    "list_told",
    "list_traces",
    "make_label",
    "read_records",
    "read_rows",
    "read_trace",
]
