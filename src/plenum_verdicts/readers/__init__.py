"""Readers of runs that other tools logged; packages add further ones by an entry point."""

from typing import TYPE_CHECKING

from plenum.base.moved import find_moved

if not TYPE_CHECKING:  # a type checker is to see that plenum's own code says the module
    __getattr__ = find_moved(__name__, {"readers.log_reader": "LogReader"})
