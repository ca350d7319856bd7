"""Estimates of worlds: recovery from shocks, slopes on both sides of a change, the theory of it."""
