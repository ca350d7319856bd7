"""Verdicts on runs that exist: logs, cases, suites, gates, acting alone; nothing is run here."""
