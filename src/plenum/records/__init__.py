"""Journals, transcripts and call logs: appended as things happen, and read back."""

from plenum.records.calls import CallLog, attempts
from plenum.records.chain import DamagedJournal, TakenUp, read_entries
from plenum.records.failures import Failure
from plenum.records.journal import Journal
from plenum.records.transcript import Transcript, read
from plenum.records.usage import Usage

__all__ = [
    "CallLog", "DamagedJournal", "Failure", "Journal", "TakenUp", "Transcript", "Usage",
    "attempts", "read", "read_entries",
]  # fmt: skip
