"""Readers of runs that other tools logged; packages add further ones by an entry point."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
