"""Verdicts on stability, whose error rates hold whenever an audit stops."""
