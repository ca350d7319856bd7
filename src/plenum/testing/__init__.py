"""Helpers for the tests of committees, as installed packages offer them.

``assert_stable`` comes from the package that audits programs.
"""

from typing import Any

from plenum.base.extensions import Registry

HELPERS: Registry[Any] = Registry("plenum.testing", "helper")
"""By name."""


def __getattr__(name: str) -> Any:
    """A helper by its name, as ``from plenum.testing import assert_stable`` asks for it."""
    if name.startswith("_") or name not in HELPERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return HELPERS[name]
