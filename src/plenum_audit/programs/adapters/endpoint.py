"""A program at a URL: one POST is one run."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from plenum.records.failures import Failure
from plenum_audit.programs.adapters.environment import fill_template, values
from plenum_audit.programs.adapters.program import ProgramFailed, RunSession
from plenum_verdicts.cases.case import AuditCase
from plenum_verdicts.cases.decision import UnreadableDecision, at

BODY = {name: f"{{{name}}}" for name in ("case", "index", "seed", "knobs", "base_url", "token")}
"""The default body; ``run_url`` and others can be used in a custom one."""

_LONGEST = 10**6


@dataclass
class Http:
    """An endpoint that answers with a decision.

    Attributes
    ----------
    name, identity, knobs
        As of any program.
    url
        The URL to post to.
    body
        A JSON value with placeholders: ``{case}``, ``{text}``, ``{seed}``, ``{base_url}``, ...
    path
        The path of the decision in a JSON answer, such as ``result.option``; empty if the answer is
        the text itself.
    """

    name: str
    identity: Mapping[str, Any]
    knobs: Mapping[str, Sequence[Any]]
    url: str
    body: Any
    path: str
    _client: aiohttp.ClientSession | None = field(default=None, init=False)

    async def run(self, case: AuditCase, session: RunSession) -> None:
        """Run once; the decision is stored in the session.

        Raises
        ------
        ProgramFailed
            It can't be reached, or answered with an error.
        """
        if self._client is None:
            unlimited = aiohttp.ClientTimeout(total=None)
            unbounded = aiohttp.TCPConnector(limit=0)  # runs wait for nothing but their models
            self._client = aiohttp.ClientSession(connector=unbounded, timeout=unlimited)
        body = fill_template(self.body, values(session))
        try:
            async with self._client.post(self.url, json=body) as response:
                answer = await _read_bounded(response)
        except aiohttp.ClientError as error:
            problem = f"{self.url}: {type(error).__name__}: {error}"
            raise ProgramFailed(Failure.PROGRAM, problem) from None
        if response.status >= 400:
            raise ProgramFailed(Failure.PROGRAM, f"HTTP {response.status}: {answer}")
        if not session.decided:
            session.decide(self._decision(answer))

    async def close(self) -> None:
        """Close its connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    def _decision(self, answer: str) -> str:
        if not self.path:
            return answer
        try:
            value = at(json.loads(answer), self.path)
        except UnreadableDecision as problem:
            raise ProgramFailed(Failure.PROGRAM, f"its answer: {problem}") from None
        except (ValueError, RecursionError):
            raise ProgramFailed(Failure.PROGRAM, f"its answer is no JSON: {answer}") from None
        return value if isinstance(value, str) else json.dumps(value)


async def _read_bounded(response: aiohttp.ClientResponse) -> str:
    """Return the text of an answer.

    Raises
    ------
    ProgramFailed
        It is too long.
    """
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > _LONGEST:
            raise ProgramFailed(Failure.PROGRAM, f"its answer has more than {_LONGEST} bytes")
    return body.decode(errors="replace")
