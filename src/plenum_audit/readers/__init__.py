"""Readers of the logs that evaluation tools write."""
