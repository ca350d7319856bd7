"""The forms in which servers take the schema of a constrained answer.

Servers agree on the schema and differ in the field that it goes into. For a provider that isn't
called directly LiteLLM writes the provider's own form, from OpenAI's.
"""

import re
from typing import Any

from plenum.calls.api.routes import Route
from plenum.calls.call_errors import CallError
from plenum.calls.chat import AnswerSchema, Chat
from plenum.records.failures import Failure

_BY_PROVIDER = {"llamafile": "json_object"}
"""Forms that aren't OpenAI's: older servers of llama.cpp read this one alone, newer ones both."""
_NAMES_FORM = re.compile(r"response_format|schema|structured|guided|grammar|output_|tool|\bjson\b")
"""Words by which a server names what it refuses; a refusal without any is about something else."""
_REFUSED = (
    "the server refuses the form of protocol.answers=constrained "
    "(docs/providers.md#constrained-answers): "
)


def make_form(answer: AnswerSchema, route: Route, chosen: str) -> dict[str, Any]:
    """Make the fields of a request that hold the answer to a schema.

    Parameters
    ----------
    chosen
        The setting ``backend.answer_form``, which counts where a server is called directly.
    """
    # The setting names forms of servers that plenum calls directly; LiteLLM translates.
    form = chosen if route.compatible else "auto"
    if form == "auto":
        form = _BY_PROVIDER.get(route.provider, "json_schema")
    schema = dict(answer.schema)
    if form == "structured_outputs":
        return {"structured_outputs": {"json": schema}}
    if form == "json_object":
        return {"response_format": {"type": "json_object", "schema": schema}}
    strict = {"name": answer.name, "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": strict}}


def note_refused_form(chat: Chat, error: CallError) -> CallError:
    """Say in an error that the server refused the form of the answer, if that is what it says."""
    # Statuses of a request that is refused; others are about a key, an address or a rate.
    refused = error.failure == Failure.REQUEST and error.status in (400, 422)
    noted = error.detail.startswith(_REFUSED)  # several calls of a batch share an error
    if chat.answer is None or not refused or noted:
        return error
    if _NAMES_FORM.search(error.detail.lower()):
        # As long as `CallError` leaves it.
        error.detail = f"{_REFUSED}{error.detail}"[:500]
        error.args = (error.detail,)
    return error
