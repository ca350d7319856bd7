"""Output to a terminal, without secrets and control characters."""

import sys

from plenum.base.project import as_typed
from plenum.base.secrets import redact
from plenum.base.text import make_printable


def make_safe(text: str) -> str:
    """Make a text safe to show, its commands as a user types them; line breaks and tabs stay."""
    return as_typed(make_printable(redact(text)))


def say(text: str) -> None:
    """Print to standard error."""
    print(make_safe(text), file=sys.stderr, flush=True)
