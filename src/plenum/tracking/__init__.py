"""MLflow as the store of studies: writing and reading.

Nothing is imported here, since MLflow takes seconds.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
