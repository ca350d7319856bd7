"""Foundations: errors, identities, text, secrets, paths and processes."""

from plenum.base.moved import find_moved

__getattr__ = find_moved(
    __name__,
    {
        "base.errors": "UserError",
    },
)
