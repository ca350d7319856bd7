"""What can't be hosted is refused in one line that names the model and what to do."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import folders
import huggingface_hub.constants as hub
import networks
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    AutoModelForCausalLM,
    Gemma3Config,
    Gemma3TextConfig,
    GPT2Config,
    LlamaConfig,
    LlamaForCausalLM,
    MambaConfig,
    MptConfig,
    Qwen3MoeConfig,
    Qwen3MoeForCausalLM,
)
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from plenum.base.errors import UserError
from plenum.calls.chat import Message
from plenum_hosted import attention, checkpoints, loader
from plenum_hosted.loader import LoadedModel, count_places
from plenum_hosted.settings import Hosted

CPU = torch.device("cpu")
Change = Callable[[Path], object]


def load(model: Path | str, **settings: Any) -> LoadedModel:
    """Load a model on the CPU."""
    return loader.load(str(model), Hosted(**settings), CPU)


def refusal(model: Path | str) -> str:
    """The one line that refuses a model."""
    with pytest.raises(UserError) as refused:
        load(model)
    told = str(refused.value)
    assert told.startswith(f"model {model}: ")
    assert "\n" not in told
    assert len(told) < 700
    return told


def test_a_folder_is_loaded(saved: Path) -> None:
    loaded = load(saved)
    assert loaded.content == checkpoints.digest(saved)
    assert loaded.context == 512
    assert loaded.stops == {folders.tokenizer().eos_token_id}
    assert loaded.network.dtype == torch.float32
    assert load(saved, dtype="bfloat16").network.dtype == torch.bfloat16


def test_a_model_of_several_media_has_the_context_of_its_text_part() -> None:
    text = {"max_position_embeddings": 512, "num_hidden_layers": 1}
    assert count_places(Gemma3Config(text_config=text)) == 512
    assert count_places(Gemma3TextConfig(**text)) == 512


def config(**values: object) -> Change:
    """Change config.json."""
    return lambda folder: folders.rewrite(folder / "config.json", **values)


def template(text: str) -> Change:
    """Another chat template."""
    return lambda folder: (folder / "chat_template.jinja").write_text(text)


def to_pickle(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def cut_weights(folder: Path) -> None:
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-1000])


def drop_a_tensor(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    del weights["model.layers.1.mlp.up_proj.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def set_a_number(value: float) -> Change:
    """A weight that is no number."""

    def write(folder: Path) -> None:
        weights = load_file(folder / "model.safetensors")
        weights["model.layers.1.mlp.up_proj.weight"][0, 0] = value
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})

    return write


def name_weights(file: str) -> Change:
    """An index that names a file of weights."""

    def write(folder: Path) -> None:
        (folder / "model.safetensors").rename(folder / "a.safetensors")
        index = {"metadata": {}, "weight_map": {"a": "a.safetensors", "b": file}}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))

    return write


def set_tokenizer(**values: object) -> Change:
    """Change tokenizer_config.json."""
    return lambda folder: folders.rewrite(folder / "tokenizer_config.json", **values)


def lose_tokens(folder: Path) -> None:
    """As many tokens as there are weights, but numbered from elsewhere on."""
    held = json.loads((folder / "tokenizer.json").read_text())
    last, _ = max(held["model"]["vocab"].items(), key=lambda item: item[1])
    held["model"]["vocab"][last] = 5_000
    (folder / "tokenizer.json").write_text(json.dumps(held))


def lose_a_shard(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
    shards = {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}
    index = {"metadata": {}, "weight_map": shards}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def alibi(folder: Path) -> None:
    small = MptConfig(d_model=32, n_heads=2, n_layers=1, vocab_size=320, max_seq_len=64)
    AutoModelForCausalLM.from_config(small).save_pretrained(folder)


def llama(**changes: Any) -> Change:
    """A Llama with other settings than the usual ones."""

    def write(folder: Path) -> None:
        sizes = {**networks.config("llama").to_diff_dict(), "vocab_size": 320, **changes}
        LlamaForCausalLM(LlamaConfig(**sizes)).save_pretrained(folder)

    return write


def experts(folder: Path) -> None:
    small = Qwen3MoeConfig(
        **{**networks.config().to_diff_dict(), "vocab_size": 320},
        **{"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32},
    )
    Qwen3MoeForCausalLM(small).save_pretrained(folder)


DYNAMIC = {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 4.0}
OWN_CODE = {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"}
NEVER = "{{ raise_exception('conversations not supported') }}"
NO_SYSTEM = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}"
    "{% endif %}" + folders.TEMPLATE
)
NESTED = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
LEFT_OUT = "{% for m in messages if m['role'] != 'system' %}{{ m['content'] }}{% endfor %}END"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda f: (f / "config.json").unlink(), "holds no config.json"),
        (to_pickle, "pytorch_model.bin is a pickle and is never loaded"),
        (lambda f: (f / "model.safetensors").unlink(), "holds no .safetensors weights"),
        (lambda f: (f / "tokenizer.json").unlink(), "holds no tokenizer.json"),
        (lambda f: (f / "tokenizer.json").write_text("{}"), "can't be loaded"),
        (lambda f: (f / "config.json").write_text("{"), "not a valid JSON file"),
        (lambda f: (f / "model.safetensors").write_bytes(b"hello"), "can't be loaded"),
        (cut_weights, "can't be loaded"),
        (lose_a_shard, "model-00002-of-00002.safetensors"),
        (drop_a_tensor, "1 are missing or have another size, such as model.layers.1.mlp.up_proj"),
        (config(num_hidden_layers=3, layer_types=None), "download the model again"),
        (config(num_hidden_layers=0, layer_types=None), "asks for 0 layers, and"),
        (config(num_hidden_layers=1_000_000, layer_types=None), "asks for 1,000,000 layers"),
        (
            config(num_hidden_layers=1, layer_types=None),
            "have no place in it, such as model.layers.1",
        ),
        (config(vocab_size=1_000_000_000), "download the model again"),
        (config(intermediate_size=1_000_000_000), "download the model again"),
        (set_a_number(float("nan")), "up_proj.weight hold what is no number"),
        (set_a_number(float("-inf")), "up_proj.weight hold what is no number"),
        (name_weights("/dev/zero"), "names the file /dev/zero, which isn't in it"),
        (name_weights("../other.safetensors"), "names the file ../other.safetensors"),
        (name_weights("b.safetensors"), "names the file b.safetensors, which isn't in it"),
        (set_tokenizer(tokenizer_file="/tmp/tokenizer.json"), "names the file /tmp/tokenizer.json"),
        (lose_tokens, "numbers tokens up to 5,000"),
        (config(hidden_size=96), "download the model again"),
        (config(model_type="unheard_of"), "unheard_of"),
        (config(model_type="own", auto_map=OWN_CODE), "backend.trust_remote_code=true"),
        (
            config(layer_types=["full_attention", "chunked_attention"]),
            "it has layers of chunked_attention; the hosted backend runs full and sliding",
        ),
        (llama(rope_parameters=DYNAMIC), "its positions are of type dynamic"),
        (experts, "it is a mixture of experts"),
        (alibi, "MptForCausalLM takes no other attention"),
        (lambda f: (f / "chat_template.jinja").unlink(), "no chat template; take a chat model"),
        (template("{% for"), "chat template"),
        (template(NEVER), "can't write a conversation: conversations not supported"),
        (template(NESTED), "it takes too long, or too much memory"),
        (template("{{ '%1000000000d' % 1 }}" + folders.TEMPLATE), "too much memory"),
        (template("{{ 'x' * 300000000 }}" + folders.TEMPLATE), "too much memory"),
        (template("{# " + "x" * 1_100_000 + " #}" + folders.TEMPLATE), "1,000,000 allowed"),
        (template("hello"), "can't write a conversation: it leaves out the system message"),
    ],
)
def test_refused(checkpoint: Path, change: Change, told: str) -> None:
    change(checkpoint)
    assert told in refusal(checkpoint)


def mamba(folder: Path) -> None:
    small = MambaConfig(vocab_size=320, hidden_size=16, num_hidden_layers=1, state_size=4)
    AutoModelForCausalLM.from_config(small).save_pretrained(folder)


@pytest.mark.parametrize("change", [mamba, experts, alibi, llama(rope_parameters=DYNAMIC)])
def test_what_cannot_be_hosted_is_sent_to_a_server(checkpoint: Path, change: Change) -> None:
    change(checkpoint)
    told = refusal(checkpoint)
    assert told.endswith("serve it with vLLM or llama.cpp, and take backend=api")
    if change is mamba:
        assert "MambaForCausalLM has layers with a state" in told


WINDOW = {"use_sliding_window": True, "sliding_window": 16, "max_window_layers": 1}


def test_layers_with_a_window_are_hosted(checkpoint: Path) -> None:
    config(**WINDOW, layer_types=None)(checkpoint)
    assert load(checkpoint).network.window == 16


def test_attention_that_is_not_told_its_window(checkpoint: Path, monkeypatch: Any) -> None:
    """Such a model's layers would silently see everything."""
    config(**WINDOW, layer_types=None)(checkpoint)

    def without(*args: Any, sliding_window: int | None = None, **more: Any) -> Any:
        return attention.attend(*args, **more)

    monkeypatch.setattr(
        attention, "register", lambda: ALL_ATTENTION_FUNCTIONS.register(attention.NAME, without)
    )
    try:
        assert "isn't told which layers have a sliding window" in refusal(checkpoint)
    finally:
        ALL_ATTENTION_FUNCTIONS.register(attention.NAME, attention.attend)


@pytest.mark.parametrize("without", [NO_SYSTEM, LEFT_OUT])
def test_a_template_without_a_system_role(checkpoint: Path, without: str, capsys: Any) -> None:
    """The system message begins the first user turn, which is said once."""
    template(without)(checkpoint)
    for _ in range(2):
        tokens = load(checkpoint).tokens
    assert tokens.merges
    assert capsys.readouterr().err == (
        f"model {checkpoint}: its chat template takes no system message, so that each one begins "
        "the first user turn\n"
    )
    asked = Message("system", "You are Rights."), Message("user", "The port.\n\nArgue.", shared=9)
    prefix, rest = tokens.prompt(asked)
    assert tokens.text([*prefix]).endswith("You are Rights.\n\nThe port.")
    assert tokens.text([*rest]).startswith("\n\nArgue.")


def test_a_template_with_a_system_role_is_left_alone(saved: Path, capsys: Any) -> None:
    assert not load(saved).tokens.merges
    assert capsys.readouterr().err == ""


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert f"the folder {tmp_path / 'x'} does not exist" in refusal(tmp_path / "x")
    assert "does not exist" in refusal("./nowhere")


def test_absolute_positions_are_hosted_too(checkpoint: Path) -> None:
    small = GPT2Config(n_embd=32, n_layer=1, n_head=2, n_positions=64, vocab_size=320)
    AutoModelForCausalLM.from_config(small).save_pretrained(checkpoint)
    assert load(checkpoint).context == 64


def test_stop_tokens_are_those_of_the_generation_config_too(checkpoint: Path) -> None:
    folders.rewrite(checkpoint / "generation_config.json", eos_token_id=[0, 7])
    assert load(checkpoint).stops == {0, 1, 7}


# --- hub ids ------------------------------------------------------------------------------------

HUB_ID = "Qwen/Qwen2.5-7B-Instruct"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The hub's cache, empty; its variables are read only when the library is imported."""
    monkeypatch.setattr(hub, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(hub, "HF_HUB_OFFLINE", False)
    return tmp_path / "hub"


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bytes | None], None]]:
    """``answering(b"HTTP/1.1 ...")``: the hub says this; ``None``: it never says anything."""
    listening = socket.create_server(("127.0.0.1", 0))
    monkeypatch.setattr(hub, "ENDPOINT", f"http://127.0.0.1:{listening.getsockname()[1]}")
    kept = [listening]

    def serve(said: bytes | None) -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            kept.append(connection)
            if said is not None:
                connection.recv(65536)
                connection.sendall(said)
                connection.close()

    yield lambda said: threading.Thread(target=serve, args=(said,), daemon=True).start()
    listening.shutdown(socket.SHUT_RDWR)
    for each in kept:
        each.close()


def in_time(model: str) -> str:
    """A refusal within seconds."""
    began = time.monotonic()
    told = refusal(model)
    assert time.monotonic() - began < 5
    return told


def test_offline(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "HF_HUB_OFFLINE", True)
    told = in_time(HUB_ID)
    assert "hf download Qwen/Qwen2.5-7B-Instruct --local-dir Qwen2.5-7B-Instruct" in told
    assert "model.default=./Qwen2.5-7B-Instruct; model=tiny needs no download" in told
    assert not cache.exists()


def test_nobody_answers(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "ENDPOINT", "http://127.0.0.1:9")
    assert "could not be downloaded" in in_time(HUB_ID)


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"HTTP/1.1 404 X\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 401 X\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 429 X\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 503 X\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 X\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 X\r\nContent-Length: 9\r\n\r\n<html/>\r\n",
    ],
)
def test_something_else_answers(cache: Path, answering: Any, said: bytes) -> None:
    answering(said)
    assert "could not be downloaded" in in_time(HUB_ID)


def test_a_hub_that_says_nothing(cache: Path, answering: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(loader, "_PATIENCE_S", 0.3)
    answering(None)
    assert "could not be downloaded (ReadTimeout)" in in_time(HUB_ID)


@pytest.mark.parametrize("name", ["gpt-4.1-mini", "a/b/c", "no such name!"])
def test_names_that_no_hub_has(cache: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(hub, "HF_HUB_OFFLINE", True)
    assert "neither a folder here nor an id of the Hugging Face hub" in in_time(name)


def test_a_revision_is_named_in_the_remedy(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "HF_HUB_OFFLINE", True)
    with pytest.raises(UserError, match="hf download a/b --revision v2 --local-dir b"):
        load("a/b", revision="v2")


def test_a_model_in_the_cache_needs_no_network(
    cache: Path, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "ENDPOINT", "http://127.0.0.1:9")
    commit = "0123456789" * 4
    kept = cache / "models--some--body"
    folders.copy(saved, kept / "snapshots" / commit)
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text(commit)
    loaded = load("some/body")
    assert loaded.content == commit
    assert loaded.tokens.prompt((Message("user", "hello"),))[1]
    (kept / "snapshots" / commit / "tokenizer.json").unlink()  # a download that broke off
    assert "could not be downloaded" in refusal("some/body")
