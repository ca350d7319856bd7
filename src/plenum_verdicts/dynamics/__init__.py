"""Verdicts on the cases of a program: e-values, intervals of shares, plans of further runs."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
