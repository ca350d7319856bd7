"""Names of metrics that MLflow takes, for names that hold any text, such as a seat's."""

import posixpath
import re

from plenum.base.identity import digest

_TAKEN = re.compile(r"[/\w.\- :]+")
_OTHERS = re.compile(r"[^\w.\- ]")
_ENCODED = re.compile(r":((?:10|[0-9a-f])?[0-9a-f]{1,4}):")
_LONGEST = 250


def encode_metric(name: str) -> str:
    """Write a metric's name in signs that MLflow takes; most names stay as they are.

    Examples
    --------
    >>> encode_metric("more.switches.O'Neil"), decode_metric("more.switches.O:27:Neil")
    ('more.switches.O:27:Neil', "more.switches.O'Neil")
    """
    is_taken = _TAKEN.fullmatch(name) and posixpath.normpath(name) == name
    if not (is_taken and decode_metric(name) == name):
        name = _OTHERS.sub(lambda sign: f":{ord(sign[0]):x}:", name)
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 17]}:{digest(name)}"


def decode_metric(name: str) -> str:
    """Return the name that was encoded; a very long one has lost its end."""
    return _ENCODED.sub(lambda code: chr(int(code[1], 16)), name)
