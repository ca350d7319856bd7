"""The hosted backend: a model on this machine, many rows at once, the same bytes every time.

``docs/hosted-backend.md`` says how it works and what it promises.
"""

from plenum_hosted.backend import HostedBackend

__all__ = ["HostedBackend"]
