"""OpenAI's batches: a file of requests goes up, a file of answers comes down."""

import json
from collections.abc import AsyncIterator, Sequence, Set
from typing import Any

import aiohttp

from plenum.calls.api.completions import UnfitReply, read_completion
from plenum.calls.api.faults import classify_status
from plenum.calls.api.openai_http import make_request
from plenum.calls.api.prices import Price
from plenum.calls.call_errors import CallError
from plenum.calls.chat import Chat, Response
from plenum.records.failures import Failure
from plenum_fleet.batches import http_interface as batch_http
from plenum_fleet.batches.http_interface import BatchHttp, BatchState

_CALLS = "/v1/chat/completions"
_OURS = "plenum"
_ENDED = ("completed", "failed", "expired", "cancelled")
_TOO_MANY = "token_limit_exceeded"


class OpenAIBatches:
    """OpenAI's interface for batches (:class:`.http_interface.BatchInterface`)."""

    most_items = 50_000
    most_bytes = 190 * 10**6
    named = True

    def __init__(self, http: BatchHttp) -> None:
        self._http = http
        self.base = str(http.route.base)

    def body(self, chat: Chat, parameters: dict[str, Any]) -> bytes:
        """Return the request of a call, as a live one would have it."""
        return json.dumps(make_request(self._http.route.wire, chat, parameters)).encode()

    def item(self, ident: str, body: bytes) -> bytes:
        """Return a line of the file."""
        head = json.dumps({"custom_id": ident, "method": "POST", "url": _CALLS})
        return head[:-1].encode() + b', "body": ' + body + b"}\n"

    async def submit(self, name: str, items: Sequence[bytes]) -> str:
        """Send the file, and have it worked off within a day."""
        form = aiohttp.FormData()
        form.add_field("purpose", "batch")
        form.add_field("file", b"".join(items), filename=f"{name}.jsonl")
        file = batch_http.ident(await self._http.json("POST", "files", form))
        wish = {
            "input_file_id": file,
            "endpoint": _CALLS,
            "completion_window": "24h",
            "metadata": {_OURS: name},
        }
        return batch_http.ident(await self._http.json("POST", "batches", json.dumps(wish).encode()))

    async def find(self, name: str, since: float, items: int, others: Set[str]) -> str | None:
        """Find the batch that carries the name, whatever the provider's clock says of its time."""

        def fits(batch: dict[str, Any]) -> bool | None:
            metadata = batch.get("metadata")
            return isinstance(metadata, dict) and metadata.get(_OURS) == name

        return await self._http.find_in_list("batches", "after", fits)

    async def state(self, ident: str) -> BatchState:
        """Return the state of a batch; one that failed as a whole was refused at its file."""
        batch = await self._http.json("GET", f"batches/{ident}")
        counts, status = batch.get("request_counts"), batch_http.status(batch, "status")
        refused, too_many = self._explain_refusal(batch) if status == "failed" else (None, False)
        return BatchState(
            ended=status in _ENDED,
            done=batch_http.count(counts, "completed", "failed"),
            total=batch_http.count(counts, "total"),
            files=tuple(
                file
                for name in ("output_file_id", "error_file_id")
                for file in batch_http.file_id(batch, name)
            ),
            refused=refused,
            too_many=too_many,
        )

    async def cancel(self, ident: str) -> None:
        """Have it cancelled; what was answered by then stays."""
        await self._http.json("POST", f"batches/{ident}/cancel")

    async def results(
        self, ident: str, state: BatchState, items: int, price: Price | None
    ) -> AsyncIterator[tuple[str, Response | CallError]]:
        """Yield the results from the files of answers and of errors."""
        for file in state.files:
            async for line in self._http.lines(f"files/{file}/content", items):
                yield str(line.get("custom_id")), self._read(line, price)

    def _read(self, line: dict[str, Any], price: Price | None) -> Response | CallError:
        answer = line.get("response")
        if not isinstance(answer, dict):
            error = line.get("error")
            code = error.get("code") if isinstance(error, dict) else None
            if isinstance(code, str) and code.startswith("batch_"):
                return batch_http.NotAnswered(f"the item was not answered: {code}")
            return CallError(Failure.SERVER, f"the item failed: {json.dumps(error)}", 500)
        status, body = answer.get("status_code"), answer.get("body")
        if status != 200:
            raw = json.dumps(body).encode()
            status = status if type(status) is int and 100 <= status < 600 else 500
            return classify_status(self._http.route, status, raw, {})
        try:
            return read_completion(body, price, logprobs=False, hold_s=0.0)
        except UnfitReply as why:
            return CallError(Failure.SERVER, f"the answer is no completion: {why}", 200)
        except CallError as error:
            return error

    def _explain_refusal(self, batch: dict[str, Any]) -> tuple[CallError, bool]:
        """Return the reason of a refused file, and whether a smaller file may be accepted."""
        errors = batch.get("errors")
        data = errors.get("data") if isinstance(errors, dict) else None
        first = data[0] if isinstance(data, list) and data and isinstance(data[0], dict) else {}
        if first.get("code") == _TOO_MANY:
            return CallError(Failure.RATE_LIMIT, str(first.get("message")), 429), True
        return classify_status(
            self._http.route, 400, json.dumps({"error": first}).encode(), {}
        ), False
