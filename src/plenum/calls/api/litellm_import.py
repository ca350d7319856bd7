"""Quiet import of LiteLLM: it fetches nothing, reports nothing and prints nothing.

And bounded: it takes answers of any length by itself.
"""

import logging
import os
from collections.abc import AsyncIterator

# Without this the import fetches a price list over the network.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
# In its default mode the import reads a .env file: keys come from the environment alone.
os.environ.setdefault("LITELLM_MODE", "PRODUCTION")

import litellm
from litellm.llms.custom_httpx import aiohttp_transport
from litellm.types.utils import all_litellm_params

from plenum.calls.api import bodies

litellm.telemetry = False
litellm.suppress_debug_info = True
for _name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "httpx", "openai"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)

_Stream = aiohttp_transport.AiohttpResponseStream


def limit_litellm_answers(most: int) -> None:
    """Bound the bytes of an answer that LiteLLM takes, from any provider.

    It passes every body through one class of streams, and has no setting for their length.
    """

    class BoundedStream(_Stream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            response = self._aiohttp_response
            encoding = response.headers.get("Content-Encoding", "")
            pieces = super().__aiter__()
            async for piece in bodies.bound_body(pieces, response.status, encoding, most):
                yield piece

    aiohttp_transport.AiohttpResponseStream = BoundedStream  # type: ignore[misc]


__all__ = ["all_litellm_params", "limit_litellm_answers", "litellm"]
