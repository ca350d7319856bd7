"""The simulated backend: opinion dynamics that read the real prompt.

Its results are no evidence about language models; ``docs/simulated-backend.md`` has the equations.
"""

from plenum.calls.simulated.backend import SimulatedBackend

__all__ = ["SimulatedBackend"]
