"""Limits on calls: concurrency, requests and tokens a minute, holds, and who goes next."""

from plenum.execution.limits.limiter import Limiter, Permit, ProviderUnavailable
from plenum.execution.limits.slots import Slots

__all__ = ["Limiter", "Permit", "ProviderUnavailable", "Slots"]
