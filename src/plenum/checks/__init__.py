"""Checks: determinism, reruns, the meaning of variants, calibration of the simulated model."""
