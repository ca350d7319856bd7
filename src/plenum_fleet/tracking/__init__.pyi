from . import postgres as postgres
from . import row_writer as row_writer
from . import run_writer as run_writer

__all__ = [
    "postgres",
    "row_writer",
    "run_writer",
]
