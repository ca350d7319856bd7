"""Checks of the instruments: estimators, providers, wordings, and a server that injects faults."""
