"""Committees: their seats, prompts, answers, deliberation and decision."""

from plenum.committee.deliberation import Deliberation
from plenum.models.conversation import Ask

__all__ = ["Ask", "Deliberation"]
