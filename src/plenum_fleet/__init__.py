"""Studies larger than a machine or a day: batches, Ray, fleets of servers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
