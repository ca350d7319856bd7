"""Conversion of a program's request to a call, with the audit's changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from plenum.base import seed_for
from plenum.design import Api
from plenum.models import Chat, RawRequest
from plenum_audit.programs.condition import ProgramCondition
from plenum_audit.programs.overrides import FAULT_RATE
from plenum_audit.programs.wire import INTERFACES, ModelRequest

FORWARDED = ("anthropic-beta", "anthropic-version", "openai-beta")
"""Headers that affect a provider's behaviour."""
UNSET_TEMPERATURE = 1.0
UNSET_TOKENS = 4096
"""Values assumed for requests without temperature or limit; they aren't sent to a provider."""


@dataclass(frozen=True)
class Outgoing:
    """A factory of a run's calls.

    Parameters
    ----------
    condition, index
        The run.
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
            Number of failures of this call; each retry has another seed.
        """
        body = {**request.body, **self._changes}
        changed = request
        if self._changes:
            changed = INTERFACES[request.interface].read(body).after(request.kept)
        sent = {k: v for k, v in body.items() if k not in ("stream", "stream_options")}
        kept = {name: headers[name] for name in FORWARDED if name in headers}
        temperature, most = changed.temperature, changed.max_tokens
        unset = UNSET_TOKENS if self._is_api else self.condition.sampling.max_tokens
        return Chat(
            model=self._named(request),
            messages=changed.messages,
            temperature=UNSET_TEMPERATURE if temperature is None else float(temperature),
            max_tokens=unset if most is None else most,
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
        return seed_for(*names, *([again] if again else []), "call")

    def _named(self, request: ModelRequest) -> str:
        """Return LiteLLM's name of the model that answers."""
        if self.overrides.get("model") is not None:
            return str(self.overrides["model"])
        if not self._is_api:
            return request.model
        from plenum.models import litellm_name  # LiteLLM takes seconds to import

        return litellm_name(request.model, request.interface)
