"""Dynamics: ensembles in, estimates out. Imports numpy and scipy, no other room."""

from plenum.dynamics.decisions import flip_rate, majority_rounds, time_to_majority
from plenum.dynamics.divergence import ZERO, divergence, pairwise_distances
from plenum.dynamics.lyapunov import LyapunovEstimate, lyapunov
from plenum.dynamics.summary import Summary, summarise

__all__ = [
    "ZERO",
    "LyapunovEstimate",
    "Summary",
    "divergence",
    "flip_rate",
    "lyapunov",
    "majority_rounds",
    "pairwise_distances",
    "summarise",
    "time_to_majority",
]
