"""Calls in batches, at half the price."""
