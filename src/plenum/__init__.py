"""plenum: a laboratory for the stability of committees of language models.

In a notebook, ``plenum.study("default").frame()`` is the condition table of a study, and
``plenum.sweep("roles=on,off")`` runs one; ``docs/python.md`` shows an analysis.
"""

from typing import Any

__version__ = "0.1.0"
__all__ = ["study", "sweep"]


def __getattr__(name: str) -> Any:
    """Load what notebooks use when it is first asked for: it needs pandas and MLflow."""
    if name in __all__:
        from plenum.reports import notebook

        return getattr(notebook, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
