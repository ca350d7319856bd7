"""Audits of programs: runs until a verdict with error control, and their reports.

``plenum_audit.audit(committee, case)`` is an audit from Python; ``assert_stable`` is one in a test.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for editors and type checkers, which run nothing
    from plenum_audit.notebook import audit as audit
    from plenum_audit.testing.stability import assert_stable as assert_stable

__all__ = ["assert_stable", "audit"]


def __getattr__(name: str) -> Any:
    # Each is imported when it is first used: the package itself stays light (PEP 562).
    if name == "audit":
        from plenum_audit.notebook import audit

        return audit
    if name == "assert_stable":
        from plenum_audit.testing.stability import assert_stable

        return assert_stable
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
