"""Verdicts in other tools' formats: attestations, scores of inspect."""
