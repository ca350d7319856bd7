"""Import and check of the runs that the papers' authors published in their repository."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
