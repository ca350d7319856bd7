"""Records: what was said, appended as it happens, and read back."""

from plenum.records.calls import CallLog, Effort, attempts
from plenum.records.failures import Failure
from plenum.records.journal import DamagedJournal, Journal, read_entries
from plenum.records.transcript import Transcript, read

__all__ = [
    "CallLog",
    "DamagedJournal",
    "Effort",
    "Failure",
    "Journal",
    "Transcript",
    "attempts",
    "read",
    "read_entries",
]
