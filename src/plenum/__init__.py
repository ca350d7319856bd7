"""plenum: a laboratory for the stability of committees of language models.

In a notebook, ``plenum.study("default").frame()`` is the condition table of a study, and
``plenum.sweep("roles=on,off")`` runs one; ``docs/api.md`` shows an analysis.
"""

import lazy_loader

__version__ = "0.3.0"

# The stub next to this file lists the names; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
