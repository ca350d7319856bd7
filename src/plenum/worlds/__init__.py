"""Worlds: pure state machines that agents act in, mechanisms, metrics, and the episode.

A world is a package of its own here; :mod:`plenum.worlds.registry` lists them.
"""

from plenum.worlds.consensus import MECHANISMS
from plenum.worlds.draws import Draws
from plenum.worlds.registry import build, definition

__all__ = ["MECHANISMS", "Draws", "build", "definition"]
