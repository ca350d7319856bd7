"""Worlds: pure state machines that agents act in, mechanisms, metrics, and the episode.

A world is a package of its own here; :mod:`plenum_worlds.registry` lists them.
"""

from plenum_worlds.consensus import MECHANISMS
from plenum_worlds.draws import Draws
from plenum_worlds.registry import build, definition

__all__ = ["MECHANISMS", "Draws", "build", "definition"]
