"""Simulated worlds that agents act in: state machines, consensus mechanisms, metrics, episodes.

Each world is a package of its own; :mod:`plenum_worlds.registry` lists them.
"""
