"""Rules by which a program may act without a person, and what they risk."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
