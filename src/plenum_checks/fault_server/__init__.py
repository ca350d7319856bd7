"""An OpenAI-compatible server that answers like the simulated backend and injects faults.

``docs/fault-server.md`` has the kinds of fault and how a client should treat them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
