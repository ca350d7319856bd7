"""Anthropic's interface: messages, one at a time and in batches."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any

from aiohttp import web

from support.fault_server.batches import (
    Answer,
    Batches,
    Clock,
    Handler,
    ServerBatch,
    read_items,
)
from support.fault_server.http_answers import answer_json, answer_lines, refuse
from support.fault_server.request_log import RequestTally
from support.fault_server.settings import BatchFaults

_STOPS = {"length": "max_tokens"}


class AnthropicBatchRoutes(Batches):
    """Routes of ``/v1/messages`` and ``/v1/messages/batches``."""

    def __init__(
        self, faults: BatchFaults, tally: RequestTally, answer: Answer, now: Clock
    ) -> None:
        super().__init__(faults, tally, self._answer_one, now)
        self._answer_chat = answer
        self._kept: set[str] = set()

    def find_route(self, method: str, path: str) -> Handler | None:
        """Return the handler of a request; ``None`` if it isn't about messages."""
        match method, path.removeprefix("/v1/").split("/"):
            case "POST", ["messages"]:
                return self._answer_message
            case "POST", ["messages", "batches"]:
                return self._create
            case "GET", ["messages", "batches"]:
                return self._list
            case "GET", ["messages", "batches", ident]:
                return lambda request: self.show(ident)
            case "GET", ["messages", "batches", ident, "results"]:
                return lambda request: self._download(ident)
            case "POST", ["messages", "batches", ident, "cancel"]:
                return lambda request: self.cancel(ident)
        return None

    async def _answer_message(self, request: web.BaseRequest) -> web.Response:
        call = _identify_call(request.headers)
        sent = {"custom_id": call, "params": json.loads(await request.read())}
        (item,) = read_items([sent], "params")
        answer = await self._answer_one(item.body, item.key)
        if "error" in answer:
            return refuse(400, None, answer["error"]["message"])
        self.count_paid(item.key)
        return answer_json(answer)

    async def _create(self, request: web.BaseRequest) -> web.Response:
        taken, refused = self.draw_submit_fault()
        body = json.loads(await request.content.read())
        if refused is not None and not taken:
            return refused
        batch = self.submit(read_items(body["requests"], "params"), {}, "msgbatch_")
        if batch.refused:
            del self.all[batch.ident]
            return refuse(400, None, batch.refused)
        return refused or answer_json(self.format_batch(batch))

    async def _list(self, request: web.BaseRequest) -> web.Response:
        query = request.query
        page, more = self.list_page(query.get("after_id"), query.get("limit"))
        return answer_json({"data": [self.format_batch(batch) for batch in page], "has_more": more})

    async def _download(self, ident: str) -> web.Response:
        batch = self.all.get(ident)
        if batch is None or not batch.ended:
            return refuse(404, None, f"{ident} has no results")
        return answer_lines(
            [{"custom_id": item, "result": _format_result(r)} for item, r in batch.list_results()]
        )

    async def _answer_one(self, body: bytes, key: str) -> dict[str, Any]:
        """Answer a message by converting it to OpenAI's form; each call gets another answer."""
        given = json.loads(body)
        system = given.pop("system", None)
        head = [{"role": "system", "content": system}] if system else []
        chat = {**given, "messages": [*head, *given["messages"]], "seed": key}
        answer = await self._answer_chat(json.dumps(chat).encode(), key)
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

    def format_batch(self, batch: ServerBatch) -> dict[str, Any]:
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
    return blake2b(f"{session} {seed}".encode(), digest_size=8).hexdigest() if seed else ""


def _format_result(result: Any) -> dict[str, Any]:
    if isinstance(result, str) and result != "errored":
        return {"type": result}
    if result == "errored" or "error" in result:
        error = {"type": "api_error", "message": "Internal server error"}
        if result != "errored":
            error = {"type": "invalid_request_error", "message": result["error"]["message"]}
        return {"type": "errored", "error": {"type": "error", "error": error}}
    return {"type": "succeeded", "message": result}


def _as_message(answer: dict[str, Any], cached: dict[str, int]) -> dict[str, Any]:
    """Convert a chat completion to a message."""
    (choice,) = answer["choices"]
    reason, usage = choice["finish_reason"], answer["usage"]
    block = _as_block(choice["message"])
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


def _as_block(message: dict[str, Any]) -> dict[str, Any]:
    """Convert a text, or the call of a tool; one whose input is no object was spoilt."""
    (call,) = message.get("tool_calls") or (None,)
    if call is None:
        return {"type": "text", "text": message["content"]}
    written, name = call["function"]["arguments"], call["function"]["name"]
    try:
        return {"type": "tool_use", "id": call["id"], "name": name, "input": json.loads(written)}
    except ValueError:
        return {"type": "text", "text": written}
