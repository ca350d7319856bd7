"""Checks around a sweep: the dry run, the status of a study, and a hosted model's pace."""
