"""Foundations: errors, identities, text, secrets, paths and processes."""
