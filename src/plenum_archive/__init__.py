"""Studies as single files (Data S1): export, verification, and import into a tracking store."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
