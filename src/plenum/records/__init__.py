"""Journals, transcripts and call logs: appended as things happen, and read back."""
