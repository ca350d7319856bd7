"""Exchanges with a provider, kept while somebody records them: no header, no key, no URL."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

# By context, so that of calls that run at once each recorder gets its own.
_KEPT: ContextVar[list[dict[str, Any]] | None] = ContextVar("exchanges", default=None)


@contextmanager
def record_exchanges() -> Iterator[list[dict[str, Any]]]:
    """Record the exchanges of all calls that are made meanwhile, in the order of their answers."""
    kept: list[dict[str, Any]] = []
    token = _KEPT.set(kept)
    try:
        yield kept
    finally:
        _KEPT.reset(token)


def note(request: Mapping[str, Any], status: int | None, kind: str, body: Any) -> None:
    """Note a request with its answer, if exchanges are recorded.

    Parameters
    ----------
    kind
        The media type of the answer.
    body
        Its bytes, or what LiteLLM made of them.
    """
    if (kept := _KEPT.get()) is not None:
        raw = isinstance(body, bytes | bytearray)
        # Whatever came is recorded: a record mustn't fail where the call didn't.
        text = body.decode(errors="replace") if raw else json.dumps(body, default=str)
        kept.append({"request": dict(request), "status": status, "type": kind, "body": text})
