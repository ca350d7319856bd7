"""The published runs of the papers' authors, read from a clone of their repository."""
