"""Attacks on plenum that scripts/bench/hostile.py runs."""
