"""Checks around a sweep: the dry run, the status of a study, and the probe of a model."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
