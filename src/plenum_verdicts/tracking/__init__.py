"""Verdicts in MLflow: one run each, so that they can be compared over time."""
