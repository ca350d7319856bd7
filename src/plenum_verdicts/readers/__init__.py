"""Readers of runs that other tools logged; packages add further ones by an entry point."""

from plenum.base.moved import find_moved

__getattr__ = find_moved(
    __name__,
    {
        "readers.log_reader": "LogReader",
    },
)
