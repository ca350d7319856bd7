"""Simulated worlds that agents act in: state machines, consensus mechanisms, metrics, episodes.

Each world is a package of its own; :mod:`plenum_worlds.registry` lists them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
