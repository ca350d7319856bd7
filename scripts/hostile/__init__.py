"""Attacks on plenum that scripts/bench_hostile.py runs."""
