"""Verdicts: how many runs decide alike, with errors that hold whenever an audit stops."""
