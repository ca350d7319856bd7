"""An OpenAI-compatible server that answers like the simulated backend, and misbehaves on request.

``docs/fault-server.md`` has the kinds of fault and what a client should make of them.
"""

from plenum_checks.fault_server.running import Running, serve, serving
from plenum_checks.fault_server.settings import (
    KINDS,
    SPREAD,
    BatchFaults,
    Faults,
    Latency,
    Limits,
    Settings,
    settings,
)

__all__ = [
    "KINDS", "SPREAD", "BatchFaults", "Faults", "Latency", "Limits", "Running", "Settings", "serve",
    "serving", "settings",
]  # fmt: skip
