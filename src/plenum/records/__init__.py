"""Journals, transcripts and call logs: appended as things happen, and read back."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
