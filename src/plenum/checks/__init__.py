"""Checks around a sweep: the dry run, the status of a study, and the probe of a model."""
