"""Simulated worlds that agents act in: state machines, consensus mechanisms, metrics, episodes.

Each world is a package of its own; :mod:`plenum_worlds.registry` lists them.
"""

from plenum_worlds.consensus import MECHANISMS
from plenum_worlds.draws import Draws
from plenum_worlds.registry import build_world, find_world

__all__ = ["MECHANISMS", "Draws", "build_world", "find_world"]
