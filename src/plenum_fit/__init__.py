"""Committees fitted to real ones: what drives their states, and how well that predicts others."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
