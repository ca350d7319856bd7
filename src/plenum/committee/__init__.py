"""Committees: seats around a table, what they read, what they answer, how they decide."""

from plenum.committee.deliberation import Deliberation
from plenum.models.conversation import Ask

__all__ = ["Ask", "Deliberation"]
