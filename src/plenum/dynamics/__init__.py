"""Estimates from ensembles of replicates; pure functions of arrays.

Imports numpy, scipy and, to pool, statsmodels.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
