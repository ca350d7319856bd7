"""Audits of programs: runs, verdicts with error control, and their pages."""
