"""OpenAI's interface for batches: files are uploaded, run as batches, and results downloaded."""

import json
from typing import Any

from aiohttp import web

from support.fault_server.batches import Batches, Handler, ServerBatch, digest_body, read_items
from support.fault_server.http_answers import answer_json, answer_lines, make_error, refuse


class OpenAIBatchRoutes(Batches):
    """Routes of ``/v1/files`` and ``/v1/batches``."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._files: dict[str, bytes] = {}

    def find_route(self, method: str, path: str) -> Handler | None:
        """Return the handler of a request; ``None`` if it isn't about batches."""
        match method, path.removeprefix("/v1/").split("/"):
            case "POST", ["files"]:
                return self._upload
            case "GET", ["files", ident, "content"]:
                return lambda request: self._download(ident)
            case "POST", ["batches"]:
                return self._create
            case "GET", ["batches"]:
                return self._list
            case "GET", ["batches", ident]:
                return lambda request: self.show(ident)
            case "POST", ["batches", ident, "cancel"]:
                return lambda request: self.cancel(ident)
        return None

    async def _upload(self, request: web.BaseRequest) -> web.Response:
        fields: dict[str | None, bytes] = {}
        async for part in await request.multipart():
            fields[part.name] = bytes(await part.read())  # type: ignore[union-attr]
        assert fields["purpose"] == b"batch"
        ident = f"file-{len(self._files):06d}"
        self._files[ident] = fields["file"]
        return answer_json({"id": ident, "object": "file", "purpose": "batch"})

    async def _create(self, request: web.BaseRequest) -> web.Response:
        wish = json.loads(await request.read())
        taken, refused = self.draw_submit_fault()
        if refused is not None and not taken:
            return refused
        lines = self._files[wish["input_file_id"]].splitlines()
        items = read_items((json.loads(line) for line in lines), "body")
        batch = self.submit(items, wish.get("metadata") or {}, "batch_")
        if len({json.loads(item.body).get("model") for item in items}) > 1:
            batch.refused, batch.ended = "mismatched_model", True
        return refused or answer_json(self.format_batch(batch))

    async def _list(self, request: web.BaseRequest) -> web.Response:
        page, more = self.list_page(request.query.get("after"), request.query.get("limit"))
        shown = [self.format_batch(batch) for batch in page]
        return answer_json({"object": "list", "data": shown, "has_more": more})

    async def _download(self, ident: str) -> web.Response:
        kind, _, name = ident.partition("-")
        batch = self.all.get(name)
        if batch is None:
            return refuse(404, None, f"No such file: {ident}")
        lines = (self._write_line(item, result) for item, result in batch.list_results())
        return answer_lines([line for good, line in lines if good == (kind == "output")])

    def _write_line(self, ident: str, result: Any) -> tuple[bool, dict[str, Any]]:
        """Return whether an item goes to the file of answers, and its line."""
        head = {"id": f"batch_req_{digest_body(ident.encode())}", "custom_id": ident}
        if isinstance(result, dict):
            status = 400 if "error" in result else 200
            answer = {"status_code": status, "request_id": "", "body": result}
            return status == 200, {**head, "response": answer, "error": None}
        if result == "errored":
            body = make_error(500, None, "The server had an error.")
            return False, {**head, "response": {"status_code": 500, "body": body}, "error": None}
        code = "batch_expired" if result == "expired" else "batch_cancelled"
        return False, {**head, "response": None, "error": {"code": code, "message": "Not run."}}

    def format_batch(self, batch: ServerBatch) -> dict[str, Any]:
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
            "created_at": int(batch.created),
            "output_file_id": f"output-{batch.ident}" if good else None,
            "error_file_id": f"error-{batch.ident}" if len(batch.results) > good else None,
            "request_counts": {
                "total": len(batch.items),
                "completed": good if batch.ended else batch.count_done(self.now()),
                "failed": len(batch.results) - good,
            },
            "metadata": batch.metadata,
        }
