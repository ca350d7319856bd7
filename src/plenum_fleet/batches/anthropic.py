"""Anthropic's message batches: the requests go up in one body, the results come as lines."""

import json
from collections.abc import AsyncIterator, Sequence, Set
from datetime import datetime
from typing import Any

from plenum.calls.api.cache_marks import mark_messages
from plenum.calls.api.completions import UnfitReply, read_completion
from plenum.calls.api.faults import classify_status
from plenum.calls.api.interfaces import INTERFACES
from plenum.calls.api.litellm_import import litellm
from plenum.calls.api.prices import Price
from plenum.calls.call_errors import CallError
from plenum.calls.chat import Chat, Response
from plenum.records.failures import Failure
from plenum_fleet.batches import http_interface as batch_http
from plenum_fleet.batches.http_interface import BatchHttp, BatchState

_PATH = "messages/batches"
_TOOL = "json_tool_call"
"""LiteLLM's name of the tool whose input is the answer, for models without another form."""
_OVER = ("succeeded", "errored", "canceled", "expired")
_STATUS = {
    "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402,
    "permission_error": 403, "not_found_error": 404, "request_too_large": 413,
    "rate_limit_error": 429, "timeout_error": 504, "overloaded_error": 529,
}  # fmt: skip


class AnthropicBatches:
    """Anthropic's; see :class:`~plenum_fleet.batches.http_interface.BatchInterface`."""

    most_items = 100_000
    most_bytes = 240 * 10**6
    named = False

    def __init__(self, http: BatchHttp) -> None:
        self._http = http
        self.base = str(http.route.base)

    def body(self, chat: Chat, parameters: dict[str, Any]) -> bytes:
        """Return the request of a call, as LiteLLM makes it."""
        request = litellm.AnthropicConfig().transform_request(
            model=self._http.route.wire,
            messages=mark_messages(chat),  # type: ignore[arg-type]
            optional_params=dict(parameters),
            litellm_params={},
            headers={},
        )
        request.pop("json_mode", None)  # LiteLLM's note to itself
        if (form := request.pop("output_format", None)) is not None:
            # Items have no headers, and only this field takes a schema without one.
            request["output_config"] = {**request.get("output_config", {}), "format": form}
        return json.dumps(request).encode()

    def item(self, ident: str, body: bytes) -> bytes:
        """Return the item of a batch that sends the body."""
        return json.dumps({"custom_id": ident})[:-1].encode() + b', "params": ' + body + b"}"

    async def submit(self, name: str, items: Sequence[bytes]) -> str:
        """Send the requests; the name goes nowhere, since a batch has no room for it."""
        # Put together from bytes: to encode hundreds of megabytes once more would take twice the
        # memory.
        body = b'{"requests": [' + b", ".join(items) + b"]}"
        return batch_http.ident(await self._http.json("POST", _PATH, body))

    async def find(self, name: str, since: float, items: int, others: Set[str]) -> str | None:
        """Find a batch of as many items; whether it is the right one is told by its results."""

        def fits(batch: dict[str, Any]) -> bool | None:
            # The list begins with the newest: from here on all are too old to be this one.
            if _time(batch.get("created_at")) < since - self._http.behind_s - batch_http.SKEW_S:
                return None
            size = batch_http.count(batch.get("request_counts"), "processing", *_OVER)
            return size == items and batch.get("id") not in others

        return await self._http.find_in_list(_PATH, "after_id", fits)

    async def state(self, ident: str) -> BatchState:
        """Return the state of a batch."""
        batch = await self._http.json("GET", f"{_PATH}/{ident}")
        counts = batch.get("request_counts")
        done = batch_http.count(counts, *_OVER)
        total = done + batch_http.count(counts, "processing")
        return BatchState(batch_http.status(batch, "processing_status") == "ended", done, total)

    async def cancel(self, ident: str) -> None:
        """Have it cancelled; what was answered by then stays."""
        await self._http.json("POST", f"{_PATH}/{ident}/cancel")

    async def results(
        self, ident: str, state: BatchState, items: int, price: Price | None
    ) -> AsyncIterator[tuple[str, Response | CallError]]:
        """Yield the results, in any order; their URL is made here, not taken from the answer."""
        async for line in self._http.lines(f"{_PATH}/{ident}/results", items):
            yield str(line.get("custom_id")), self._read(line.get("result"), price)

    def _read(self, result: Any, price: Price | None) -> Response | CallError:
        kind = result.get("type") if isinstance(result, dict) else None
        if kind in ("canceled", "expired"):
            return batch_http.NotAnswered(f"the item was not answered: {kind}")
        if kind == "errored":
            return self._error(result.get("error"))
        try:
            if kind != "succeeded":
                raise UnfitReply("it has no known type")
            message = INTERFACES["messages"].as_completion(_unwrap_tool(result.get("message")))
            return read_completion(message, price, logprobs=False, hold_s=0.0)
        except UnfitReply as why:
            return CallError(Failure.SERVER, f"the result is no message: {why}", 200)
        except CallError as error:
            return error

    def _error(self, error: Any) -> CallError:
        inner = error.get("error", error) if isinstance(error, dict) else None
        kind = inner.get("type") if isinstance(inner, dict) else None
        status = _STATUS.get(str(kind), 500)
        return classify_status(self._http.route, status, json.dumps({"error": inner}).encode(), {})


def _unwrap_tool(message: Any) -> Any:
    """Turn the call of the tool that stands for a constrained answer into text."""
    blocks = message.get("content") if isinstance(message, dict) else None
    # The last block: thinking and text may come before the tool's call.
    first = blocks[-1] if isinstance(blocks, list) and blocks else None
    if not isinstance(first, dict) or first.get("name") != _TOOL:
        return message
    text = {"type": "text", "text": json.dumps(first.get("input"))}
    reason = message.get("stop_reason")
    return {
        **message,
        "content": [text],
        # Stopping at the tool is the regular end of an answer that the tool stands for.
        "stop_reason": "end_turn" if reason == "tool_use" else reason,
    }


def _time(text: Any) -> float:
    """Unix time of an ISO time; 0 for anything else."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except (TypeError, ValueError):
        return 0.0
