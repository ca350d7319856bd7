"""A study as one file, Data S1: written, checked, and brought back into a tracking store."""
