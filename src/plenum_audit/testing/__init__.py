"""Assertions of stability, for pytest and other test frameworks."""

from plenum_audit.testing.stability import assert_stable

__all__ = ["assert_stable"]
