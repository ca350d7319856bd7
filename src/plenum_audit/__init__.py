"""Audits of programs: runs, verdicts with error control, and their pages.

``plenum_audit.audit(committee, case)`` is an audit from Python.
"""

from typing import Any

__all__ = ["audit"]


def __getattr__(name: str) -> Any:
    """Load an audit's machinery when it is first asked for."""
    if name in __all__:
        from plenum_audit import notebook

        return getattr(notebook, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
