"""An OpenAI-compatible server that answers like the simulated backend and injects faults.

``docs/fault-server.md`` has the kinds of fault and how a client should treat them.
"""

from plenum_checks.fault_server.fault_settings import (
    KINDS,
    SPREAD,
    BatchFaults,
    Faults,
    Latency,
    Limits,
    Settings,
    fault_settings,
)
from plenum_checks.fault_server.running import RunningServer, serve, serving

__all__ = [
    "KINDS",
    "SPREAD",
    "BatchFaults",
    "Faults",
    "Latency",
    "Limits",
    "RunningServer",
    "Settings",
    "fault_settings",
    "serve",
    "serving",
]  # fmt: skip
