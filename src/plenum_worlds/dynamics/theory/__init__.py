"""The theoretical model of consensus and diversity: its grid, simulation, and exact results."""
