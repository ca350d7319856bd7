"""Foundations: errors, identities, text, secrets, paths and processes."""

from typing import TYPE_CHECKING

from plenum.base.moved import find_moved

if not TYPE_CHECKING:  # a type checker is to see that plenum's own code says the module
    __getattr__ = find_moved(__name__, {"base.errors": "UserError"})
