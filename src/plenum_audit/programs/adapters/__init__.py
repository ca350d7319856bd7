"""Adapters that run a program: one class for each way to run it, with the same interface."""
