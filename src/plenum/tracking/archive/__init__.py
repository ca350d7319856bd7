"""A study as one file: out of MLflow, checked, and back. Nothing is imported here."""
