"""Assertions of stability, for pytest and other test frameworks."""
