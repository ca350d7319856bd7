"""Language models hosted on this machine: many rows at once, the same bytes every time.

``docs/hosted-backend.md`` says how it works and what it promises. Only :mod:`plenum_hosted.backend`
imports torch, so that a config can be checked without it.
"""
