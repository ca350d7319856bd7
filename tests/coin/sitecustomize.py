"""Registers the coin in every Python process that has this folder on its path."""

from coin import KIND

from plenum.design.kinds import register

register(KIND)
