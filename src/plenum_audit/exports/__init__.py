"""Verdicts in other tools' formats: attestations, scores of inspect."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
