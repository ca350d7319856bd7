"""Committees: seats around a table, what they read, what they answer, how they decide."""

from plenum.committee.deliberation import Ask, Deliberation

__all__ = ["Ask", "Deliberation"]
