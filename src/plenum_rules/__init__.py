"""Other rules for the same deliberations: how else they could have been ended and decided."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
