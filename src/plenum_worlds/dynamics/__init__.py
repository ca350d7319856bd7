"""Estimates of worlds: recovery from shocks, the two-lines test, and the theoretical model."""
