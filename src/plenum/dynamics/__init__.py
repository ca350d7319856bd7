"""Estimates from ensembles of replicates; pure functions of arrays.

Imports numpy, scipy and, to pool, statsmodels. Where to look when a number is in question:

- D(t), λ̂, intervals, warnings: ``divergence``, ``lyapunov``, ``warnings``; a typical pair:
  ``growth``
- flip rate, disagreement, times to a majority: ``decisions``, ``majority``
- differences of decisions, their p: ``decision_contrasts``, ``labellings``
- contrasts and interactions of λ̂, their p: ``contrasts``, ``multiplicity``; over scenarios:
  ``meta_analysis``

An audit's verdicts are in ``plenum_verdicts.dynamics``, those on suites and gates in
``plenum_verdicts.suites``, a world's metrics in the module ``metrics`` of its folder, counts and
costs in ``plenum.records.usage`` and ``plenum.reports.accounting``.
"""
