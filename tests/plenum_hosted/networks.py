"""Models with random weights for the tests: what is promised holds for any weights."""

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from transformers import (
    AutoModelForCausalLM,
    Gemma3TextConfig,
    LlamaConfig,
    MistralConfig,
    PretrainedConfig,
    Qwen2Config,
)

from plenum_hosted import attention, environment
from plenum_hosted.engine import Engine
from plenum_hosted.network import Network
from plenum_hosted.rows import DecodingRow
from plenum_hosted.settings import Hosted
from plenum_hosted.shapes import Shapes, room

SHAPES = Shapes(slots=8, prefill_rows=4, bucket=16, rung=64)
STOP = 1
WINDOW = 8
WITH_WINDOWS = ("mistral", "qwen2-window", "gemma3")
"""Kinds with layers that see that many tokens: all layers, the second, the first."""
CPU = torch.device("cpu")
DEVICE = torch.device(os.environ.get("PLENUM_TEST_DEVICE", "cpu"))
"""Where the tests of invariance run: on a GPU with PLENUM_TEST_DEVICE=cuda."""


def config(kind: str = "qwen2") -> PretrainedConfig:
    """A small model of a kind, with fewer key-value heads than heads."""
    sizes = {
        "vocab_size": 211,
        "hidden_size": 48,
        "intermediate_size": 96,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 512,
        "eos_token_id": STOP,
        "pad_token_id": 0,
    }
    window = {"sliding_window": WINDOW}
    layers = ["sliding_attention", "full_attention"]
    made = {
        "qwen2": lambda: Qwen2Config(**sizes),
        "llama": lambda: LlamaConfig(**sizes),
        "mistral": lambda: MistralConfig(**sizes, **window),
        "qwen2-window": lambda: Qwen2Config(
            **sizes, **window, use_sliding_window=True, max_window_layers=1
        ),
        "gemma3": lambda: Gemma3TextConfig(
            **sizes, **window, head_dim=12, query_pre_attn_scalar=12, layer_types=layers
        ),
    }
    return made[kind]()


def model(
    kind: str = "qwen2", seed: int = 0, scale: float = 8.0, dtype: torch.dtype = torch.float32
) -> torch.nn.Module:
    """Random weights, wide enough that greedy answers don't repeat one token."""
    environment.settle(Hosted(threads=1), DEVICE)
    attention.register()
    torch.manual_seed(seed)
    made = AutoModelForCausalLM.from_config(config(kind), attn_implementation=attention.NAME)
    with torch.no_grad():
        for parameter in made.parameters():
            if parameter.dim() == 2:
                parameter.mul_(scale)
    return made.eval().requires_grad_(False).to(DEVICE, dtype)


def plain(made: torch.nn.Module, kind: str = "qwen2") -> torch.nn.Module:
    """The same weights under transformers' own attention."""
    other = AutoModelForCausalLM.from_config(config(kind), attn_implementation="eager")
    other.load_state_dict(made.state_dict())
    return other.eval().requires_grad_(False).to(DEVICE)


def greedy(
    made: torch.nn.Module, prompt: Sequence[int], limit: int, stops: Sequence[int] = (STOP,)
) -> tuple[list[int], float]:
    """The answer that transformers finds, the whole text anew for each token.

    Also the smallest lead of a chosen token over the next: where it is below rounding, nobody can
    say which token is right.
    """
    told, lead = list(prompt), np.inf
    while len(told) < len(prompt) + limit:
        with torch.inference_mode():
            logits = made(torch.tensor([told]), use_cache=False).logits[0, -1]
        first, second = logits.topk(2).values.tolist()
        lead = min(lead, first - second)
        told.append(int(logits.argmax()))
        if told[-1] in stops:
            break
    return told[len(prompt) :], lead


def row(
    prefix: Sequence[int],
    rest: Sequence[int],
    limit: int = 24,
    shapes: Shapes = SHAPES,
    **more: object,
) -> DecodingRow:
    """A row whose ``wait`` is an event that its end sets."""
    ended = threading.Event()
    settings = {"temperature": 0.0, "noise": np.random.default_rng(0), "scored": False, **more}
    made = DecodingRow(
        prefix=tuple(prefix),
        rest=tuple(rest),
        room=room(shapes, len(prefix), len(rest), limit),
        limit=limit,
        done=lambda _: ended.set(),
        **settings,
    )
    made.ended = ended
    return made


def answers(engine: Engine, rows: Sequence[DecodingRow]) -> list[list[int]]:
    """Submit rows, wait, and return their answers."""
    for made in rows:
        engine.submit(made)
    for made in rows:
        assert made.ended.wait(60)
        if made.error:
            raise made.error
    return [made.answer for made in rows]


@contextmanager
def engine(
    made: torch.nn.Module,
    shapes: Shapes = SHAPES,
    megabytes: int = 64,
    stops: Sequence[int] = (STOP,),
    threads: int = 1,
) -> Iterator[Engine]:
    """An engine on a model, closed in the end."""
    running = Engine(
        Network(made),
        shapes,
        frozenset(stops),
        megabytes << 20,
        lambda: torch.set_num_threads(threads),
    )
    try:
        yield running
    finally:
        running.close()


def prompts(number: int, seed: int = 0) -> list[tuple[list[int], list[int]]]:
    """Prompts of different lengths, some of which share their prefix."""
    rng = np.random.default_rng(seed)
    prefixes = [rng.integers(2, 211, size).tolist() for size in (5, 16, 40, 41)]
    return [
        (prefixes[n % 4] if n % 5 else [], rng.integers(2, 211, rng.integers(1, 70)).tolist())
        for n in range(number)
    ]
