"""Sources of divergence between the runs of a program, by their calls, and caches."""
