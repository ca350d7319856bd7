"""The policy cases, their wordings and layouts, and the screens of their meaning."""

from plenum.scenarios.scenario import KINDS, Option, Scenario, load

__all__ = ["KINDS", "Option", "Scenario", "load"]
