"""OpenAI's interface for batches: files are uploaded, run as batches, and results downloaded."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import MultipartReader, web

from plenum_checks.fault_server.batches import (
    Answer,
    Batches,
    Clock,
    ServerBatch,
    digest_body,
    read_items,
)
from plenum_checks.fault_server.http_answers import (
    json_answer,
    lines_answer,
    make_error,
    refusal,
    submit_refusal,
)

_CREATED = "created_at"


class OpenAIBatchRoutes:
    """Routes of ``/v1/files`` and ``/v1/batches``.

    Parameters
    ----------
    batches
        The batches of this interface.
    answer
        Answers one item.
    now
        Returns Unix time.
    """

    def __init__(self, batches: Batches, answer: Answer, now: Clock) -> None:
        self.batches, self._answer, self._now = batches, answer, now
        self._files: dict[str, bytes] = {}

    def route(self, method: str, path: str) -> "Callable[[web.BaseRequest], Awaitable[Any]] | None":
        """Return the handler of a request; ``None`` if it isn't about batches."""
        match method, path.removeprefix("/v1/").split("/"):
            case "POST", ["files"]:
                return self._upload
            case "GET", ["files", ident, "content"]:
                return lambda request: self._content(ident)
            case "POST", ["batches"]:
                return self._create
            case "GET", ["batches"]:
                return self._list
            case "GET", ["batches", ident]:
                return lambda request: self._show(ident)
            case "POST", ["batches", ident, "cancel"]:
                return lambda request: self._cancel(ident)
        return None

    async def _upload(self, request: web.BaseRequest) -> web.Response:
        parts: MultipartReader = await request.multipart()
        fields = {}
        async for part in parts:
            fields[part.name] = await part.read()  # type: ignore[union-attr]
        if fields.get("purpose") != b"batch" or "file" not in fields:
            return refusal(400, None, "purpose: batch, and a file are required")
        ident = f"file-{len(self._files):06d}"
        self._files[ident] = bytes(fields["file"])
        return json_answer({"id": ident, "object": "file", "purpose": "batch"})

    async def _create(self, request: web.BaseRequest) -> web.Response:
        wish = json.loads(await request.read())
        fault = self.batches.fault()
        refused = submit_refusal(fault)
        if refused is not None and fault != "after":
            return refused
        lines = self._files[wish["input_file_id"]].splitlines()
        items = read_items((json.loads(line) for line in lines), "body")
        batch = self.batches.submit(items, wish.get("metadata") or {}, self._now(), "batch_")
        if len({json.loads(item.body).get("model") for item in items}) > 1:
            batch.refused, batch.ended = "mismatched_model", True
        return json_answer(self._format_batch(batch)) if refused is None else refused

    async def _list(self, request: web.BaseRequest) -> web.Response:
        page, more = self.batches.page(request.query.get("after"), request.query.get("limit"))
        shown = [self._format_batch(batch) for batch in page]
        return json_answer({"object": "list", "data": shown, "has_more": more})

    async def _show(self, ident: str) -> web.Response:
        batch = self.batches.all.get(ident)
        if batch is None:
            return refusal(404, None, f"No batch found with id '{ident}'.")
        await self.batches.settle(batch, self._now(), self._answer)
        return json_answer(self._format_batch(batch))

    async def _cancel(self, ident: str) -> web.Response:
        batch = self.batches.all.get(ident)
        if batch is None:
            return refusal(404, None, f"No batch found with id '{ident}'.")
        if batch.ended:
            return refusal(400, None, "Cannot cancel a batch that has ended.")
        batch.cancelled = batch.cancelled or self._now()
        return json_answer(self._format_batch(batch))

    async def _content(self, ident: str) -> web.Response:
        kind, _, name = ident.partition("-")
        batch = self.batches.all.get(name)
        if batch is None or kind not in ("output", "error"):
            return refusal(404, None, f"No such file: {ident}")
        lines = (self._line(item, result) for item, result in batch.list_results())
        return lines_answer([line for good, line in lines if good == (kind == "output")])

    def _line(self, ident: str, result: Any) -> tuple[bool, dict[str, Any]]:
        """Return whether an item goes to the file of answers, and its line."""
        head = {"id": f"batch_req_{digest_body(ident.encode())}", "custom_id": ident}
        if isinstance(result, dict):
            status = 400 if "error" in result else 200
            answer = {"status_code": status, "request_id": "", "body": result}
            return status == 200, {**head, "response": answer, "error": None}
        if result == "errored":
            body = make_error(500, None, "The server had an error while processing your request.")
            return False, {**head, "response": {"status_code": 500, "body": body}, "error": None}
        code = "batch_expired" if result == "expired" else "batch_cancelled"
        return False, {**head, "response": None, "error": {"code": code, "message": "Not run."}}

    def _format_batch(self, batch: ServerBatch) -> dict[str, Any]:
        good = sum(isinstance(result, dict) for result in batch.results.values())
        over = "expired" if "expired" in batch.results.values() else "completed"
        status = "in_progress" if batch.cancelled is None else "cancelling"
        if batch.ended:
            status = "cancelled" if batch.cancelled is not None else over
        errors = None
        if batch.refused:
            status = "failed"
            error = {"code": batch.refused, "message": f"{batch.refused}.", "line": None}
            errors = {"object": "list", "data": [error]}
        return {
            "id": batch.ident,
            "object": "batch",
            "status": status,
            "errors": errors,
            _CREATED: int(batch.created),
            "output_file_id": f"output-{batch.ident}" if good else None,
            "error_file_id": f"error-{batch.ident}" if len(batch.results) > good else None,
            "request_counts": {
                "total": len(batch.items),
                "completed": good if batch.ended else batch.done(self._now()),
                "failed": len(batch.results) - good,
            },
            "metadata": batch.metadata,
        }
