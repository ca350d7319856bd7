"""Estimates of worlds: the two-lines test, and the theoretical model."""
