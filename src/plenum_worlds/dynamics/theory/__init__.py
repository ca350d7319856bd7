"""The theoretical model of consensus and diversity: its grid, its simulation, what is exact."""
