"""Verdicts in MLflow: one run each, so that they can be compared over time."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
