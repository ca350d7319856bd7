"""What tests of programs share: a proxy with the simulated agent behind it, run by a coroutine."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from running import Bench, Play, serving

Result = TypeVar("Result")


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Runs a test's coroutine with a bench of its own folder, and returns what it returns."""

    def run(
        test: Callable[[Bench], Awaitable[Result]], backend: Any = None, **calls: Any
    ) -> Result:
        async def serve() -> Result:
            async with serving(tmp_path, backend, **calls) as bench:
                return await test(bench)

        return asyncio.run(serve())

    return run
