"""Conversion of a program's request to a call of a model, with the audit's overrides."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from plenum.base.identity import derive_seed
from plenum.calls.chat import Chat
from plenum.calls.raw_requests import RawRequest
from plenum.design.settings import Api
from plenum_audit.programs.condition import ProgramCondition
from plenum_audit.programs.overrides import FAULT_RATE
from plenum_audit.programs.wire import INTERFACES, ModelRequest

FORWARDED = ("anthropic-beta", "anthropic-version", "openai-beta")
"""Headers of a request that are sent on: they affect the provider's answer."""
UNSET_TEMPERATURE = 1.0
UNSET_TOKENS = 4096
"""Values of a call whose request sets none; the body that a provider gets has none either."""


@dataclass(frozen=True)
class RequestConverter:
    """Makes the calls of a run from the requests of its program.

    Parameters
    ----------
    condition, index
        The condition of the run, and the run's number in it.
    overrides
        The audit's changes of requests, by field; ``model`` names the model that answers.
    """

    condition: ProgramCondition
    index: int
    overrides: Mapping[str, Any]

    def chat(
        self, request: ModelRequest, headers: Mapping[str, str], occurrence: int, again: int
    ) -> Chat:
        """Return the call for a request.

        Parameters
        ----------
        occurrence
            Number of earlier answers to the prompt.
        again
            Number of earlier failures of this call; each retry has another seed.
        """
        body = {**request.body, **self._changes}
        changed = request
        if self._changes:
            changed = INTERFACES[request.interface].read(body).after(request.kept)
        sent = {k: v for k, v in body.items() if k not in ("stream", "stream_options")}
        kept = {name: headers[name] for name in FORWARDED if name in headers}
        temperature, limit = changed.temperature, changed.max_tokens
        default_limit = UNSET_TOKENS if self._is_api else self.condition.sampling.max_tokens
        return Chat(
            model=self._model_name(request),
            messages=changed.messages,
            temperature=UNSET_TEMPERATURE if temperature is None else float(temperature),
            max_tokens=default_limit if limit is None else limit,
            seed=self._seed(changed, request.digest, occurrence, again),
            request=RawRequest(request.interface, sent, kept),
        )

    @cached_property
    def _changes(self) -> dict[str, Any]:
        return {k: v for k, v in self.overrides.items() if k not in ("model", FAULT_RATE)}

    @property
    def _is_api(self) -> bool:
        return isinstance(self.condition.backend, Api)

    def _seed(self, request: ModelRequest, prompt: str, occurrence: int, again: int) -> int:
        if request.seed is not None:
            return abs(request.seed)
        names = (self.condition.identity, self.index, prompt, occurrence)
        retry = (again,) if again else ()  # a first try's seed has no number
        return derive_seed(*names, *retry, "call")

    def _model_name(self, request: ModelRequest) -> str:
        """Return the name of the model that answers; LiteLLM's name of it for an API."""
        if self.overrides.get("model") is not None:
            return str(self.overrides["model"])
        if not self._is_api:
            return request.model
        from plenum.calls.api.routes import litellm_name  # LiteLLM takes seconds to import

        return litellm_name(request.model, request.interface)
