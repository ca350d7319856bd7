"""Estimates and verdicts on a suite of cases with few runs each."""
