"""Checks that a scenario's wordings keep its meaning, by rules and by a judge model."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
