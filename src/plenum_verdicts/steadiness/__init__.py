"""Verdicts on protocols that may be steadier at kept quality, from counts of their decisions."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
