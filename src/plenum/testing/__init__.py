"""What users test their committees with: an assertion, and a server that misbehaves on request."""

from plenum_audit.testing.stability import assert_stable

__all__ = ["assert_stable"]
