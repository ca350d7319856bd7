"""Other rules for the same deliberations: how else they could have been ended and decided."""
