"""Execution of audits: runs of a program until each case has a verdict."""
