"""Limits on calls: concurrency, requests and tokens a minute, holds, and fair order."""

from plenum.calls.limits.fair_queue import Slots
from plenum.calls.limits.lanes import Permit
from plenum.calls.limits.limiter import Limiter, ProviderUnavailable

__all__ = ["Limiter", "Permit", "ProviderUnavailable", "Slots"]
