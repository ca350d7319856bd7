"""plenum: a laboratory for the stability of committees of language models."""

__version__ = "0.1.0"
