"""Records: what was said, appended as it happens, and read back."""

from plenum.records.failures import Failure
from plenum.records.journal import CallLog, DamagedJournal, Journal
from plenum.records.transcript import Transcript, read

__all__ = ["CallLog", "DamagedJournal", "Failure", "Journal", "Transcript", "read"]
