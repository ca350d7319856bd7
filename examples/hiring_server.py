"""A hiring committee behind a URL: a POST with a case is answered with the decision.

python examples/hiring_server.py 8011 &
python scripts/audit.py committee.http=http://127.0.0.1:8011/hire committee.path=decision \\
    'committee.body={text: "{text}", options: "{options}", url: "{base_url}", key: "{token}"}' \\
    case=examples/cases
"""

import asyncio
import sys
from typing import Any

from aiohttp import web
from openai import AsyncOpenAI
from panel import MODEL, RULE, SEATS, majority, vote


async def hire(request: web.Request) -> web.Response:
    """One deliberation; what answers is the caller's to say."""
    body = await request.json()
    options: dict[str, str] = body["options"]
    lines = [f"{label}: {name}" for label, name in options.items()]
    task = "\n".join([body["text"], "", "Options:", *lines])
    async with AsyncOpenAI(base_url=body["url"], api_key=body["key"]) as client:
        texts: list[str] = []
        for _ in range(2):
            heard = "\n\n".join([task, *texts])
            texts = await asyncio.gather(*(speak(client, seat, heard) for seat in SEATS))
    return web.json_response({"decision": majority(vote(text, options) for text in texts)})


async def speak(client: AsyncOpenAI, seat: str, task: str) -> str:
    """One seat's answer."""
    messages: Any = [
        {"role": "system", "content": f"{SEATS[seat]} {RULE}"},
        {"role": "user", "content": task},
    ]
    reply = await client.chat.completions.create(
        model=MODEL, messages=messages, temperature=0.7, extra_headers={"X-Plenum-Seat": seat}
    )
    return f"{seat}: {reply.choices[0].message.content}"


if __name__ == "__main__":
    app = web.Application()
    app.router.add_post("/hire", hire)
    web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]))
