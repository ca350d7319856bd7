"""The chat contract of all models, and the backends that implement it."""
