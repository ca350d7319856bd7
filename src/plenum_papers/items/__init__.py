"""The papers' numbered results: their studies, tables and figures, and a page of all of them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
