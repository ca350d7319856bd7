"""Journals, transcripts and call logs: appended as things happen, and read back."""

from typing import TYPE_CHECKING

from plenum.base.moved import find_moved

if not TYPE_CHECKING:  # a type checker is to see that plenum's own code says the module
    __getattr__ = find_moved(__name__, {
        "records.failures": "Failure", "records.journal": "Journal",
        "records.transcript": "Transcript", "records.transcript:read_transcript": "read",
        "records.usage": "Usage",
    })  # fmt: skip
