"""JSON objects in replies of models: one reader, as strict as a form of answer asks for.

It takes off the code fence that models put around what was asked for, as other readers do.
"""

import json
import re
from collections.abc import Callable, Set
from typing import Any, NoReturn

Pairs = list[tuple[str, Any]]

_END = r"(?:\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])"
"""A line end: those of :func:`plenum.base.text.split_lines`."""
_OPENING = re.compile(rf"```(?:json)?[ \t]*{_END}")
_CLOSING = re.compile(rf"{_END}[ \t]*```\Z")


def read_object(
    text: str, keys: Set[str], error: type[ValueError], *, closed: bool = True, finite: bool = False
) -> dict[str, Any]:
    """Read a reply that is one JSON object, optionally in a code fence, and nothing else.

    Parameters
    ----------
    keys
        The keys that it must have.
    error
        What is raised if it can't be read; the message says why.
    closed
        True if it may have no other keys.
    finite
        True if NaN and Infinity, which are no JSON, are refused.
    """
    constants = _refuse_constants(error) if finite else None
    try:
        data = json.loads(
            strip_fence(text), object_pairs_hook=refuse_repeats(error), parse_constant=constants
        )
    except error:
        raise
    except (ValueError, RecursionError):  # ValueError also where a number has too many digits
        raise error("no JSON object") from None
    if not isinstance(data, dict) or not keys <= data.keys() or (closed and data.keys() != keys):
        raise error(f"the object needs {'exactly ' if closed else ''}{', '.join(sorted(keys))}")
    return data


def refuse_repeats(error: type[ValueError]) -> Callable[[Pairs], dict[str, Any]]:
    """Return a function that makes an object of its members, and raises if a key occurs twice."""

    def build(pairs: Pairs) -> dict[str, Any]:
        data = dict(pairs)
        if len(data) != len(pairs):
            raise error("a key stands twice")
        return data

    return build


def _refuse_constants(error: type[ValueError]) -> Callable[[str], NoReturn]:
    def refuse(name: str) -> NoReturn:
        raise error(f"{name} is no number")

    return refuse


def strip_fence(text: str, whole: bool = True) -> str:
    """Return the content of the one code fence in a text, or the stripped text if it has none.

    A fence is three backticks, maybe ``json``, then spaces or tabs and a line end; and a line end,
    spaces or tabs, and three backticks.

    Parameters
    ----------
    whole
        True if a fence counts only with its end. Otherwise an answer that breaks off, or that goes
        on behind the fence, is taken out of it as far as it goes.
    """
    stripped = text.strip()
    opening = _OPENING.match(stripped)
    if opening is None:
        return stripped
    closing = _CLOSING.search(stripped, opening.end())
    if closing is None:
        return stripped if whole else stripped[opening.end() :]
    return stripped[opening.end() : closing.start()]
