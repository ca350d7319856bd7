"""Readers of runs that other tools logged; packages add further ones by an entry point."""
