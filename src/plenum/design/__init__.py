"""The design: factors, settings and their checks, conditions and their identity, composing."""
