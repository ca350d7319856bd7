"""Language models hosted on this machine: many rows at once, the same bytes every time.

``docs/hosted-backend.md`` says how it works and what it promises. Only :mod:`plenum_hosted.backend`
imports torch, so that a config can be checked without it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
