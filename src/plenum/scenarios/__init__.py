"""Scenarios: the policy cases, their variants, and the screen that keeps their meaning."""

from plenum.scenarios.scenario import KINDS, Option, Scenario, load

__all__ = ["KINDS", "Option", "Scenario", "load"]
