"""Tables and figures of studies in worlds."""
