"""Tables, figures and pages from tracked results.

Nothing is imported here, since MLflow is slow.
"""
