"""Wordings of a scenario, screened by rules and by a judge for the meaning that they keep."""
