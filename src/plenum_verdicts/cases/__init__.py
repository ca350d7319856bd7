"""Cases of a program under audit, data sets of them, and how decisions are read."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
