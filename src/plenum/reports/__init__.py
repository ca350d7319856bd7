"""Tables, figures and pages from tracked results.

Nothing is imported here, since MLflow is slow.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
