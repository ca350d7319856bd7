"""Sources of divergence between the runs of a program, by their calls, and caches."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
