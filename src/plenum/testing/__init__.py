"""Helpers for the tests of committees, offered by installed packages.

``assert_stable`` comes from the package that audits programs.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Return a name of a package's face, for ``from plenum.testing import assert_stable``."""
    from plenum.base.project import list_config_packages

    for package in list_config_packages():
        face = import_module(package)
        if name in getattr(face, "__all__", ()):
            return getattr(face, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
