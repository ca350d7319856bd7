"""Committees fitted to real ones: what drives their states, and how well that predicts others."""
