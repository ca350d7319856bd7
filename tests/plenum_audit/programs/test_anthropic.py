"""Anthropic's own client against the proxy, in an environment of its own.

``sh scripts/frameworks.sh anthropic`` makes it.
"""

import asyncio
import json
from pathlib import Path

import pytest
from running import CASE, Bench, Play

pytestmark = pytest.mark.long

PYTHON = Path(__file__).resolve().parents[3] / ".frameworks/anthropic/bin/python"

PROGRAM = """
import json, sys
import anthropic
base, key, text = sys.argv[1:]
client = anthropic.Anthropic(base_url=base, api_key=key, max_retries=0)
asked = {"model": "claude-sonnet-4-6", "max_tokens": 200, "system": "Be bold.",
         "extra_body": {"temperature": 0},
         "messages": [{"role": "user", "content": text}]}
vote = {"type": "object", "properties": {"option": {"enum": ["A", "B", "C"]}}}
tools = {"tools": [{"name": "vote", "input_schema": vote}], "tool_choice": {"type": "any"}}
whole = client.messages.create(**asked)
with client.messages.stream(**asked) as stream:
    streamed = stream.get_final_message()
with client.messages.stream(**asked, **tools) as stream:
    called = stream.get_final_message()
try:
    client.messages.create(**{**asked, "messages": "x"})
except anthropic.BadRequestError as error:
    refused = error.body["error"]["type"]
print(json.dumps([whole.content[0].text, streamed.content[0].text, whole.usage == streamed.usage,
                  called.content[0].input, called.stop_reason, whole.model, refused]))
"""


@pytest.mark.skipif(not PYTHON.exists(), reason="sh scripts/frameworks.sh anthropic wasn't run")
def test_anthropic_s_client_streams_and_calls_tools(play: Play) -> None:
    async def test(bench: Bench) -> None:
        session = bench.session()
        base = session.base_url.removesuffix("/v1")
        process = await asyncio.create_subprocess_exec(
            *(str(PYTHON), "-c", PROGRAM, base, session.token, CASE.text),
            stdout=asyncio.subprocess.PIPE,
        )
        output, _ = await process.communicate()
        whole, streamed, usage, given, reason, model, refused = json.loads(output)
        assert whole == streamed != ""
        assert usage
        assert given["option"] in CASE.options
        assert (reason, model) == ("tool_use", "claude-sonnet-4-6")
        assert refused == "invalid_request_error"

    play(test)
