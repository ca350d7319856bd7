"""The design: factors, settings and their checks, conditions and their identity, composing."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
