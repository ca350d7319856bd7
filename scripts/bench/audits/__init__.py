"""What scripts/bench/audit.py measures, a part a file."""
