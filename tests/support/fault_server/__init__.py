"""An OpenAI-compatible server that answers like the simulated backend and injects faults.

In a test::

    with serve_in_thread(FaultSettings(faults=Faults(rate_limit=0.2))) as server:
        ...  # server.url is the base URL of clients; server.stats() and server.log() tell the rest

As a process of its own, with the keys of :class:`FaultSettings`; it prints ``serving URL``::

    PYTHONPATH=tests python -m support.fault_server faults.all=0.12 latency.median_s=0.05

A fault is a function of the request's body, whatever the order of requests. One of the answer
(``length``, ``malformed``) follows from the body alone, so that asking again gives the same bytes;
one of the transport also from how often the body came before, so that a retry may pass.
"""

from support.fault_server.server import FaultServer
from support.fault_server.server_runner import RunningServer, serve_in_thread
from support.fault_server.settings import (
    KINDS,
    BatchFaults,
    Faults,
    FaultSettings,
    Latency,
    Limits,
)

__all__ = [
    "KINDS",
    "BatchFaults",
    "FaultServer",
    "FaultSettings",
    "Faults",
    "Latency",
    "Limits",
    "RunningServer",
    "serve_in_thread",
]
