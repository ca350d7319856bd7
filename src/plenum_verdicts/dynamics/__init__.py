"""Verdicts on the cases of a program: e-values, intervals of shares, plans of further runs."""
