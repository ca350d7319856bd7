"""Output to a terminal, without secrets and control characters."""

import sys

from plenum.base.secrets import redact
from plenum.base.text import printable


def safe_text(text: str) -> str:
    """Make a text safe to show; line breaks and tabs stay."""
    return printable(redact(text))


def say(text: str) -> None:
    """Print to standard error."""
    print(safe_text(text), file=sys.stderr, flush=True)
