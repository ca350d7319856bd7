"""Checks that a scenario's wordings keep its meaning, by rules and by a judge model."""
