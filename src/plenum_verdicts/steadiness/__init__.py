"""Whether a protocol is steadier at kept quality: counts of decisions in, verdicts out."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
