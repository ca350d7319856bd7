"""The policy cases, their wordings and layouts, and the screens of their meaning."""

from plenum.scenarios.scenario import KINDS, Option, Scenario, load_scenario

__all__ = ["KINDS", "Option", "Scenario", "load_scenario"]
