"""Verdicts on stability, whose error rates hold whenever an audit stops."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
