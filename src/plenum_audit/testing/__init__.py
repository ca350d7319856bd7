"""Assertions of stability, for pytest and anything else."""

from plenum_audit.testing.stability import assert_stable

__all__ = ["assert_stable"]
