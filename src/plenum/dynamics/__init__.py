"""Estimates from ensembles of replicates; pure functions of arrays.

Imports numpy, scipy and, to pool, statsmodels.
"""
