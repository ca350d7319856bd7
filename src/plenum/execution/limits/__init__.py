"""Limits on calls: concurrency, requests and tokens a minute, holds, and fair order."""

from plenum.execution.limits.fair_queue import Slots
from plenum.execution.limits.lanes import Permit
from plenum.execution.limits.limiter import Limiter, ProviderUnavailable

__all__ = ["Limiter", "Permit", "ProviderUnavailable", "Slots"]
