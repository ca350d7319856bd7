"""Committees: seats around a table, what they read, what they answer, how they decide."""

from plenum.asking import Ask
from plenum.committee.deliberation import Deliberation

__all__ = ["Ask", "Deliberation"]
