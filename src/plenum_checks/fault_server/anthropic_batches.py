"""Anthropic's interface: messages, one at a time and in batches."""

import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from plenum_checks.fault_server.batches import Answer, Batches, Clock, ServerBatch, read_items
from plenum_checks.fault_server.http_answers import (
    json_answer,
    lines_answer,
    refusal,
    submit_refusal,
)
from plenum_fleet.batches import make_item_id

_STOPS = {"length": "max_tokens"}


class AnthropicBatchRoutes:
    """Routes of ``/v1/messages/batches``.

    Parameters
    ----------
    mine
        The batches of this interface.
    answer
        Answers one item, in OpenAI's form.
    now
        Returns Unix time.
    """

    def __init__(self, mine: Batches, answer: Answer, now: Clock) -> None:
        self.batches, self._answer, self._now = mine, answer, now
        self._kept: set[str] = set()

    def route(self, method: str, path: str) -> "Callable[[web.BaseRequest], Awaitable[Any]] | None":
        """Return the handler of a request; ``None`` if it isn't about messages."""
        match method, path.removeprefix("/v1/").split("/"):
            case "POST", ["messages"]:
                return self._message
            case "POST", ["messages", "batches"]:
                return self._create
            case "GET", ["messages", "batches"]:
                return self._list
            case "GET", ["messages", "batches", ident]:
                return lambda request: self._show(ident)
            case "GET", ["messages", "batches", ident, "results"]:
                return lambda request: self._results(ident)
            case "POST", ["messages", "batches", ident, "cancel"]:
                return lambda request: self._cancel(ident)
        return None

    async def _message(self, request: web.BaseRequest) -> web.Response:
        call = _identify_call(request.headers)
        (item,) = read_items(
            [{"custom_id": call, "params": json.loads(await request.read())}], "params"
        )
        answer = await self._one(item.body, item.key)
        if "error" in answer:
            return refusal(400, None, answer["error"]["message"])
        self.batches.count_paid(item.key)
        return json_answer(answer)

    async def _create(self, request: web.BaseRequest) -> web.Response:
        fault = self.batches.fault()
        body = json.loads(await request.content.read())
        refused = submit_refusal(fault)
        if refused is not None and fault != "after":
            return refused
        batch = self.batches.submit(
            read_items(body["requests"], "params"), {}, self._now(), "msgbatch_"
        )
        if batch.refused:
            del self.batches.all[batch.ident]
            return refusal(400, None, batch.refused)
        return json_answer(self._format_batch(batch)) if refused is None else refused

    async def _list(self, request: web.BaseRequest) -> web.Response:
        page, more = self.batches.page(request.query.get("after_id"), request.query.get("limit"))
        return json_answer(
            {"data": [self._format_batch(batch) for batch in page], "has_more": more}
        )

    async def _show(self, ident: str) -> web.Response:
        batch = self.batches.all.get(ident)
        if batch is None:
            return refusal(404, None, f"{ident} not found")
        await self.batches.settle(batch, self._now(), self._one)
        return json_answer(self._format_batch(batch))

    async def _cancel(self, ident: str) -> web.Response:
        batch = self.batches.all.get(ident)
        if batch is None or batch.ended:
            return refusal(400 if batch else 404, None, f"{ident} can't be cancelled")
        batch.cancelled = batch.cancelled or self._now()
        return json_answer(self._format_batch(batch))

    async def _results(self, ident: str) -> web.Response:
        batch = self.batches.all.get(ident)
        if batch is None or not batch.ended:
            return refusal(404, None, f"{ident} has no results")
        return lines_answer(
            [{"custom_id": item, "result": _result(r)} for item, r in batch.list_results()]
        )

    async def _one(self, body: bytes, key: str) -> dict[str, Any]:
        """Answer a message by converting it to OpenAI's form; each call gets another answer."""
        given = json.loads(body)
        system = given.pop("system", None)
        head = [{"role": "system", "content": system}] if system else []
        chat = {**given, "messages": [*head, *given["messages"]], "seed": key}
        answer = await self._answer(json.dumps(chat).encode(), key)
        return answer if "error" in answer else _as_message(answer, self._count_cached(chat))

    def _count_cached(self, chat: dict[str, Any]) -> dict[str, int]:
        """Count tokens of marked blocks that a permanent cache would write or read."""
        contents = [m["content"] for m in chat["messages"] if isinstance(m["content"], list)]
        blocks = [part for content in contents for part in content if "cache_control" in part]
        counts = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        for text in (str(block["text"]) for block in blocks):
            name = "cache_read" if text in self._kept else "cache_creation"
            counts[f"{name}_input_tokens"] += len(text) // 8
            self._kept.add(text)
        return counts

    def _format_batch(self, batch: ServerBatch) -> dict[str, Any]:
        results = [r if isinstance(r, str) else "succeeded" for r in batch.results.values()]
        counts = {kind: results.count(kind) for kind in ("errored", "canceled", "expired")}
        done = results.count("succeeded") if batch.ended else 0
        left = 0 if batch.ended else len(batch.items)
        status = "in_progress" if batch.cancelled is None else "canceling"
        return {
            "id": batch.ident,
            "type": "message_batch",
            "processing_status": "ended" if batch.ended else status,
            "request_counts": {"processing": left, "succeeded": done, **counts},
            "created_at": datetime.fromtimestamp(batch.created, UTC).isoformat(),
        }


def _identify_call(headers: Mapping[str, str]) -> str:
    """Return the id of a live call as a batch would name it, to tell equal bodies apart."""
    session, name = headers.get("X-Session-ID", ""), headers.get("X-Client-Request-Id", "")
    seed = name.partition("-")[0]
    return make_item_id(session, int(seed, 16), 1, b"") if seed else ""


def _result(result: Any) -> dict[str, Any]:
    if result == "errored":
        error = {"type": "api_error", "message": "Internal server error"}
        return {"type": "errored", "error": {"type": "error", "error": error}}
    if isinstance(result, str):
        return {"type": result}
    if "error" in result:
        error = {"type": "invalid_request_error", "message": result["error"]["message"]}
        return {"type": "errored", "error": {"type": "error", "error": error}}
    return {"type": "succeeded", "message": result}


def _block(message: dict[str, Any]) -> dict[str, Any]:
    """Convert a text, or the call of a tool; one whose input is no object was spoilt."""
    (call,) = message.get("tool_calls") or (None,)
    if call is None:
        return {"type": "text", "text": message["content"]}
    written = call["function"]["arguments"]
    try:
        given = json.loads(written)
    except ValueError:
        return {"type": "text", "text": written}
    return {
        "type": "tool_use",
        "id": call["id"],
        "name": call["function"]["name"],
        "input": given,
    }


def _as_message(answer: dict[str, Any], cached: dict[str, int]) -> dict[str, Any]:
    """Convert a chat completion to a message."""
    (choice,) = answer["choices"]
    reason, usage = choice["finish_reason"], answer["usage"]
    block = _block(choice["message"])
    done = "tool_use" if block["type"] == "tool_use" else "end_turn"
    return {
        "id": answer["id"].replace("chatcmpl-", "msg_"),
        "type": "message",
        "role": "assistant",
        "model": answer["model"],
        "content": [block],
        "stop_reason": _STOPS.get(reason, done),
        "stop_sequence": None,
        "usage": {
            "input_tokens": max(usage["prompt_tokens"] - sum(cached.values()), 0),
            "output_tokens": usage["completion_tokens"],
            **cached,
        },
    }
