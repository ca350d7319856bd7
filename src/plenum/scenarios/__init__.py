"""The policy cases, their wordings and layouts, and the screens of their meaning."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
