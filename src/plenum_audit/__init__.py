"""Audits of programs: runs until a verdict with error control, and their reports.

``plenum_audit.audit(committee, case)`` is an audit from Python; ``assert_stable`` is one in a test.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for editors and type checkers, which run nothing
    from plenum_audit.notebook import audit as audit
    from plenum_audit.testing.stability import assert_stable as assert_stable

_HOMES = {"assert_stable": "testing.stability", "audit": "notebook"}
"""The module of each name: it is imported when the name is first used (PEP 562)."""

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"plenum_audit.{_HOMES[name]}"), name)
