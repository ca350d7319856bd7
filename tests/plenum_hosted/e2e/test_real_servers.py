"""The tiny model behind servers that people have, as ``backend=api`` reaches them.

llama.cpp's own server runs in an environment that ``sh scripts/frameworks.sh llama_cpp`` makes;
that of transformers needs what ``pip install "transformers[serving]"`` brings.
"""

import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gguf_files
import pytest
from command_line import Run, environment, journals

from plenum_hosted.checkpoints import TINY

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

ROOT = Path(__file__).resolve().parents[3]
LLAMA_CPP = ROOT / ".frameworks/llama_cpp"
SERVING = ("fastapi", "uvicorn", "openai")
SMALL = ("backend=api", "rounds=2", "roles.agents=3", "memory=k3", "replicates=1", "tracking=none")
SHORT = ("protocol.argument_words=24", "sampling.max_tokens=160", "temperature=t0")
HELD = "protocol.answers=constrained"
QUIET = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}


@contextmanager
def served(*command: str) -> Iterator[subprocess.Popen[str]]:
    """A server for as long as the context lasts; it prints to a pipe."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    kept = environment(**QUIET)
    kept.pop("PYTHONPATH", None)  # the server's environment is its own
    server = subprocess.Popen(command, env=kept, **streams)
    try:
        yield server
    finally:
        server.kill()
        server.communicate()


@pytest.fixture(scope="module")
def llama_cpp(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of llama.cpp's server with the tiny model as a GGUF file."""
    if not (LLAMA_CPP / "versions.txt").exists():
        pytest.skip("no environment of llama.cpp: sh scripts/frameworks.sh llama_cpp")
    file = gguf_files.write_tiny(tmp_path_factory.mktemp("gguf") / "tiny.gguf")
    script = Path(__file__).parents[1] / "servers/llama_cpp.py"
    with served(str(LLAMA_CPP / "bin/python"), str(script), str(file)) as server:
        assert server.stdout is not None
        yield f"{server.stdout.readline().strip()}/v1"


@pytest.fixture(scope="module")
def transformers_serve() -> Iterator[str]:
    """The address of ``transformers serve`` with the tiny model's folder."""
    missing = [name for name in SERVING if find_spec(name) is None]
    if missing:
        pytest.skip(f'{missing[0]} is missing: pip install "transformers[serving]"')
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program = str(Path(sys.executable).with_name("transformers"))
    at = ("--host", "127.0.0.1", "--port", str(port), "--device", "cpu")
    with served(program, "serve", str(TINY), *at):
        wait_until_healthy(f"http://127.0.0.1:{port}/health")
        yield f"http://127.0.0.1:{port}/v1"


def wait_until_healthy(url: str) -> None:
    end = time.monotonic() + 300
    while time.monotonic() < end:
        with suppress(OSError), urllib.request.urlopen(url, timeout=5):
            return
        time.sleep(0.5)
    raise TimeoutError(url)


def through(url: str, prefix: str, model: str) -> tuple[str, ...]:
    names = (f"model.name=served-{prefix}", f"model.default={prefix}/{model}")
    return (*SMALL, *SHORT, *names, f"+backend.api_base.{prefix}={url}")


def entries(folder: Path) -> list[dict[str, Any]]:
    (data,) = journals(folder).values()
    return [json.loads(line) for line in data.splitlines()]


@pytest.mark.parametrize("prefix", ["llamafile", "hosted_vllm"])
def test_llama_cpp_holds_every_answer_to_its_form(
    llama_cpp: str, run: Run, tmp_path: Path, prefix: str
) -> None:
    """In its own form and in OpenAI's, which are what the two prefixes choose."""
    run(*through(llama_cpp, prefix, "tiny"), HELD)
    kinds = Counter(entry["kind"] for entry in entries(tmp_path))
    assert (kinds["turn"], kinds["ballot"], kinds["clerk"]) == (6, 3, 1)
    assert not [kind for kind in kinds if kind.endswith("_repair")]


def test_transformers_serve_answers_freely(
    transformers_serve: str, run: Run, tmp_path: Path
) -> None:
    run(*through(transformers_serve, "hosted_vllm", str(TINY)))
    assert entries(tmp_path)[-1]["status"] == "completed"


def test_transformers_serve_ignores_the_form_and_the_sweep_says_so(
    transformers_serve: str, run: Run, tmp_path: Path
) -> None:
    done = run(*through(transformers_serve, "hosted_vllm", str(TINY)), HELD, status=None)
    if entries(tmp_path)[-1]["status"] == "completed":
        pytest.skip("this version of transformers serve honours the form")
    assert "its server seems to ignore the form of protocol.answers=constrained" in done.stderr
