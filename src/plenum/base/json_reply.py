"""JSON objects in replies of models: one reader, as strict as a form of answer asks for."""

import json
from collections.abc import Callable, Set
from typing import Any, NoReturn

from plenum.base.fences import strip_fence

Pairs = list[tuple[str, Any]]


def read_object(
    text: str,
    keys: Set[str],
    error: type[ValueError],
    *,
    closed: bool = True,
    finite: bool = False,
) -> dict[str, Any]:
    """Read a reply that is one JSON object, optionally in a code fence, and nothing else.

    Parameters
    ----------
    keys
        The keys that it must have.
    error
        What is raised if it can't be read; the message says why.
    closed
        Whether it may have no other keys.
    finite
        Whether NaN and Infinity, which are no JSON, are refused.
    """
    constants = _refuse_constants(error) if finite else None
    try:
        data = json.loads(
            strip_fence(text), object_pairs_hook=unique(error), parse_constant=constants
        )
    except error:
        raise
    except (ValueError, RecursionError):  # ValueError also where a number has too many digits
        raise error("no JSON object") from None
    if not isinstance(data, dict) or not keys <= data.keys() or (closed and data.keys() != keys):
        raise error(f"the object needs {'exactly ' if closed else ''}{', '.join(sorted(keys))}")
    return data


def unique(error: type[ValueError]) -> Callable[[Pairs], dict[str, Any]]:
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
