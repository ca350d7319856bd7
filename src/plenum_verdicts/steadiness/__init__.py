"""Verdicts on protocols that may be steadier at kept quality, from counts of their decisions."""
