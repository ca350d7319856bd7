"""Helpers for the tests of committees, offered by installed packages.

``assert_stable`` comes from the package that audits programs.
"""

from typing import Any

from plenum.base.extensions import Registry

__all__ = ["HELPERS"]

HELPERS: Registry[Any] = Registry("plenum.testing", "helper")
"""The helpers by name."""


def __getattr__(name: str) -> Any:
    """Return a helper by its name, for ``from plenum.testing import assert_stable``."""
    if name.startswith("_") or name not in HELPERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return HELPERS[name]
