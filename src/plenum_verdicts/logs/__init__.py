"""Logs of runs: their files, their columns, and what a row says."""
