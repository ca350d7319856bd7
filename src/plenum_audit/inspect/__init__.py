"""Early stopping for inspect (``inspect_ai``): epochs end when a verdict stands.

It runs in inspect's interpreter, and needs numpy, scipy and lazy_loader besides.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
