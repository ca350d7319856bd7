"""An OpenAI-compatible server that answers like the simulated backend and injects faults.

``docs/fault-server.md`` has the kinds of fault and how a client should treat them.
"""

from plenum_checks.fault_server.running import RunningServer, serve, serving
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
    "KINDS", "SPREAD", "BatchFaults", "Faults", "Latency", "Limits", "RunningServer", "Settings",
    "serve", "serving", "settings",
]  # fmt: skip
