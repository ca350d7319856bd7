"""Journals, transcripts and call logs: appended as things happen, and read back."""

from plenum.base.moved import find_moved

__getattr__ = find_moved(
    __name__,
    {
        "records.failures": "Failure",
        "records.journal": "Journal",
        "records.transcript": "Transcript read",
        "records.usage": "Usage",
    },
)
